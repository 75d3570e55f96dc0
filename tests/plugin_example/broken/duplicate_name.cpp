// A policy library that takes the name of a built-in policy.
#include "models/scheduling/contract/policy_registry.hpp"

namespace {

using namespace orrery;

class DuplicateName final : public Policy {
 public:
  using Params = NoParams;
  DuplicateName(Handle& /*handle*/, const Params& /*params*/) {}
};
ORRERY_REGISTER_POLICY(DuplicateName, "NodeName", "Never to be seen.");

}  // namespace

ORRERY_POLICY_LIBRARY();
