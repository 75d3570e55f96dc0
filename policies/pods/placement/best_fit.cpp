// Prefers the node on which the pod leaves the least free CPU and GPU. BestFit is a baseline in the
// paper on FGD.
#include <algorithm>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/largest_node.hpp"
#include "models/scheduling/toolbox/scoring.hpp"

namespace orrery {
namespace {

// The score is 100 minus the percentage that stays free, relative to the largest node and averaged
// over CPU and GPU. Scores are then scaled so that the best node gets 100 and the worst 0.
class BestFit final : public Policy, public Score {
 public:
  using Params = NoParams;
  BestFit(Handle& handle, const Params& /*params*/)
      : cpu_max_{static_cast<double>(largest_allocatable(handle.cluster(), Resource::Cpu))},
        gpu_max_{static_cast<double>(largest_allocatable(handle.cluster(), Resource::Gpu))} {}

  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    const Resources asked = cycle.pod.spec->requests();
    const auto stays = [&](NodeId n, Resource r, double most) {
      return static_cast<double>(cycle.cluster.free(n, r) - asked[r]) / most * 0.5;
    };
    for (size_t k = 0; k < nodes.size(); ++k) {
      const double free =
          stays(nodes[k], Resource::Cpu, cpu_max_) + stays(nodes[k], Resource::Gpu, gpu_max_);
      scores[k] = static_cast<int64_t>((1 - free) * static_cast<double>(kNodeScoreMax));
    }
  }
  void normalize(std::span<int64_t> scores) const override {
    if (scores.empty()) return;
    const auto [low, high] = std::ranges::minmax(scores);
    for (int64_t& score : scores) {
      score = high == low ? 0 : (score - low) * kNodeScoreMax / (high - low);
    }
  }
  bool is_node_local() const override { return true; }
  bool is_by_extremes() const override { return true; }

 private:
  const double cpu_max_, gpu_max_;
};
ORRERY_REGISTER_POLICY(BestFit, "BestFit",
                       "Prefers the node on which the least CPU and GPU capacity would remain "
                       "free.");

}  // namespace
}  // namespace orrery
