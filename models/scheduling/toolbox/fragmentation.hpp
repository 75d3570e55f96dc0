// models/scheduling/toolbox/fragmentation.hpp -- idle GPU capacity that typical pods cannot use.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/workload/job/pod_spec.hpp"

namespace orrery {

// Equal requests of pods in the workload.
struct TypicalPod {
  int64_t cpu_milli = 0;
  int32_t gpus = 0;
  int32_t gpu_milli = 1000;  // of each GPU
  // Alternatives, of which one must match; empty: any node.
  std::vector<SelectorTerm> required_terms;
  int64_t weight = 1;  // number of such pods
};

// The measure of Weng et al., "Beware of Fragmentation" (USENIX ATC 2023). For a node and a kind of
// pod, idle capacity is fragmented if the pod cannot use it. If the pod does not fit (too few CPUs
// or GPUs, or a wrong model) or requests no GPU, all idle capacity is fragmented; otherwise that of
// GPUs with less left than the pod's share. The mean over all kinds is weighted by frequency:
//   F = T - (sum over GPUs g of left(g) * W1(cpu, left(g)) + 1000 * idle * W2(cpu, idle)) / W
// T is all that is left. W1 is the weight of pods on one GPU with no more CPU and no larger share,
// W2 that of pods on several GPUs with no more CPU and GPUs. W1 and W2 are tables, so the measure
// costs one look-up for each GPU. Amounts are in milli-GPUs times W, hence exact. Example: a GPU
// with 0.3 left, where half of all pods want a whole GPU and half want 0.2: 0.15 are fragmented.
class Fragmentation {
 public:
  // The state of a node that the measure depends on.
  struct Node {
    uint32_t kind = 0;  // nodes that accept the same pods
    int64_t cpu_left = 0;
    uint32_t gpus = 0;
    std::array<int16_t, kGpusPerNodeMax> left{};
  };

  // `cluster` must be sealed and outlive this object; `pods` must not be empty.
  Fragmentation(const ClusterState& cluster, std::span<const TypicalPod> pods);

  int64_t weight() const { return weight_; }  // W
  Node node(NodeId id) const;
  int64_t of(const Node& node) const;
  // How much placing a fitting pod lowers the measure; negative if it grows. For a share: on each
  // GPU with enough left.
  std::array<int64_t, kGpusPerNodeMax> relief_by_share(const Node& before, int64_t cpu_milli,
                                                       int32_t gpu_milli) const;
  // For whole GPUs, or none.
  int64_t relief_by_whole(const Node& before, int64_t cpu_milli, int32_t gpus) const;

 private:
  struct Kind {
    std::vector<bool> accepts;     // by typical pod
    std::vector<int64_t> single;   // W1, [cpu rank][milli rank]
    std::vector<int64_t> several;  // W2, [cpu rank][idle GPUs]
  };
  struct Row {  // of one CPU rank
    const int64_t* single;
    const int64_t* several;
  };
  struct Sums {  // over the GPUs of a node
    int64_t left = 0, usable = 0, idle = 0;
  };
  Row row(uint32_t kind, int64_t cpu_left) const;
  int64_t usable(const Row& row, int64_t left) const {
    return left * row.single[milli_rank_[static_cast<size_t>(left)]];
  }
  Sums sums(const Row& row, const Node& node) const;
  int64_t measure(const Row& row, const Sums& sums) const {
    return sums.left * weight_ - sums.usable - sums.idle * kMilli * row.several[sums.idle];
  }
  void fill(Kind& kind, std::span<const TypicalPod> pods) const;

  const ClusterState& cluster_;
  int64_t weight_ = 0;
  std::vector<int64_t> cpu_steps_;  // distinct requests of GPU pods, ascending
  // By share: number of distinct shares that are no greater.
  std::array<uint16_t, 1001> milli_rank_{};
  size_t milli_ranks_ = 0;
  std::vector<Kind> kinds_;
  std::vector<uint32_t> kind_of_;  // by node
};

}  // namespace orrery
