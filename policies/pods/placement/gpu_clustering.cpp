// Gathers pods with equal numbers of GPUs on the same nodes. The FGD paper (USENIX ATC 2023)
// compares FGD with this policy.
#include <array>
#include <bit>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/largest_node.hpp"
#include "models/scheduling/toolbox/scoring.hpp"

namespace orrery {
namespace {

// Pods have classes: a share of one GPU, one GPU, two GPUs and so on. A node's score depends on the
// classes of its pods with GPUs:
//   75: only the class of the new pod
//   50: the class of the new pod and other classes
//   25: no pods with GPUs
//    0: only other classes
// Up to 25 points are added: the fewer GPUs of the node are free, the more points. If the new pod
// has no GPUs, all nodes get 0.
class GpuClustering final : public Policy, public Score {
 public:
  using Params = NoParams;
  GpuClustering(Handle& handle, const Params& /*params*/)
      : handle_{handle}, gpu_max_{largest_allocatable(handle.cluster(), Resource::Gpu)} {}

  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    const size_t own = class_of(*cycle.pod.spec);
    for (size_t k = 0; k < nodes.size(); ++k) {
      const int64_t full = gpu_max_ - cycle.cluster.free(nodes[k], Resource::Gpu);
      scores[k] = own == kNoGpu ? 0 : base(classes_on(nodes[k]), own) + kQuarter * full / gpu_max_;
    }
  }

  // The score changes only when a pod joins or leaves the node.
  bool is_node_local() const override { return true; }
  bool is_by_extremes() const override { return true; }

 private:
  static constexpr int64_t kQuarter = kNodeScoreMax / 4;
  static constexpr size_t kNoGpu = 0;  // class 1: shares, class 2: one GPU, class 3: two GPUs ...

  static size_t class_of(const PodSpec& spec) {
    if (spec.gpus == 0) return kNoGpu;
    return spec.gpu_milli < kMilli ? 1 : static_cast<size_t>(spec.gpus) + 1;
  }
  uint32_t classes_on(NodeId node) const {  // bit set of classes with pods
    uint32_t classes = 0;
    const Placements& placements = handle_.placements();
    for (const PodId pod : placements.on_node(node)) {
      const size_t c = class_of(handle_.specs()[placements.of(pod).spec]);
      if (c != kNoGpu) classes |= uint32_t{1} << c;
    }
    return classes;
  }
  static int64_t base(uint32_t classes, size_t own) {
    if (classes == 0) return kQuarter;
    if ((classes >> own & 1) == 0) return 0;
    return std::has_single_bit(classes) ? 3 * kQuarter : 2 * kQuarter;
  }

  const Handle& handle_;
  const int64_t gpu_max_;
};
ORRERY_REGISTER_POLICY(
    GpuClustering, "GpuClustering",
    "Prefers nodes whose pods each have as many GPUs as the new pod. Pods with a "
    "share of a GPU count as equal, whatever their shares.");

}  // namespace
}  // namespace orrery
