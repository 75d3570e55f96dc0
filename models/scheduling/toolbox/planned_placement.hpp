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
      "Leaf switches, in a row, that share a switch of the next tier; 0: all do.",
      Range{0, 1'000'000});
  }
};

// Before a gang is tried, plan() distributes its pods over nodes by the request of its first pod:
// all members are assumed equal. The framework then places them on these nodes alone, in the order
// of its scores, and the filter limits each node to its number. A gang that cannot have all its
// pods is planned once more with its quorum. A pod without a gang is planned as a gang of one. A
// plan leaves out room reserved for nominated pods of other gangs. For profiles with the per_gang
// driver.
class ORRERY_API PlannedPlacement : public Policy, public Domains, public Filter {
 public:
  PlannedPlacement(Handle& handle, const TopologyParams& params, RoomOn::Options options);
  void domains(const Cycle& cycle, const GangView& gang, std::vector<GangDomain>& out) override;
  void filter(const Cycle& cycle, Candidates& nodes) const override;
  bool places_lone_pods() const override { return true; }

 protected:
  // Free room for pods of one spec.
  struct Rooms {
    RoomOn now;
    RoomOn idle;                  // if no node had pods, whatever its state; not sorted
    int64_t on_largest_node = 0;  // on an idle node
    RoomOn gpus;                  // free GPUs, in thousandths, of nodes with room; sorted
    int64_t pod_gpus = 0;         // GPUs of a pod, in thousandths
  };
  virtual PlacementPlan plan(const Rooms& rooms, int64_t pods) const = 0;

  const Topology& topology() const { return topology_; }

 private:
  struct Remembered {
    SpecId spec;
    uint64_t version = 0;  // version of the cluster
    NodeSet accepted;      // nodes that match the spec's required terms
    Rooms rooms;
  };
  struct Planned : CycleData {
    std::map<NodeId, int64_t> pods_max;  // pods that the node had before included
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
  std::vector<std::unique_ptr<Remembered>> rooms_;  // by spec, modulo the maximum; null: never seen
};

}  // namespace orrery
