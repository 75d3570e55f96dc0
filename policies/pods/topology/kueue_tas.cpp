// Kueue's topology-aware scheduling: a gang goes into one domain, or into as few as possible.
#include "models/scheduling/toolbox/planned_placement.hpp"

namespace orrery {
namespace {

class KueueTas final : public PlannedPlacement {
 public:
  struct Params : TopologyParams {
    TopologyLevel level = TopologyLevel::Leaf;
    TasMode mode = TasMode::Required;
    TasOrder order = TasOrder::BestFit;
    int64_t slice = 1;
    template <class V>
    void fields(V& v) {
      TopologyParams::fields(v);
      v("level", level, "The level of a domain.");
      v("mode", mode,
        "required: the gang waits if no domain has room for all of it. preferred: one domain of "
        "each wider level is then tried; if no block has room, several blocks are used. "
        "unconstrained: several domains of this level are used if none has room for all.");
      v("order", order,
        "BestFit: the largest domains first, the tightest last; LeastFreeCapacity: the smallest "
        "first.",
        Source{"Kueue; LeastFreeCapacity is its default for unconstrained"});
      v("slice", slice, "This many pods always share a node; gangs must be multiples of it.",
        Range<int64_t>{1, 1'000'000});
    }
  };
  KueueTas(Handle& handle, const Params& params)
      : PlannedPlacement{handle,
                         params,
                         {.slice = params.slice,
                          .keeps_order = params.level == TopologyLevel::Node}},
        params_{params} {}

 protected:
  PlacementPlan plan(const Rooms& rooms, int64_t pods) const override {
    if (pods % params_.slice != 0) return {};
    const TasRequest request{
        .pods = pods, .level = params_.level, .mode = params_.mode, .order = params_.order};
    return plan_kueue(rooms.now, request).plan;
  }

 private:
  const Params params_;
};
ORRERY_REGISTER_POLICY(KueueTas, "KueueTopology",
                       "A gang goes into one topology domain, or into as few as possible. A tried "
                       "gang costs O(leaves), a logarithm for each domain that it is split over, "
                       "and O(1) for each node that changed since the last gang of equal pods. "
                       "With level: node, it costs O(log n) for each node that it gets or that "
                       "changed.");

}  // namespace
}  // namespace orrery
