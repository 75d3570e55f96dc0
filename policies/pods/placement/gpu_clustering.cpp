// Pods that ask for as many GPUs gather on the same nodes: a baseline of FGD.
#include <array>
#include <bit>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/largest_node.hpp"
#include "models/scheduling/toolbox/scoring.hpp"

namespace orrery {
namespace {

// Classes are shares of one GPU, one GPU, two GPUs and so on. A node with the pod's class alone
// gets 75, with other classes too 50, without any pod on GPUs 25, with other classes only 0; in
// addition up to 25, the less GPU is left.
class GpuClustering final : public Policy, public Score, public Reserve, public PodWatcher {
 public:
  using Params = NoParams;
  GpuClustering(Handle& handle, const Params& /*params*/)
      : gpu_max_{largest_allocatable(handle.cluster(), Resource::Gpu)},
        on_node_(handle.cluster().nodes()) {}

  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    const size_t own = class_of(*cycle.pod.spec);
    for (size_t k = 0; k < nodes.size(); ++k) {
      const OnNode& there = on_node_[nodes[k].index];
      const int64_t full = gpu_max_ - cycle.cluster.free(nodes[k], Resource::Gpu);
      scores[k] = own == kNoGpu ? 0 : base(there, own) + kQuarter * full / gpu_max_;
    }
  }

  // What it counts changes only when a pod comes to the node or leaves it.
  bool is_node_local() const override { return true; }
  bool is_by_extremes() const override { return true; }

  Status reserve(const Cycle& cycle, NodeId node) override {
    const size_t pod = cycle.pod.id.index;
    if (pod >= node_of_.size()) node_of_.resize(pod + 1);
    node_of_[pod] = node;
    count(*cycle.pod.spec, node, 1);
    return {};
  }
  void unreserve(const PodView& pod, NodeId /*node*/) override { pod_gone(pod); }
  void pod_gone(const PodView& pod) override {
    if (pod.id.index >= node_of_.size()) return;
    NodeId& node = node_of_[pod.id.index];
    if (!node.is_valid()) return;
    count(*pod.spec, node, -1);
    node = {};
  }

 private:
  static constexpr int64_t kQuarter = kNodeScoreMax / 4;
  static constexpr size_t kNoGpu = 0;  // then shares, one GPU, two GPUs ...
  struct OnNode {
    std::array<uint16_t, kGpusPerNodeMax + 2> pods{};  // by class
    uint32_t classes = 0;                              // bit set of those with pods
  };

  static size_t class_of(const PodSpec& spec) {
    if (spec.gpus == 0) return kNoGpu;
    return spec.gpu_milli < kMilli ? 1 : static_cast<size_t>(spec.gpus) + 1;
  }
  static int64_t base(const OnNode& there, size_t own) {
    if (there.classes == 0) return kQuarter;
    if ((there.classes >> own & 1) == 0) return 0;
    return std::has_single_bit(there.classes) ? 3 * kQuarter : 2 * kQuarter;
  }
  void count(const PodSpec& spec, NodeId node, int step) {
    const size_t own = class_of(spec);
    if (own == kNoGpu) return;
    OnNode& there = on_node_[node.index];
    there.pods[own] = static_cast<uint16_t>(there.pods[own] + step);
    const uint32_t bit = uint32_t{1} << own;
    there.classes = there.pods[own] > 0 ? there.classes | bit : there.classes & ~bit;
  }

  const int64_t gpu_max_;
  std::vector<OnNode> on_node_;
  std::vector<NodeId> node_of_;  // by pod; invalid: not placed
};
ORRERY_REGISTER_POLICY(GpuClustering, "GpuClustering",
                       "Nodes that hold pods with the same number of GPUs, or shares of one.");

}  // namespace
}  // namespace orrery
