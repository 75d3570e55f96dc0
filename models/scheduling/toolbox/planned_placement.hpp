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

// Before a gang is tried, plan() says how many of its pods go where, by what its first pod asks
// for: all members are taken to be alike. The framework then places them on these nodes alone, in
// the order of its scores, and the filter keeps each node to its number. A gang that cannot have
// all its pods is planned once more with its quorum. A pod without a gang is planned as a gang of
// one. A plan leaves the room that is kept for nominated pods of other gangs. For profiles with the
// per_gang driver.
class ORRERY_API PlannedPlacement : public Policy, public Domains, public Filter {
 public:
  PlannedPlacement(Handle& handle, const TopologyParams& params, RoomOn::Options options);
  void domains(const Cycle& cycle, const GangView& gang, std::vector<GangDomain>& out) override;
  void filter(const Cycle& cycle, Candidates& nodes) const override;
  bool places_lone_pods() const override { return true; }

 protected:
  // What there is for pods of one spec.
  struct Rooms {
    RoomOn now;
    RoomOn idle;                  // if no node had pods, whatever its state; its order is not kept
    int64_t on_largest_node = 0;  // when idle
    RoomOn gpus;                  // free GPUs, in thousandths, of nodes with room; in order
    int64_t pod_gpus = 0;         // what a pod asks for, likewise
  };
  virtual PlacementPlan plan(const Rooms& rooms, int64_t pods) const = 0;

  const Topology& topology() const { return topology_; }

 private:
  struct Remembered {
    SpecId spec;
    uint64_t version = 0;  // of the cluster
    NodeSet accepted;      // by the spec's required terms
    Rooms rooms;
  };
  struct Planned : CycleData {
    std::map<NodeId, int64_t> pods_max;  // with those that the node had before
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
  std::vector<std::unique_ptr<Remembered>> rooms_;  // by spec, modulo the most; null: never seen
};

}  // namespace orrery
