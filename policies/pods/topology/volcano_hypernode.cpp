// Volcano's network-topology-aware plugin: the lowest hypernode that holds the whole gang.
#include <optional>
#include <vector>

#include "models/scheduling/toolbox/planned_placement.hpp"

namespace orrery {
namespace {

// The members of a gang prefer nodes near the first placed member. An earlier attempt may have
// placed that member.
class VolcanoHyperNode final : public PlannedPlacement, public Score {
 public:
  struct Params : TopologyParams {
    int32_t highest_tier = 3;
    template <class V>
    void fields(V& v) {
      TopologyParams::fields(v);
      v("highest_tier", highest_tier,
        "How far a gang may spread. 1: one leaf, 2: one block, 3: the whole cluster.", Range{1, 3},
        Source{"Volcano highestTierAllowed"});
    }
  };
  VolcanoHyperNode(Handle& handle, const Params& params)
      : PlannedPlacement{handle, params, {}}, handle_{handle}, highest_tier_{params.highest_tier} {}

  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    const GangId gang = cycle.pod.gang;
    std::optional<uint32_t> home;
    const GangPlacement placed = handle_.placements().of_gang(gang);
    if (placed.pods > 0) home = placed.home.index;
    for (size_t k = 0; k < nodes.size(); ++k) {
      scores[k] = static_cast<int64_t>(hypernode_score(topology(), nodes[k].index, home));
    }
  }

 protected:
  PlacementPlan plan(const Rooms& rooms, int64_t pods) const override {
    return plan_hypernode(rooms.now, rooms.idle, pods, highest_tier_);
  }

 private:
  const Handle& handle_;
  const int32_t highest_tier_;
};
ORRERY_REGISTER_POLICY(VolcanoHyperNode, "VolcanoHyperNode",
                       "Volcano's hypernodes: a gang goes under the lowest switch that has room "
                       "for all of it. Host time of an attempt: O(leaves + nodes under that "
                       "switch).");

}  // namespace
}  // namespace orrery
