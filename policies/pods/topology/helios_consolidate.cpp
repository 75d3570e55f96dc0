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
                       "node for its remaining pods. Host time of an attempt: O(log nodes) for "
                       "each node that the gang gets or that has changed since the last attempt "
                       "with the same pod spec.");

}  // namespace
}  // namespace orrery
