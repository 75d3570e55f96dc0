// Prefers the domain in which the largest number of members of the gang find a node.
#include <algorithm>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/scoring.hpp"

namespace orrery {
namespace {

class PodGroupPodsCount final : public Policy, public ScorePlacement {
 public:
  using Params = NoParams;
  PodGroupPodsCount(Handle& /*handle*/, const Params& /*params*/) {}

  int64_t score_placement(const Cycle& /*cycle*/, const GangView& gang,
                          std::span<const NodeId> nodes) const override {
    const int64_t most = std::max(1, gang.pods);
    return std::min(kNodeScoreMax, kNodeScoreMax * static_cast<int64_t>(nodes.size()) / most);
  }
};
ORRERY_REGISTER_POLICY(PodGroupPodsCount, "PodGroupPodsCount",
                       "Prefers the domain that takes the largest number of members of the gang.");

}  // namespace
}  // namespace orrery
