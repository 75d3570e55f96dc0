// A policy library that claims another version of the policy interface.
#include "models/scheduling/contract/policy_registry.hpp"

namespace {

using namespace orrery;

class WrongAbi final : public Policy {
 public:
  using Params = NoParams;
  WrongAbi(Handle& /*handle*/, const Params& /*params*/) {}
};
ORRERY_REGISTER_POLICY(WrongAbi, "WrongAbi", "Never to be seen.");

}  // namespace

extern "C" {
ORRERY_API extern const orrery::PolicyAbi orrery_policy_abi;
const orrery::PolicyAbi orrery_policy_abi{orrery::kPolicyAbiVersion + 1, __VERSION__};
}
