// A policy library that claims to be built by another compiler.
#include "models/scheduling/contract/policy_registry.hpp"

namespace {

using namespace orrery;

class WrongCompiler final : public Policy {
 public:
  using Params = NoParams;
  WrongCompiler(Handle& /*handle*/, const Params& /*params*/) {}
};
ORRERY_REGISTER_POLICY(WrongCompiler, "WrongCompiler", "Never to be seen.");

}  // namespace

extern "C" {
ORRERY_API extern const orrery::PolicyAbi orrery_policy_abi;
const orrery::PolicyAbi orrery_policy_abi{orrery::kPolicyAbiVersion, "0.0.0 of nobody"};
}
