// models/scheduling/feasibility/room_table.hpp -- a set of pods, and the resources that each node
// would have free if only these pods existed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/workload/job/pod_spec.hpp"
#include "sim/core/id.hpp"

namespace orrery {

struct PodNeed {  // a number of pods of one spec
  SpecId spec;
  int64_t pods = 0;
};

// The table starts as an empty cluster. The real cluster's pods use room only after
// take_what_is_taken(). For each pod spec that was passed to slots(), eligible() or fits(), the
// table keeps the number of further pods that fit on all eligible nodes together. Example: on 2
// nodes of 8 GPUs, slots() of a 4-GPU pod is 4. After put() of a 6-GPU pod, slots() is 2. GPU
// shares are packed onto the fullest GPU on which they fit, so put() may choose other devices than
// the real cluster did.
class RoomTable {
 public:
  // With `counts_down_nodes`, nodes that are down count like nodes that are up. Otherwise no pods
  // fit on nodes that are down.
  RoomTable(const ClusterState& cluster, const SpecTable& specs, bool counts_down_nodes);

  GpuMask put(NodeId node, SpecId spec);  // returns the chosen devices
  void put_again(NodeId node, SpecId spec, GpuMask gpus) { change(node, spec, gpus, -1); }
  void take_away(NodeId node, SpecId spec, GpuMask gpus) { change(node, spec, gpus, 1); }

  // How many more pods of this spec fit, over all eligible nodes.
  int64_t slots(SpecId spec) { return kind(spec).slots; }
  // Like slots(), but counting stops once `most` is reached, and the result is not cached.
  int64_t slots_up_to(SpecId spec, int64_t most) const;
  // Nodes that the pod's node name, required node affinity and tolerations allow. Without
  // counts_down_nodes, nodes that are down are left out.
  const NodeSet& eligible(SpecId spec) { return kind(spec).eligible; }
  // Whether all these pods fit together. The result is exact for pods of one spec. With several
  // specs, the largest pods are placed first, each on the first node with room. If that fails, a
  // search tries other placements. The search is cut off after kLooksMax visits to nodes. The
  // result `true` is always right. The result `false` may be wrong if the search was cut off, or if
  // pods have GPU shares, for which only one choice of devices is tried.
  bool fits(std::span<const PodNeed> needs);
  // Places as many pods of `need` as possible on the eligible nodes in `nodes`, in order of node
  // id. Calls `used` for each node that got a pod. Returns the number of placed pods.
  int64_t put_all(const PodNeed& need, const NodeSet& nodes,
                  const std::function<void(NodeId)>& used);
  // The first eligible node in `nodes` on which a pod of the spec fits; invalid: none.
  NodeId first_with_room(SpecId spec, const NodeSet& nodes) const;
  // Sets the room on each node to what is free in the real cluster now. Forgets the pods that were
  // put into the table before.
  void take_what_is_taken();
  // Must be called when taints or cordons change. If counts_down_nodes is false, must also be
  // called when a node goes down or comes up.
  void forget_eligibility();

 private:
  struct Room {
    Resources left;  // free amounts, except of GPUs: see gpu_left
    std::array<int16_t, kGpusPerNodeMax> gpu_left{};
    bool operator==(const Room&) const = default;
  };
  struct Kind {
    SpecId spec;
    NodeSet eligible;
    int64_t slots = 0;
    uint64_t asked = 0;  // value of asked_ when this kind was last requested
  };
  struct Search {
    std::vector<PodNeed> needs;  // sorted, largest first
    std::vector<NodeSet> eligible;
    int64_t looks_left;
  };
  static constexpr int64_t kLooksMax = 20'000;
  // Beyond this number, the least recently used Kind is dropped.
  static constexpr size_t kKindsMax = 64;
  Kind& kind(SpecId spec);
  NodeSet find_eligible(const PodSpec& spec) const;
  int64_t pods_that_fit(const Room& room, SpecId spec) const;
  GpuMask choose_gpus(const Room& room, const PodSpec& spec) const;
  int64_t fill(NodeId node, SpecId spec, int64_t pods);
  bool places_greedily(const Search& search);
  bool finds_places(Search& search, size_t need, int64_t placed, NodeId from);
  bool is_as_good(const Search& search, NodeId a, NodeId b) const;
  void apply(Room& room, SpecId spec, GpuMask gpus, int sign) const;
  void change(NodeId node, SpecId spec, GpuMask gpus, int sign);

  const ClusterState& cluster_;
  const SpecTable& specs_;
  bool counts_down_nodes_;
  std::vector<Room> rooms_;
  std::vector<Kind> kinds_;
  uint64_t asked_ = 0;
};

}  // namespace orrery
