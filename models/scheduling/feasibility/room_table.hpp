// models/scheduling/feasibility/room_table.hpp -- free room on each node if only some pods stayed.
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

struct PodNeed {  // a number of equal pods
  SpecId spec;
  int64_t pods = 0;
};

// Starts from an empty cluster and counts the pods put on it, independent of the real ClusterState.
// For each requested kind of pod the number that still fits, over all eligible nodes, is kept up to
// date. Shares of a GPU are packed onto the fullest device they fit on, which may differ from the
// devices really granted. Example: on 2 nodes of 8 GPUs, slots() of a 4-GPU pod is 4; after put()
// of a 6-GPU pod it is 2.
class RoomTable {
 public:
  // Nodes that are down count as empty with `counts_down_nodes`, else as absent.
  RoomTable(const ClusterState& cluster, const SpecTable& specs, bool counts_down_nodes);

  GpuMask put(NodeId node, SpecId spec);  // returns the chosen devices
  void put_again(NodeId node, SpecId spec, GpuMask gpus) { change(node, spec, gpus, -1); }
  void take_away(NodeId node, SpecId spec, GpuMask gpus) { change(node, spec, gpus, 1); }

  // How many more pods of this kind fit.
  int64_t slots(SpecId spec) { return kind(spec).slots; }
  // The same, but counting stops at `most`, and the result is not cached.
  int64_t slots_up_to(SpecId spec, int64_t most) const;
  // Nodes that the pod's own spec allows: name, required terms, taints and cordons.
  const NodeSet& eligible(SpecId spec) { return kind(spec).eligible; }
  // Whether all of these fit together. Exact for one kind. Several kinds are placed largest first,
  // each on the first nodes with room. If that fails, other placements are searched, until
  // kLooksMax nodes were visited; the search is exact except for devices of shares. So on large
  // clusters a packing may be missed, but a result of true is always right.
  bool fits(std::span<const PodNeed> needs);
  // Puts as many of these pods as fit on those of the nodes that are eligible. Calls `used` for
  // each node that got some. Returns the number of pods put.
  int64_t put_all(const PodNeed& need, const NodeSet& nodes,
                  const std::function<void(NodeId)>& used);
  // The first of these nodes that the pod may go to and that has room for it; invalid: none has.
  NodeId first_with_room(SpecId spec, const NodeSet& nodes) const;
  // Takes all resources that are taken in the cluster. Call before anything else is put.
  void take_what_is_taken();
  void forget_eligibility();  // taints, cordons or (unless down nodes count) node states changed

 private:
  struct Room {
    Resources left;  // Gpu is unused
    std::array<int16_t, kGpusPerNodeMax> gpu_left{};
    bool operator==(const Room&) const = default;
  };
  struct Kind {
    SpecId spec;
    NodeSet eligible;
    int64_t slots = 0;
    uint64_t asked = 0;  // when its slots were last requested
  };
  struct Search {
    std::vector<PodNeed> needs;  // sorted, largest first
    std::vector<NodeSet> eligible;
    int64_t looks_left;
  };
  static constexpr int64_t kLooksMax = 20'000;
  static constexpr size_t kKindsMax = 64;  // more kinds replace the least recently requested one
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
