// Prefers shared GPUs to idle ones, and idle GPUs of used nodes to idle nodes. The FGD paper
// (USENIX ATC 2023) compares FGD with this policy.
#include <algorithm>
#include <array>
#include <bit>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/scoring.hpp"

namespace orrery {
namespace {

class GpuPacking final : public Policy, public Score {
 public:
  using Params = NoParams;
  GpuPacking(Handle& /*handle*/, const Params& /*params*/) {}

  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    for (size_t k = 0; k < nodes.size(); ++k) {
      scores[k] = cycle.pod.spec->gpus == 0 ? 0 : score_of(cycle, nodes[k]);
    }
  }
  bool is_node_local() const override { return true; }
  bool is_by_extremes() const override { return true; }

 private:
  static constexpr int64_t kThird = kNodeScoreMax / 3, kHalf = kNodeScoreMax / 2;

  // Assumes that the pod gets the fullest GPUs on which it fits.
  static int64_t score_of(const Cycle& cycle, NodeId node) {
    const ClusterState& cluster = cycle.cluster;
    const PodSpec& spec = *cycle.pod.spec;
    const uint32_t gpus = cluster.gpus(node);
    const auto idle = static_cast<int64_t>(std::popcount(cluster.idle_gpus(node)));
    if (idle == gpus) return std::max(kThird - idle, idle);
    std::array<int32_t, kGpusPerNodeMax> left{};
    for (uint32_t g = 0; g < gpus; ++g) left[g] = cluster.gpu_left_milli(node, g);
    std::sort(left.begin(), left.begin() + gpus);
    int64_t missing = spec.gpus, idle_used = 0, left_percent = 0;
    for (uint32_t g = 0; g < gpus && missing > 0; ++g) {
      if (left[g] < spec.gpu_milli) continue;
      --missing;
      idle_used += left[g] == kMilli ? 1 : 0;
      left_percent += left[g] * 100 / kMilli;
    }
    if (idle_used > 0) return std::max(kHalf - idle_used, kThird);
    return std::max(kNodeScoreMax - left_percent / 10, kHalf);
  }
};
ORRERY_REGISTER_POLICY(GpuPacking, "GpuPacking",
                       "Prefers GPUs that are already shared, then idle GPUs of used nodes, then "
                       "idle nodes.");

}  // namespace
}  // namespace orrery
