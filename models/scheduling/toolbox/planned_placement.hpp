// models/scheduling/toolbox/planned_placement.hpp -- base of policies that plan a whole gang at
// once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/placement_plan.hpp"

namespace orrery {

struct TopologyParams {
  int32_t leaves_per_block = 0;
  template <class V>
  void fields(V& v) {
    v("leaves_per_block", leaves_per_block,
      "A block is this many consecutive leaf switches, which share a switch of the next tier; 0: "
      "all leaf switches are one block.",
      Range{0, 1'000'000});
  }
};

// Before a gang is tried, plan() decides how many pods each node gets. All members are assumed to
// request as much as the first one. The framework then places the members on the nodes of the plan,
// and chooses among these nodes by score. filter() rejects a node once the node has all its planned
// pods. If not all members fit, plan() is called again for the quorum alone. A pod without a gang
// is planned as a gang of one. Room that is kept for nominated pods of equal or higher priority is
// not used, unless these pods are members of the gang. Needs the per_gang driver.
class ORRERY_API PlannedPlacement : public Policy, public Domains, public Filter {
 public:
  PlannedPlacement(Handle& handle, const TopologyParams& params, RoomOn::Options options);
  void domains(const Cycle& cycle, const GangView& gang, std::vector<GangDomain>& out) override;
  void filter(const Cycle& cycle, Candidates& nodes) const override;
  bool places_lone_pods() const override { return true; }

 protected:
  // Room for pods of one spec.
  struct Rooms {
    RoomOn now;                   // room on nodes that are up and that the pod's spec allows
    RoomOn idle;                  // room on all nodes if they had no pods; its order() is empty
    int64_t on_largest_node = 0;  // most pods that fit on an idle node
    // Free GPUs, in thousandths, of nodes with room in `now`. All are 0 unless the option
    // keeps_order is set.
    RoomOn gpus;
    int64_t pod_gpus = 0;  // GPUs of a pod, in thousandths
  };
  virtual PlacementPlan plan(const Rooms& rooms, int64_t pods) const = 0;

  const Topology& topology() const { return topology_; }

 private:
  struct Remembered {
    SpecId spec;
    uint64_t version = 0;  // version of the cluster at the last update of `rooms`
    NodeSet accepted;      // nodes that match the spec's node name and required terms
    Rooms rooms;
  };
  struct Planned : CycleData {
    // Maximum number of pods on each node of the plan: the pods that the node had before the plan,
    // plus the pods that the plan places on it.
    std::map<NodeId, int64_t> pods_max;
  };
  static constexpr size_t kRoomsMax = 64;
  std::unique_ptr<Remembered> first_look(const Cycle& cycle) const;
  Remembered& rooms_now(const Cycle& cycle);
  void look(const Cycle& cycle, Remembered& known, NodeId node) const;
  PlacementPlan plan_beside_nominated(const Cycle& cycle, Remembered& known, int64_t pods) const;
  int64_t room_beside_nominated(const Cycle& cycle, NodeId node) const;

  const Handle& handle_;
  const Topology topology_;
  const RoomOn::Options options_;
  std::vector<std::unique_ptr<Remembered>> rooms_;  // by SpecId % kRoomsMax; null: not used yet
};

}  // namespace orrery
