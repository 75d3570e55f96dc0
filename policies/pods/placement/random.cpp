// A random feasible node: a reference for placement policies.
#include <algorithm>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/scoring.hpp"

namespace orrery {
namespace {

class Random final : public Policy, public Score {
 public:
  using Params = NoParams;
  Random(Handle& /*handle*/, const Params& /*params*/) {}

  void score(const Cycle& cycle, std::span<const NodeId> /*nodes*/,
             std::span<int64_t> scores) const override {
    if (scores.empty()) return;
    std::ranges::fill(scores, 0);
    scores[cycle.state.rng("policies.random").below(scores.size())] = kNodeScoreMax;
  }
};
ORRERY_REGISTER_POLICY(Random, "Random", "Prefers one feasible node, drawn at random.");

}  // namespace
}  // namespace orrery
