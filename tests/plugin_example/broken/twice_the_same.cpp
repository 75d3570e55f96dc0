// A policy library that registers one name twice.
#include "models/scheduling/contract/policy_registry.hpp"

namespace {

using namespace orrery;

class TwiceTheSame final : public Policy {
 public:
  using Params = NoParams;
  TwiceTheSame(Handle& /*handle*/, const Params& /*params*/) {}
};
ORRERY_REGISTER_POLICY(TwiceTheSame, "TwiceTheSame", "Never to be seen.");

const PolicyRegistrar<TwiceTheSame> again{"TwiceTheSame", "The same once more."};

}  // namespace

ORRERY_POLICY_LIBRARY();
