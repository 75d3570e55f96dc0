// The consolidating placement of Helios' study. A gang goes to the node with the fewest free GPUs
// among those with room for all its pods. A gang larger than a node gets whole nodes, and the
// remaining pods go to one more node.
#include "models/scheduling/toolbox/planned_placement.hpp"

namespace orrery {
namespace {

class HeliosConsolidate final : public PlannedPlacement {
 public:
  using Params = NoParams;
  HeliosConsolidate(Handle& handle, const Params& /*params*/)
      : PlannedPlacement{handle, {}, {.keeps_order = true}} {}

 protected:
  PlacementPlan plan(const Rooms& rooms, int64_t pods) const override {
    if (rooms.on_largest_node == 0) return {};
    return plan_consolidated({.pods = rooms.now,
                              .gpus = rooms.gpus,
                              .node_pods = rooms.on_largest_node,
                              .pod_gpus = rooms.pod_gpus},
                             pods);
  }
};
ORRERY_REGISTER_POLICY(HeliosConsolidate, "HeliosConsolidate",
                       "A gang goes to the node with the fewest free GPUs among those with room "
                       "for all its pods. A gang larger than a node gets whole nodes, and one more "
                       "for the rest. A tried gang costs O(log n) for each node that it gets or "
                       "that changed since the last gang of equal pods.");

}  // namespace
}  // namespace orrery
