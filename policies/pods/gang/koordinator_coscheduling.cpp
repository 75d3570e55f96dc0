// Gang groups, like Koordinator's Coscheduling: all gangs of a job start together or not at all.
// PrioritySort orders the queue, as in Koordinator's default configuration, and may interleave the
// members of two groups. NextPod overrides that order, so that one group is tried at a time.
//
// A round is an attempt to place one group. The round opens when a member of the group passes
// PreFilter. From then on NextPod names the other members, until every gang has its minimum (then
// all waiting members are bound) or each member was tried once (then all waiting members are
// rejected). After the first member without a node, PreFilter rejects the members that follow. So
// no group waits in Permit while another group is tried.
//
// Koordinator also gates all but one pending member of a group. This saves work in Koordinator's
// queue. It would change no decision here, because NextPod takes members from any queue.
#include <array>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

enum class Mode : uint8_t { Strict, NonStrict };
constexpr std::array<std::string_view, 2> enum_names(Mode) { return {"Strict", "NonStrict"}; }
enum class MatchPolicy : uint8_t { OnlyWaiting, WaitingAndRunning, OnceSatisfied };
constexpr std::array<std::string_view, 3> enum_names(MatchPolicy) {
  return {"only-waiting", "waiting-and-running", "once-satisfied"};
}

constexpr Status unresolvable(std::string_view why) {
  return {Code::UnschedulableAndUnresolvable, why};
}

class KoordinatorCoscheduling final : public Policy,
                                      public PreEnqueue,
                                      public NextPod,
                                      public PreFilter,
                                      public PostFilter,
                                      public Reserve,
                                      public Permit,
                                      public PostBind,
                                      public EventHints {
 public:
  struct Params {
    Duration defaultTimeout = 10_min;
    Mode mode = Mode::Strict;
    MatchPolicy matchPolicy = MatchPolicy::OnceSatisfied;
    template <class V>
    void fields(V& v) {
      v("defaultTimeout", defaultTimeout,
        "How long a member with a node waits in Permit for the rest of the group; the framework "
        "caps it at 15 min. A gang's own schedule timeout takes precedence.",
        Range{1_s, 24_h}, Source{"koordinator a7a1b76b"});
      v("mode", mode,
        "What happens to waiting members when a member finds no node or loses its reservation. "
        "Strict: they are rejected at once. NonStrict: they keep their nodes until every member "
        "was tried. Upstream this is an annotation of each gang.",
        Source{"koordinator a7a1b76b"});
      v("matchPolicy", matchPolicy,
        "Which members count towards a gang's minimum. only-waiting: members that have a node and "
        "are not bound yet; waiting-and-running: also bound members; once-satisfied: as "
        "only-waiting until a pod of the group is bound; after that, no minimum applies. Upstream "
        "this is an annotation of each gang.",
        Source{"koordinator a7a1b76b"});
    }
  };
  static constexpr Traits kTraits = Trait::WaitsInPermit | Trait::RetriesInPermit;
  KoordinatorCoscheduling(Handle& handle, const Params& params)
      : handle_{handle}, params_{params}, has_run_{handle} {}

  Status pre_enqueue(const PodView& pod) override {
    if (!pod.gang.is_valid()) return {};
    return check_members(handle_.gang(pod.gang));
  }

  PodId next() override {
    if (!round_.is_open) return {};
    const GangView group = handle_.gang(round_.group);
    if (group.job_uid == round_.job_uid) {
      while (round_.next < round_.members.size()) {
        const PodId pod = round_.members[round_.next++];
        if (pod != round_.opener) return pod;
      }
      reject(group, "every pending pod of the gang group was tried");
    }
    round_.is_open = false;
    return {};
  }

  Status pre_filter(const Cycle& cycle, NodeSet& /*nodes*/) const override {
    if (!cycle.pod.gang.is_valid()) return {};
    const GangView gang = handle_.gang(cycle.pod.gang);
    if (const Status status = check_members(gang); !status.ok() || is_free(gang)) return status;
    if (!round_.is_open) {
      cycle.state.of<OpensRound>(*this);
    } else if (round_.has_failed && round_.group == gang.first_of_job) {
      return unresolvable("another member of the gang group has no node");
    }
    return {};
  }

  Status post_filter(const Cycle& cycle, const Diagnosis& /*diagnosis*/) override {
    if (!cycle.pod.gang.is_valid()) return {Code::Unschedulable, "pod is in no gang"};
    const GangView gang = handle_.gang(cycle.pod.gang);
    if (!gang.id.is_valid()) return {Code::Unschedulable, "gang not found"};
    open_round_if_due(cycle);
    if (is_free(gang)) return {Code::Unschedulable, "the gang group has run before"};
    if (round_.is_open && round_.group == gang.first_of_job) round_.has_failed = true;
    if (params_.mode == Mode::NonStrict) return {Code::Unschedulable, "other members keep waiting"};
    reject(gang, "a member of the gang group fits nowhere");
    return {Code::Unschedulable, "the gang group is rejected because this pod fits on no node"};
  }
  bool reads_candidates(const PodView& /*pod*/) const override { return false; }

  Status reserve(const Cycle& cycle, NodeId /*node*/) override {
    open_round_if_due(cycle);
    return {};
  }
  void unreserve(const PodView& pod, NodeId /*node*/) override {
    if (!pod.gang.is_valid() || params_.mode == Mode::NonStrict) return;
    const GangView gang = handle_.gang(pod.gang);
    if (!gang.id.is_valid() || is_free(gang)) return;
    reject(gang, "a member of the gang group gave up its node");
  }

  PermitStatus permit(const Cycle& cycle, NodeId /*node*/) override {
    if (!cycle.pod.gang.is_valid()) return {};
    const GangView gang = handle_.gang(cycle.pod.gang);
    if (!gang.id.is_valid()) return {Code::Unschedulable, {}, "gang not found"};
    bool is_complete = true;
    for_each_gang(gang, [&](const GangView& member) {
      is_complete &= has_minimum(member, member.id == gang.id ? 1 : 0);
    });
    if (!is_complete) {
      const bool has_own = gang.schedule_timeout != Duration::max();
      return {Code::Wait, has_own ? gang.schedule_timeout : params_.defaultTimeout,
              "waits for the rest of the gang group"};
    }
    round_.is_open = false;
    for_each_gang(gang, [&](const GangView& member) {
      for (const PodId pod : handle_.waiting_pods(member.id)) handle_.allow_waiting(pod);
    });
    return {};
  }

  // Marks the group as one that has run. The mark is never removed, as on upstream's PodGroup. So
  // if matchPolicy is once-satisfied, the recreated pods of a restarted job are placed one by one.
  void post_bind(const PodView& pod, NodeId /*node*/) override {
    if (!pod.gang.is_valid()) return;
    const GangView gang = handle_.gang(pod.gang);
    if (!gang.id.is_valid()) return;
    has_run_[gang.first_of_job] = 1;
  }

  ClusterEvents events() const override { return bit_of(ClusterEventKind::UnscheduledPodAdded); }
  QueueHint hint(const PodView& pod, const ClusterEvent& event) const override {
    const bool is_sibling =
        pod.gang.is_valid() && event.gang.is_valid() && handle_.gang(event.gang).job == pod.job;
    return is_sibling ? QueueHint::Queue : QueueHint::Skip;
  }

 private:
  struct OpensRound : CycleData {};
  struct Round {
    bool is_open = false;
    bool has_failed = false;
    GangId group;  // first gang of the group
    uint64_t job_uid = 0;
    PodId opener;
    std::vector<PodId> members;
    size_t next = 0;
  };

  template <class F>
  void for_each_gang(const GangView& gang, F&& f) const {
    for (uint32_t i = 0; i < static_cast<uint32_t>(gang.gangs_of_job); ++i) {
      f(handle_.gang({gang.first_of_job.index + i}));
    }
  }
  // Whether the group has no minimum any more, because once-satisfied is set and a pod of the group
  // was bound.
  bool is_free(const GangView& gang) const {
    return params_.matchPolicy == MatchPolicy::OnceSatisfied && has_run_.at(gang.first_of_job) != 0;
  }
  Status check_members(const GangView& gang) const {
    if (!gang.id.is_valid()) return unresolvable("gang not found");
    if (is_free(gang)) return {};
    bool are_there = true;
    for_each_gang(gang, [&](const GangView& member) { are_there &= member.are_enough_created(); });
    if (are_there) return {};
    return unresolvable("a gang of the group has fewer pods than its minimum");
  }
  bool has_minimum(const GangView& gang, int32_t asked) const {
    if (is_free(gang)) return true;
    if (params_.matchPolicy == MatchPolicy::WaitingAndRunning) return gang.missing(asked) == 0;
    const int32_t unbound = gang.waiting + gang.binding + asked;
    return unbound >= gang.min_available && gang.roles_missing.unbound == 0;
  }
  // PreFilter is const, so the round opens at PostFilter or Reserve.
  void open_round_if_due(const Cycle& cycle) {
    if (round_.is_open || cycle.state.find<OpensRound>(*this) == nullptr) return;
    open_round(cycle.pod.id, handle_.gang(cycle.pod.gang));
  }
  void open_round(PodId opener, const GangView& gang) {
    round_.is_open = true;
    round_.has_failed = false;
    round_.group = gang.first_of_job;
    round_.job_uid = gang.job_uid;
    round_.opener = opener;
    round_.next = 0;
    round_.members.clear();
    for_each_gang(gang, [&](const GangView& member) {
      for (uint32_t i = 0; i < static_cast<uint32_t>(member.pods); ++i) {
        round_.members.push_back({member.first.index + i});
      }
    });
  }
  void reject(const GangView& group, std::string_view why) {
    handle_.reject_gangs(group.first_of_job, group.gangs_of_job, why);
  }

  Handle& handle_;
  const Params params_;
  Round round_;
  GangMap<uint8_t> has_run_;  // by a group's first gang: whether a pod of the group was bound
};
ORRERY_REGISTER_POLICY(KoordinatorCoscheduling, "KoordinatorCoscheduling",
                       "Gang scheduling of Koordinator: the gangs of a job form a group. Pods of "
                       "the group keep their nodes only if every gang of the group gets its "
                       "minimum.");

}  // namespace
}  // namespace orrery
