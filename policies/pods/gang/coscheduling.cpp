// Gangs on top of the one-pod-at-a-time scheduler, as scheduler-plugins' Coscheduling does it:
// members that have a node wait in Permit, and hold it, until minMember of them do.
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
                           public EventHints,
                           public PodWatcher {
 public:
  struct Params {
    int64_t permitWaitingTimeSeconds = 60;
    int64_t podGroupBackoffSeconds = 0;
    int32_t podGroupRejectPercentage = 10;
    template <class V>
    void fields(V& v) {
      v("permitWaitingTimeSeconds", permitWaitingTimeSeconds,
        "How long a member waits, with its node, for the others. A gang's own schedule timeout "
        "goes before.",
        Range{int64_t{1}, int64_t{1'000'000}}, Unit{"s"}, Source{"scheduler-plugins 903da7df"});
      v("podGroupBackoffSeconds", podGroupBackoffSeconds,
        "How long a gang that was turned down is not tried again; 0: no such pause.",
        Range{int64_t{0}, int64_t{1'000'000}}, Unit{"s"}, Source{"scheduler-plugins 903da7df"});
      v("podGroupRejectPercentage", podGroupRejectPercentage,
        "When a member finds no node, the others keep waiting if at most this part of the gang "
        "is missing.",
        Range{0, 100}, Unit{"percent"}, Source{"scheduler-plugins 903da7df"});
    }
  };
  Coscheduling(Handle& handle, const Params& params) : handle_{handle}, params_{params} {}

  // By priority, then by the gang's last failure or its creation; members stay together.
  bool less(const QueuedUnit& a, const QueuedUnit& b) const override {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (const Time at = order_time(a), bt = order_time(b); at != bt) return at < bt;
    if (a.gang == b.gang) return a.gang.is_valid() && a.pod < b.pod;
    if (!a.gang.is_valid() || !b.gang.is_valid()) return !a.gang.is_valid();
    const std::string_view name_a = handle_.gang(a.gang).name, name_b = handle_.gang(b.gang).name;
    return name_a != name_b ? name_a < name_b : a.gang < b.gang;
  }

  Status pre_filter(const Cycle& cycle, NodeSet& /*nodes*/) override {
    if (!cycle.pod.gang.is_valid()) return {};
    const GangView gang = handle_.gang(cycle.pod.gang);
    if (!gang.id.is_valid()) return {};  // Permit turns it down
    if (gang.backoff_until > cycle.now) return fails("podGroup failed recently");
    if (gang.created < gang.min_available) return fails("fewer pods in the gang than minMember");
    if (gang.created - gang.gated < gang.min_available) {
      return fails("fewer ungated pods in the gang than minMember");
    }
    if (gang.min_resources == nullptr) return {};
    Memory& memory = remember(gang);
    if (memory.permitted_until > cycle.now) return {};
    if (!covers_min_resources(cycle.cluster, gang, memory)) {
      return fails("cluster resources are less than the gang's minResources");
    }
    memory.permitted_until = cycle.now + timeout_of(gang);
    return {};
  }

  Status post_filter(const Cycle& cycle, const Diagnosis& /*diagnosis*/) override {
    if (!cycle.pod.gang.is_valid()) return {Code::Unschedulable, "pod is in no gang"};
    const GangView gang = handle_.gang(cycle.pod.gang);
    if (!gang.id.is_valid()) return {Code::Unschedulable, "PodGroup not found"};
    const int64_t missing = int64_t{gang.min_available} - gang.assigned();
    if (missing <= 0) return {Code::Unschedulable, "the gang has enough pods without this one"};
    if (missing * 100 <= int64_t{params_.podGroupRejectPercentage} * gang.min_available) {
      return {Code::Unschedulable, "the gang waits: only few pods are missing"};
    }
    // A pause that runs is not prolonged: members that PreFilter stops come by here too.
    const bool starts_pause = params_.podGroupBackoffSeconds > 0 &&
                              gang.created >= gang.min_available && gang.backoff_until <= cycle.now;
    const Time pause_end = cycle.now + 1_s * params_.podGroupBackoffSeconds;
    remember(gang).permitted_until = Time{-1};
    handle_.set_gang_failure(gang.id, cycle.now, starts_pause ? pause_end : gang.backoff_until);
    reject_all(gang.id, "optimistic rejection in PostFilter");
    return {Code::Unschedulable, "the gang is turned down because this pod fits nowhere"};
  }

  bool reads_candidates(const PodView& /*pod*/) const override { return false; }

  Status reserve(const Cycle& cycle, NodeId /*node*/) override {
    if (!cycle.pod.gang.is_valid()) return {};
    const size_t pod = cycle.pod.id.index;
    if (pod >= is_holding_.size()) is_holding_.resize(pod + 1);
    if (!is_holding_[pod]) remember(cycle.pod.gang).held += cycle.pod.spec->requests();
    is_holding_[pod] = true;
    return {};
  }
  void unreserve(const PodView& pod, NodeId /*node*/) override {
    release(pod);
    if (!pod.gang.is_valid() || pod.gang == rejecting_) return;
    const GangView gang = handle_.gang(pod.gang);
    if (!gang.id.is_valid()) return;
    remember(gang).permitted_until = Time{-1};
    handle_.set_gang_failure(gang.id, handle_.now(), gang.backoff_until);
    reject_all(gang.id, "rejection in Unreserve");
  }
  void pod_gone(const PodView& pod) override { release(pod); }

  PermitStatus permit(const Cycle& cycle, NodeId /*node*/) override {
    if (!cycle.pod.gang.is_valid()) return {};
    const GangView gang = handle_.gang(cycle.pod.gang);
    if (!gang.id.is_valid()) return {Code::Unschedulable, {}, "PodGroup not found"};
    const int32_t assigned = gang.assigned() + 1;  // with this one, which is in neither count
    if (assigned < gang.min_available) {
      if (assigned == 1) handle_.activate_siblings(cycle.pod.id);
      return {Code::Wait, timeout_of(gang), "waits for the rest of the gang"};
    }
    copy_waiting(gang.id);
    for (const PodId pod : scratch_) handle_.allow_waiting(pod);
    if (gang.last_failure >= Time{}) handle_.set_gang_failure(gang.id, Time{-1}, {});
    return {};
  }

  ClusterEvents events() const override { return bit_of(ClusterEventKind::UnscheduledPodAdded); }
  QueueHint hint(const PodView& pod, const ClusterEvent& event) const override {
    const bool is_sibling = pod.gang.is_valid() && event.gang == pod.gang;
    return is_sibling ? QueueHint::Queue : QueueHint::Skip;
  }

 private:
  struct Memory {  // of a gang; ids are recycled, so a new creation time starts it afresh
    Time created_at = Time{-1};
    Time permitted_until = Time{-1};  // until then minResources is taken to be met
    Resources held;                   // by members that have a node
  };

  static Time order_time(const QueuedUnit& unit) {
    return unit.gang_failed >= Time{} ? unit.gang_failed : unit.gang_created;
  }
  Duration timeout_of(const GangView& gang) const {
    return gang.schedule_timeout != Duration::max() ? gang.schedule_timeout
                                                    : 1_s * params_.permitWaitingTimeSeconds;
  }
  Memory& remember(GangId gang) {
    if (gang.index >= memory_.size()) memory_.resize(gang.index + size_t{1});
    return memory_[gang.index];
  }
  Memory& remember(const GangView& gang) {
    Memory& memory = remember(gang.id);
    if (memory.created_at != gang.created_at) {
      memory.created_at = gang.created_at;
      memory.permitted_until = Time{-1};
    }
    return memory;
  }
  void release(const PodView& pod) {
    if (pod.id.index >= is_holding_.size() || !is_holding_[pod.id.index]) return;
    is_holding_[pod.id.index] = false;
    memory_[pod.gang.index].held -= pod.spec->requests();
  }
  // Necessary, not sufficient: it adds up what is free on different nodes.
  static bool covers_min_resources(const ClusterState& cluster, const GangView& gang,
                                   const Memory& memory) {
    Resources room = cluster.free_on_up_nodes();
    room += memory.held;
    for (size_t r = 0; r < kResources; ++r) {
      const bool is_pods = r == static_cast<size_t>(Resource::Pods);
      const int64_t needed = is_pods ? gang.min_available : gang.min_resources->amount[r];
      if (room.amount[r] < needed) return false;
    }
    return true;
  }
  void copy_waiting(GangId gang) {
    const auto waiting = handle_.waiting_pods(gang);
    scratch_.assign(waiting.begin(), waiting.end());
  }
  // Each rejection comes back through unreserve(), which must not start over.
  void reject_all(GangId gang, std::string_view why) {
    const GangId outer = rejecting_;
    rejecting_ = gang;
    copy_waiting(gang);
    const std::vector<PodId> waiting = std::move(scratch_);
    for (const PodId pod : waiting) handle_.reject_waiting(pod, why);
    rejecting_ = outer;
  }

  Handle& handle_;
  const Params params_;
  std::vector<Memory> memory_;    // by GangId
  std::vector<bool> is_holding_;  // by PodId
  std::vector<PodId> scratch_;
  GangId rejecting_;
};
ORRERY_REGISTER_POLICY(Coscheduling, "Coscheduling",
                       "Gangs that gather in Permit, holding nodes while they wait.");

}  // namespace
}  // namespace orrery
