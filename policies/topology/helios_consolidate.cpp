// The consolidating placement of Helios' study: as few nodes as can be, the fullest that suffice.
#include <algorithm>
#include <vector>

#include "models/scheduling/planned_placement.hpp"

namespace orrery {
namespace {

class HeliosConsolidate final : public PlannedPlacement {
 public:
  using Params = NoParams;
  HeliosConsolidate(Handle& handle, const Params& /*params*/) : PlannedPlacement{handle, {}} {}

 protected:
  PlacementPlan plan(const Cycle& cycle, Room room, int64_t pods) const override {
    const int64_t node_pods = std::ranges::max(room_if_idle(cycle));
    return node_pods == 0 ? PlacementPlan{} : plan_consolidated(room, node_pods, pods);
  }
};
ORRERY_REGISTER_POLICY(HeliosConsolidate, "HeliosConsolidate",
                       "A gang goes to the fullest node that holds it, or to whole nodes. O(nodes) "
                       "for each gang that is tried; O(n log n) if it is larger than a node.");

}  // namespace
}  // namespace orrery
