// Slurm's topology/tree: a gang goes to the leaf switch that fits it most tightly.
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
ORRERY_REGISTER_POLICY(SlurmTree, "SlurmTopologyTree",
                       "Slurm's topology/tree: a gang goes to the leaf switch that fits it most "
                       "tightly. If no leaf has room for the whole gang, the gang is split over "
                       "leaves that are near each other. Host time of an attempt: O(leaves) for "
                       "each leaf that the gang gets.");

}  // namespace
}  // namespace orrery
