// Slurm's topology/tree: jobs go under the leaf switch that fits them tightest.
#include "models/scheduling/toolbox/planned_placement.hpp"

namespace orrery {
namespace {

class SlurmTree final : public PlannedPlacement {
 public:
  using Params = TopologyParams;
  SlurmTree(Handle& handle, const Params& params) : PlannedPlacement{handle, params, {}} {}

 protected:
  PlacementPlan plan(const Rooms& rooms, int64_t pods) const override {
    return plan_slurm_tree(rooms.now, pods);
  }
};
ORRERY_REGISTER_POLICY(
    SlurmTree, "SlurmTopologyTree",
    "A gang goes to the leaf switch that fits it tightest, or to nearby leaves. A tried gang costs "
    "O(leaves) for each leaf that it gets, which are at most as many as its pods, and O(1) for "
    "each node that changed since the last gang of equal pods.");

}  // namespace
}  // namespace orrery
