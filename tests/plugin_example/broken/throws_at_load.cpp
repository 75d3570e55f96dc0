// A policy library that registers a policy, then throws while it is being loaded.
#include <stdexcept>

#include "models/scheduling/contract/policy_registry.hpp"

namespace {

using namespace orrery;

class ThrowsAtLoad final : public Policy {
 public:
  using Params = NoParams;
  ThrowsAtLoad(Handle& /*handle*/, const Params& /*params*/) {}
};
ORRERY_REGISTER_POLICY(ThrowsAtLoad, "ThrowsAtLoad", "Never to be seen.");

struct Thrower {
  Thrower() { throw std::runtime_error{"no licence"}; }
};
const Thrower thrower;

}  // namespace

ORRERY_POLICY_LIBRARY();
