// models/scheduling/planned_placement.hpp -- base of policies that plan a whole gang at once.
#pragma once

#include <cstdint>
#include <vector>

#include "models/scheduling/placement_plan.hpp"
#include "models/scheduling/policy_registry.hpp"

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
// all its pods is planned once more with its quorum. For profiles with the per_gang driver.
class ORRERY_API PlannedPlacement : public Policy, public Domains, public Filter {
 public:
  PlannedPlacement(Handle& handle, const TopologyParams& params);
  void domains(const Cycle& cycle, const GangView& gang, std::vector<NodeSet>& out) override;
  void filter(const Cycle& cycle, Candidates& nodes) const override;

 protected:
  // By node; empty: no place.
  virtual PlacementPlan plan(const Cycle& cycle, Room room, int64_t pods) const = 0;

  const Topology& topology() const { return topology_; }
  // How many pods like the cycle's each node could take if it were idle.
  static std::vector<int64_t> room_if_idle(const Cycle& cycle);

 private:
  struct Remembered {  // of pods of one spec
    SpecId spec;
    uint64_t version = 0;  // of the cluster
    std::vector<int64_t> room;
  };
  static constexpr size_t kRoomsMax = 64;
  Room room_now(const Cycle& cycle);

  Topology topology_;
  std::vector<Remembered> rooms_;  // by spec, modulo the most
  GangId planned_;
  PlacementPlan plan_;
  std::vector<int64_t> before_;  // pods on each node when planned
};

}  // namespace orrery
