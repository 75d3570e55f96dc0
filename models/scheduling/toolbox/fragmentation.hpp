// models/scheduling/toolbox/fragmentation.hpp -- idle GPU capacity that typical pods cannot use.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/workload/job/pod_spec.hpp"

namespace orrery {

// A kind of pod in the workload: all pods with these requests.
struct TypicalPod {
  int64_t cpu_milli = 0;
  int32_t gpus = 0;
  int32_t gpu_milli = 1000;  // requested share of each GPU
  // A node must match one of these terms; empty: any node is allowed.
  std::vector<SelectorTerm> required_terms;
  int64_t weight = 1;  // number of pods of this kind
};

// The measure of Weng et al., "Beware of Fragmentation" (USENIX ATC 2023). Idle GPU capacity of a
// node is fragmented for a kind of pod if the pod cannot use it. If the pod does not fit on the
// node (too few CPUs or GPUs, or the wrong model) or requests no GPU, all idle capacity is
// fragmented. Otherwise, what is left of a GPU is fragmented if it is less than the pod's share.
// The measure F is the node's fragmented capacity, as a mean over all kinds of pods weighted by
// their frequency:
//   F = T - (sum over GPUs g of left(g) * W1(cpu, left(g)) + 1000 * idle * W2(cpu, idle)) / W
// left(g) is what GPU g has left, in milli-GPUs, and T is the sum of left(g) over the node's GPUs.
// `idle` is the number of idle GPUs, and `cpu` is what is left of the CPUs. W is the weight of all
// kinds. W1(c, l) is the weight of the kinds with one GPU that the node accepts and that need at
// most CPU c and share l. W2(c, i) is the weight of the kinds with several GPUs that the node
// accepts and that need at most CPU c and i GPUs. W1 and W2 are tables, so the measure costs one
// look-up for each GPU. of() returns F * W, and the relief functions return the decrease of F * W;
// both are exact integers. Example: a GPU has 0.3 left, half of all pods need a whole GPU, and half
// need 0.2 of a GPU. Then 0.15 GPUs are fragmented.
class Fragmentation {
 public:
  // The part of a node's state on which the measure depends.
  struct Node {
    uint32_t kind = 0;  // number of the node's kind; nodes of one kind accept the same typical pods
    int64_t cpu_left = 0;
    uint32_t gpus = 0;
    std::array<int16_t, kGpusPerNodeMax> left{};
  };

  // `cluster` must be sealed and outlive this object; `pods` must not be empty.
  Fragmentation(const ClusterState& cluster, std::span<const TypicalPod> pods);

  int64_t weight() const { return weight_; }  // W in the formula above
  Node node(NodeId id) const;
  int64_t of(const Node& node) const;  // F * W of the node
  // For each GPU, by how much the measure falls if a pod with a share of `gpu_milli` is placed on
  // it; negative if the measure grows. 0 for GPUs on which the share does not fit.
  std::array<int64_t, kGpusPerNodeMax> relief_by_share(const Node& before, int64_t cpu_milli,
                                                       int32_t gpu_milli) const;
  // By how much the measure falls if a pod with `gpus` whole GPUs (0: no GPUs) is placed.
  int64_t relief_by_whole(const Node& before, int64_t cpu_milli, int32_t gpus) const;

 private:
  struct Kind {
    std::vector<bool> accepts;     // by typical pod: whether nodes of this kind accept it
    std::vector<int64_t> single;   // W1, [cpu rank][milli rank]
    std::vector<int64_t> several;  // W2, [cpu rank][idle GPUs]
  };
  struct Row {  // the rows of W1 and W2 for one CPU rank: see cpu_steps_
    const int64_t* single;
    const int64_t* several;
  };
  struct Sums {  // sums over the GPUs of a node
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
  // Distinct CPU requests of pods with GPUs, ascending. A node's CPU rank is the number of these
  // requests that do not exceed its free CPU.
  std::vector<int64_t> cpu_steps_;
  // Index: milli-GPUs left on a GPU. Value: number of distinct milli-GPU requests that fit there.
  // Only requests of typical pods with one GPU are counted.
  std::array<uint16_t, 1001> milli_rank_{};
  size_t milli_ranks_ = 0;
  std::vector<Kind> kinds_;
  std::vector<uint32_t> kind_of_;  // by node
};

}  // namespace orrery
