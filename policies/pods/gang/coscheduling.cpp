// Gangs on top of a scheduler that places pods one by one, like scheduler-plugins' Coscheduling:
// members with a node wait in Permit, and hold the node, until minMember members have a node.
// Example: minMember 4 and room for 3. Three members hold their nodes until the fourth finds no
// node. A quarter of the gang is then missing, more than podGroupRejectPercentage (10), so the gang
// is rejected at once. With minMember 40 and room for 39, only 2.5 % of the gang is missing, so the
// 39 members hold their nodes until permitWaitingTimeSeconds have passed.
#include <limits>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr Status fails(std::string_view why) { return {Code::UnschedulableAndUnresolvable, why}; }

class Coscheduling final : public Policy,
                           public QueueSort,
                           public PreFilter,
                           public PostFilter,
                           public Reserve,
                           public Permit,
                           public EventHints {
 public:
  struct Params {
    int64_t permitWaitingTimeSeconds = 60;
    int64_t podGroupBackoffSeconds = 0;
    int32_t podGroupRejectPercentage = 10;
    template <class V>
    void fields(V& v) {
      v("permitWaitingTimeSeconds", permitWaitingTimeSeconds,
        "How long a member with a node waits in Permit for the rest of the gang. A gang's own "
        "schedule timeout takes precedence.",
        Range{int64_t{1}, int64_t{1'000'000}}, Unit{"s"}, Source{"scheduler-plugins 903da7df"});
      v("podGroupBackoffSeconds", podGroupBackoffSeconds,
        "Backoff of a gang that was rejected; 0: no backoff.",
        Range{int64_t{0}, int64_t{1'000'000}}, Unit{"s"}, Source{"scheduler-plugins 903da7df"});
      v("podGroupRejectPercentage", podGroupRejectPercentage,
        "When a member finds no node, the waiting members are rejected if the gang still lacks "
        "more than this share of its minMember. Otherwise they go on waiting.",
        Range{0, 100}, Unit{"percent"}, Source{"scheduler-plugins 903da7df"});
    }
  };
  static constexpr Traits kTraits = Trait::WaitsInPermit | Trait::RetriesInPermit;
  Coscheduling(Handle& handle, const Params& params)
      : handle_{handle}, params_{params}, permitted_until_{handle} {}

  // Sorts by priority, then by the time of the gang's last failure. A gang that never failed is
  // sorted by its creation. Members of a gang stay together.
  bool less(const QueuedUnit& a, const QueuedUnit& b) const override {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (const Time at = order_time(a), bt = order_time(b); at != bt) return at < bt;
    if (a.gang == b.gang) return a.gang.is_valid() && a.pod < b.pod;
    if (!a.gang.is_valid() || !b.gang.is_valid()) return !a.gang.is_valid();
    const std::string_view name_a = handle_.gang(a.gang).name, name_b = handle_.gang(b.gang).name;
    return name_a != name_b ? name_a < name_b : a.gang < b.gang;
  }

  Status pre_filter(const Cycle& cycle, NodeSet& /*nodes*/) const override {
    if (!cycle.pod.gang.is_valid()) return {};
    const GangView gang = handle_.gang(cycle.pod.gang);
    if (!gang.id.is_valid()) return {};  // Permit rejects the pod
    if (gang.backoff_until > cycle.now) return fails("podGroup failed recently");
    if (gang.created < gang.min_available) return fails("fewer pods in the gang than minMember");
    if (!gang.are_enough_created()) return fails("fewer pods in a role than its minMember");
    if (gang.created - gang.gated < gang.min_available) {
      return fails("fewer ungated pods in the gang than minMember");
    }
    if (gang.min_resources == nullptr) return {};
    if (permitted_until_.at(gang.id) > cycle.now) return {};
    if (!covers_min_resources(cycle.cluster, gang)) {
      return fails("cluster resources are less than the gang's minResources");
    }
    cycle.state.of<Checked>(*this).until = cycle.now + timeout_of(gang);
    return {};
  }

  Status post_filter(const Cycle& cycle, const Diagnosis& /*diagnosis*/) override {
    if (!cycle.pod.gang.is_valid()) return {Code::Unschedulable, "pod is in no gang"};
    keep_what_was_checked(cycle);
    const GangView gang = handle_.gang(cycle.pod.gang);
    if (!gang.id.is_valid()) return {Code::Unschedulable, "PodGroup not found"};
    const int64_t missing = gang.missing();
    if (missing == 0) return {Code::Unschedulable, "the gang has enough pods without this one"};
    if (missing * 100 <= int64_t{params_.podGroupRejectPercentage} * gang.min_available) {
      return {Code::Unschedulable, "the gang waits: only few pods are missing"};
    }
    // During a backoff, PreFilter rejects the gang's pods, and PostFilter runs after each
    // rejection. These rejections do not extend the backoff.
    const bool starts_pause = params_.podGroupBackoffSeconds > 0 && gang.are_enough_created() &&
                              gang.backoff_until <= cycle.now;
    const Time pause_end = cycle.now + 1_s * params_.podGroupBackoffSeconds;
    permitted_until_[gang.id] = {};
    handle_.set_gang_failure(gang.id, cycle.now, starts_pause ? pause_end : gang.backoff_until);
    handle_.reject_gangs(gang.id, 1, "optimistic rejection in PostFilter");
    return {Code::Unschedulable, "the gang is rejected because this pod fits on no node"};
  }

  bool reads_candidates(const PodView& /*pod*/) const override { return false; }

  Status reserve(const Cycle& cycle, NodeId /*node*/) override {
    keep_what_was_checked(cycle);
    return {};
  }
  void unreserve(const PodView& pod, NodeId /*node*/) override {
    if (!pod.gang.is_valid()) return;
    const GangView gang = handle_.gang(pod.gang);
    if (!gang.id.is_valid()) return;
    permitted_until_[gang.id] = {};
    handle_.set_gang_failure(gang.id, handle_.now(), gang.backoff_until);
    handle_.reject_gangs(gang.id, 1, "rejection in Unreserve");
  }

  PermitStatus permit(const Cycle& cycle, NodeId /*node*/) override {
    if (!cycle.pod.gang.is_valid()) return {};
    const GangView gang = handle_.gang(cycle.pod.gang);
    if (!gang.id.is_valid()) return {Code::Unschedulable, {}, "PodGroup not found"};
    if (gang.missing(1) > 0) {
      if (gang.assigned() == 0) handle_.activate_siblings(cycle.pod.id);
      return {Code::Wait, timeout_of(gang), "waits for the rest of the gang"};
    }
    for (const PodId pod : handle_.waiting_pods(gang.id)) handle_.allow_waiting(pod);
    if (gang.last_failure >= Time{}) handle_.set_gang_failure(gang.id, Time{-1}, {});
    return {};
  }

  ClusterEvents events() const override { return bit_of(ClusterEventKind::UnscheduledPodAdded); }
  QueueHint hint(const PodView& pod, const ClusterEvent& event) const override {
    const bool is_sibling = pod.gang.is_valid() && event.gang == pod.gang;
    return is_sibling ? QueueHint::Queue : QueueHint::Skip;
  }

 private:
  struct Checked : CycleData {
    Time until{-1};  // minResources counts as covered until this time
  };
  struct Permitted {
    Time until{-1};
    operator Time() const { return until; }
  };

  static Time order_time(const QueuedUnit& unit) {
    return unit.gang_failed >= Time{} ? unit.gang_failed : unit.gang_created;
  }
  Duration timeout_of(const GangView& gang) const {
    return gang.schedule_timeout != Duration::max() ? gang.schedule_timeout
                                                    : 1_s * params_.permitWaitingTimeSeconds;
  }
  // PreFilter is const, so its result is stored at PostFilter or Reserve.
  void keep_what_was_checked(const Cycle& cycle) {
    const auto* const checked = cycle.state.find<Checked>(*this);
    if (checked != nullptr) permitted_until_[cycle.pod.gang] = {checked->until};
  }
  // Adds up what the gang holds and what is free on the up nodes. Returns whether the sum covers
  // minResources and has room for minMember pods. Even then the gang may not fit, because each pod
  // needs room on one node.
  bool covers_min_resources(const ClusterState& cluster, const GangView& gang) const {
    Resources room = cluster.free_on_up_nodes();
    room += handle_.placements().of_gang(gang.id).held;
    for (size_t r = 0; r < kResources; ++r) {
      const bool is_pods = r == static_cast<size_t>(Resource::Pods);
      const int64_t needed = is_pods ? gang.min_available : gang.min_resources->amount[r];
      if (room.amount[r] < needed) return false;
    }
    return true;
  }
  Handle& handle_;
  const Params params_;
  GangMap<Permitted> permitted_until_;
};
ORRERY_REGISTER_POLICY(Coscheduling, "Coscheduling",
                       "Gang scheduling of scheduler-plugins: members with a node wait in Permit "
                       "until enough members of the gang have a node.");

}  // namespace
}  // namespace orrery
