// Slurm's topology/block: jobs stay within an aggregate of neighbouring blocks of nodes.
#include <algorithm>
#include <vector>

#include "models/scheduling/planned_placement.hpp"

namespace orrery {
namespace {

class SlurmBlock final : public PlannedPlacement {
 public:
  struct Params {
    int32_t doublings = 20;
    template <class V>
    void fields(V& v) {
      v("doublings", doublings,
        "The largest aggregate is this power of two of leaves; a larger gang is never placed.",
        Range{0, 30}, Source{"Slurm BlockSizes"});
    }
  };
  SlurmBlock(Handle& handle, const Params& params) : PlannedPlacement{handle, {}} {
    for (uint32_t k = 0; k <= static_cast<uint32_t>(params.doublings); ++k) levels_.push_back(k);
  }

 protected:
  PlacementPlan plan(const Cycle& cycle, Room room, int64_t pods) const override {
    const std::vector<int64_t> idle = room_if_idle(cycle);
    std::vector<int64_t> leaves(topology().block_of.size());
    for (size_t n = 0; n < idle.size(); ++n) leaves[topology().leaf_of[n]] += idle[n];
    const int64_t leaf_pods = std::ranges::max(leaves);
    if (leaf_pods == 0) return {};
    return plan_slurm_block(topology(), room, pods, leaf_pods, levels_);
  }

 private:
  std::vector<uint32_t> levels_;
};
ORRERY_REGISTER_POLICY(SlurmBlock, "SlurmTopologyBlock",
                       "A gang stays within 1, 2, 4 ... neighbouring leaves, the tightest that "
                       "fit. O(nodes) for each gang that is tried, and again for each leaf that it "
                       "gets, with the square of the leaves of its aggregate.");

}  // namespace
}  // namespace orrery
