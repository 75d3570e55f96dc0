// Slurm's topology/block: jobs stay within an aggregate of neighbouring blocks. A block is the
// nodes of one leaf switch.
#include <algorithm>
#include <vector>

#include "models/scheduling/toolbox/planned_placement.hpp"

namespace orrery {
namespace {

class SlurmBlock final : public PlannedPlacement {
 public:
  struct Params {
    int32_t doublings = 20;
    template <class V>
    void fields(V& v) {
      v("doublings", doublings,
        "The largest aggregate has 2^doublings leaves. A gang that needs more leaves is never "
        "placed.",
        Range{0, 30}, Source{"Slurm BlockSizes"});
    }
  };
  SlurmBlock(Handle& handle, const Params& params) : PlannedPlacement{handle, {}, {}} {
    for (uint32_t k = 0; k <= static_cast<uint32_t>(params.doublings); ++k) levels_.push_back(k);
  }

 protected:
  PlacementPlan plan(const Rooms& rooms, int64_t pods) const override {
    int64_t leaf_pods = 0;
    for (uint32_t l = 0; l < topology().leaves(); ++l) {
      leaf_pods = std::max(leaf_pods, rooms.idle.in_leaf(l).pods);
    }
    if (leaf_pods == 0) return {};
    return plan_slurm_block(rooms.now, pods, leaf_pods, levels_);
  }

 private:
  std::vector<uint32_t> levels_;
};
ORRERY_REGISTER_POLICY(SlurmBlock, "SlurmTopologyBlock",
                       "Slurm's topology/block: a gang stays within an aggregate of 1, 2, 4, ... "
                       "neighbouring leaves. The aggregate has the smallest size that could hold "
                       "the gang if all nodes were idle. Of several aggregates with enough room, "
                       "the one with least room is used. Host time of an attempt: O(leaves), and "
                       "O(leaves of the aggregate) for each leaf that the gang gets.");

}  // namespace
}  // namespace orrery
