// Fragmentation gradient descent (Weng et al., USENIX ATC 2023): places a pod where fragmentation
// grows least. Fragmentation is idle GPU capacity that typical pods cannot use.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/fragmentation.hpp"
#include "models/scheduling/toolbox/scoring.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

// The score is floor(100 / (1 + exp(-d))), where d is the number of GPUs by which the node's
// fragmentation falls. Example: d = 0 scores 50, d = 1 scores 73. The code uses an exact integer in
// place of d: the relief, which is d * kMilli * weight(). The constructor computes the least relief
// that gets each score. A pod with a share of a GPU is tried on every GPU and gets the GPU with the
// best score; of equal GPUs, the first.
class Fgd final : public Policy, public Score, public PickDevices {
 public:
  using Params = NoParams;
  static constexpr Traits kTraits = Trait::NeedsFragmentation;
  Fgd(Handle& handle, const Params& /*params*/) : fragmentation_{handle.fragmentation()} {
    if (fragmentation_ == nullptr) return;
    const int64_t range = int64_t{kGpusPerNodeMax} * kMilli * fragmentation_->weight();
    for (size_t s = 0; s < least_.size(); ++s) {
      // The least relief that scores s + 1 is in [low, high].
      int64_t low = -range, high = range + 1;
      while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (score_by_formula(middle) > static_cast<int64_t>(s))
          high = middle;
        else
          low = middle + 1;
      }
      least_[s] = low;
    }
  }

  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    for (size_t k = 0; k < nodes.size(); ++k) scores[k] = best_of(cycle, nodes[k]).score;
  }
  bool is_node_local() const override { return true; }
  bool is_by_extremes() const override { return true; }

  GpuMask pick(const Cycle& cycle, NodeId node) const override {
    const PodSpec& spec = *cycle.pod.spec;
    if (spec.gpus > 0 && spec.gpu_milli < kMilli) {
      return static_cast<GpuMask>(1u << best_of(cycle, node).gpu);
    }
    uint32_t rest = cycle.cluster.idle_gpus(node);
    const uint32_t idle = rest;
    for (int32_t i = 0; i < spec.gpus; ++i) rest &= rest - 1;
    return static_cast<GpuMask>(idle & ~rest);
  }

 private:
  struct Best {
    int64_t score = 0;
    uint32_t gpu = 0;  // the GPU for a share
  };

  int64_t score_by_formula(int64_t relief) const {
    const double gpus = static_cast<double>(relief) /
                        static_cast<double>(fragmentation_->weight()) / static_cast<double>(kMilli);
    return static_cast<int64_t>(static_cast<double>(kNodeScoreMax) / (1 + std::exp(-gpus)));
  }
  int64_t score_of(int64_t relief) const {
    return std::ranges::upper_bound(least_, relief) - least_.begin();
  }

  Best best_of(const Cycle& cycle, NodeId id) const {
    ORRERY_CHECK(fragmentation_ != nullptr, "a scenario without typical pods is refused");
    const PodSpec& spec = *cycle.pod.spec;
    const Fragmentation::Node node = fragmentation_->node(id);
    if (spec.gpus == 0 || spec.gpu_milli == kMilli) {
      return {score_of(fragmentation_->relief_by_whole(node, spec.cpu_milli, spec.gpus)), 0};
    }
    const auto reliefs = fragmentation_->relief_by_share(node, spec.cpu_milli, spec.gpu_milli);
    int64_t most = INT64_MIN;
    for (uint32_t g = 0; g < node.gpus; ++g) {
      if (node.left[g] >= spec.gpu_milli) most = std::max(most, reliefs[g]);
    }
    const int64_t score = score_of(most);
    uint32_t first = 0;  // the first GPU with this score
    while (node.left[first] < spec.gpu_milli || score_of(reliefs[first]) < score) ++first;
    return {score, first};
  }

  const Fragmentation* const fragmentation_;
  std::array<int64_t, kNodeScoreMax> least_{};  // [s]: the least relief that scores s + 1
};
ORRERY_REGISTER_POLICY(Fgd, "FGD",
                       "Prefers the node where the pod adds least to fragmentation: idle GPU "
                       "capacity that typical pods (workload.typical_pods) cannot use.");

}  // namespace
}  // namespace orrery
