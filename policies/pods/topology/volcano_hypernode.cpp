// Volcano's network-topology-aware plugin: the lowest hypernode that holds the whole gang.
#include <optional>
#include <vector>

#include "models/scheduling/toolbox/planned_placement.hpp"

namespace orrery {
namespace {

// Members of a gang that partly has nodes prefer those near to its first one.
class VolcanoHyperNode final : public PlannedPlacement,
                               public Score,
                               public Reserve,
                               public PodWatcher {
 public:
  struct Params : TopologyParams {
    int32_t highest_tier = 3;
    template <class V>
    void fields(V& v) {
      TopologyParams::fields(v);
      v("highest_tier", highest_tier,
        "No gang may spread further. 1: one leaf, 2: one block, 3: anywhere.", Range{1, 3},
        Source{"Volcano highestTierAllowed"});
    }
  };
  VolcanoHyperNode(Handle& handle, const Params& params)
      : PlannedPlacement{handle, params, {}}, highest_tier_{params.highest_tier} {}

  void score(const Cycle& cycle, std::span<const NodeId> nodes,
             std::span<int64_t> scores) const override {
    const GangId gang = cycle.pod.gang;
    std::optional<uint32_t> home;
    if (gang.is_valid() && gang.index < homes_.size() && homes_[gang.index].pods > 0) {
      home = homes_[gang.index].node.index;
    }
    for (size_t k = 0; k < nodes.size(); ++k) {
      scores[k] = static_cast<int64_t>(hypernode_score(topology(), nodes[k].index, home));
    }
  }

  Status reserve(const Cycle& cycle, NodeId node) override {
    const PodView& pod = cycle.pod;
    if (!pod.gang.is_valid()) return {};
    if (pod.id.index >= is_placed_.size()) is_placed_.resize(pod.id.index + size_t{1});
    if (pod.gang.index >= homes_.size()) homes_.resize(pod.gang.index + size_t{1});
    Home& home = homes_[pod.gang.index];
    if (!is_placed_[pod.id.index] && home.pods++ == 0) home.node = node;
    is_placed_[pod.id.index] = true;
    return {};
  }
  void unreserve(const PodView& pod, NodeId /*node*/) override { forget(pod); }
  void pod_gone(const PodView& pod) override { forget(pod); }

 protected:
  PlacementPlan plan(const Rooms& rooms, int64_t pods) const override {
    return plan_hypernode(rooms.now, rooms.idle, pods, highest_tier_);
  }

 private:
  struct Home {
    NodeId node;  // of the first member
    int32_t pods = 0;
  };
  void forget(const PodView& pod) {
    if (pod.id.index >= is_placed_.size() || !is_placed_[pod.id.index]) return;
    is_placed_[pod.id.index] = false;
    --homes_[pod.gang.index].pods;
  }

  const int32_t highest_tier_;
  std::vector<Home> homes_;      // by GangId
  std::vector<bool> is_placed_;  // by PodId
};
ORRERY_REGISTER_POLICY(VolcanoHyperNode, "VolcanoHyperNode",
                       "A gang goes under the lowest switch that holds all of it. For each gang "
                       "that is tried O(leaves), the nodes under that switch, and O(1) for each "
                       "node that changed since the last gang of alike pods.");

}  // namespace
}  // namespace orrery
