// A policy library that calls a function which no library defines.
#include "models/scheduling/contract/policy_registry.hpp"

int orrery_nobody_has_this();

namespace {

using namespace orrery;

class Unresolved final : public Policy {
 public:
  using Params = NoParams;
  Unresolved(Handle& /*handle*/, const Params& /*params*/) : number_{orrery_nobody_has_this()} {}

 private:
  [[maybe_unused]] int number_;
};
ORRERY_REGISTER_POLICY(Unresolved, "Unresolved", "Never to be seen.");

}  // namespace

ORRERY_POLICY_LIBRARY();
