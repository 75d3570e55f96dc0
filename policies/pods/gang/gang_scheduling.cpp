// Kubernetes' own gang scheduling (1.36): pods enter the queue when minCount of them exist, and are
// bound when minCount of them have a node. The driver places the members in one cycle.
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

class GangScheduling final : public Policy, public PreEnqueue, public Permit, public EventHints {
 public:
  struct Params {
    int64_t schedulingTimeoutSeconds = 300;
    template <class V>
    void fields(V& v) {
      v("schedulingTimeoutSeconds", schedulingTimeoutSeconds,
        "How long a member with a node waits for the quorum. A gang's own schedule timeout takes "
        "precedence.",
        Range{int64_t{1}, int64_t{1'000'000}}, Unit{"s"},
        Source{"kube-scheduler 1.36, where it is fixed"});
    }
  };
  static constexpr Traits kTraits = Trait::WaitsInPermit;
  GangScheduling(Handle& handle, const Params& params)
      : handle_{handle}, timeout_{1_s * params.schedulingTimeoutSeconds} {}

  Status pre_enqueue(const PodView& pod) override {
    if (!pod.gang.is_valid()) return {};
    const GangView gang = handle_.gang(pod.gang);
    if (gang.are_enough_created()) return {};
    return {Code::UnschedulableAndUnresolvable, "waiting for minCount pods of the gang to appear"};
  }

  PermitStatus permit(const Cycle& cycle, NodeId /*node*/) override {
    if (!cycle.pod.gang.is_valid()) return {};
    const GangView gang = handle_.gang(cycle.pod.gang);
    if (gang.missing(1) > 0) {
      handle_.activate_siblings(cycle.pod.id);
      const bool has_own = gang.schedule_timeout != Duration::max();
      return {Code::Wait, has_own ? gang.schedule_timeout : timeout_,
              "waiting for minCount pods of the gang to be scheduled"};
    }
    for (const PodId pod : handle_.waiting_pods(gang.id)) handle_.allow_waiting(pod);
    return {};
  }

  ClusterEvents events() const override { return bit_of(ClusterEventKind::UnscheduledPodAdded); }
  QueueHint hint(const PodView& pod, const ClusterEvent& event) const override {
    const bool is_sibling = pod.gang.is_valid() && event.gang == pod.gang;
    return is_sibling ? QueueHint::Queue : QueueHint::Skip;
  }

 private:
  Handle& handle_;
  const Duration timeout_;
};
ORRERY_REGISTER_POLICY(GangScheduling, "GangScheduling",
                       "Kubernetes' own gang scheduling: pods enter the queue when a quorum of the "
                       "gang exists, and are bound when a quorum has nodes.");

}  // namespace
}  // namespace orrery
