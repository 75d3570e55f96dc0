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
      v("level", level,
        "A domain is a block of leaf switches, the nodes of one leaf switch, or one node.");
      v("mode", mode,
        "What happens if no domain has room for the whole gang. required: the gang waits. "
        "preferred: a domain of the next wider level is tried, and so on; if no block has room, "
        "several blocks are used. unconstrained: several domains of this level are used.");
      v("order", order,
        "Which domains are filled first if a gang needs several. BestFit: those with most room; "
        "the last pods go where they fit most tightly. LeastFreeCapacity: those with least room.",
        Source{"Kueue; LeastFreeCapacity is Kueue's default for unconstrained"});
      v("slice", slice,
        "This many pods always share a node. The size of a gang must be a multiple of this number.",
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
                       "Kueue's topology-aware scheduling: a gang goes into one domain of the "
                       "topology, or into as few as possible. Host time of an attempt: O(leaves). "
                       "With level: node, O(log nodes) for each node that the gang gets or that "
                       "has changed since the last attempt with the same pod spec.");

}  // namespace
}  // namespace orrery
