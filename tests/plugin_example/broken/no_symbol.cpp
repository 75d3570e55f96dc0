// A policy library that forgets ORRERY_POLICY_LIBRARY().
#include "models/scheduling/contract/policy_registry.hpp"

namespace {

using namespace orrery;

class NoSymbol final : public Policy {
 public:
  using Params = NoParams;
  NoSymbol(Handle& /*handle*/, const Params& /*params*/) {}
};
ORRERY_REGISTER_POLICY(NoSymbol, "NoSymbol", "Never to be seen.");

}  // namespace
