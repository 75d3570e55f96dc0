// Any feasible node is as good as another: the yardstick for placement policies.
#include "models/scheduling/policy_registry.hpp"
#include "models/scheduling/scoring.hpp"

namespace orrery {
namespace {

class Random final : public Policy, public Score {
 public:
  using Params = NoParams;
  Random(Handle& handle, const Params& /*params*/) : rng_{handle.rng("policies.random")} {}

  void score(const Cycle& /*cycle*/, std::span<const NodeId> /*nodes*/,
             std::span<int64_t> scores) const override {
    for (int64_t& score : scores) score = static_cast<int64_t>(rng_.below(kNodeScoreMax + 1));
  }

 private:
  mutable Rng rng_;
};
ORRERY_REGISTER_POLICY(Random, "Random", "Scores every node by chance.");

}  // namespace
}  // namespace orrery
