// Makes room for gangs that are placed as a whole. A victim has a lower priority, and is a whole
// gang or a pod without a gang.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "models/facts/fact.hpp"
#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/core/int128.hpp"

namespace orrery {
namespace {

constexpr Status kNothingLower{Code::Unschedulable, "no gang of lower priority is there"};
constexpr Status kVictimsEnd{Code::Unschedulable, "victims that make room have not ended yet"};
constexpr Status kNoHelp{Code::Unschedulable, "no preemption of whole gangs would help"};
constexpr Status kHasQuorum{Code::Unschedulable, "enough of the gang have nodes"};
constexpr Status kMayNot{Code::Unschedulable, "its preemption policy is never"};

enum class VictimOrder : uint8_t { Fewest, Volcano, Kueue };
constexpr std::array<std::string_view, 3> enum_names(VictimOrder) {
  return {"fewest", "volcano", "kueue"};
}

// A victim is a unit: all placed pods of a job's gangs, or one pod without a gang. Example of
// `order: fewest`: 16 GPUs are requested and none is idle. Units A, B and C of lower priority hold
// 8, 16 and 16 GPUs and lose 1, 40 and 30 GPU hours. C is the only victim: one victim is fewer than
// two, and B would lose more.
//
// `fewest` tries each unit alone. Then it tries all pairs, all triples and so on, while there are
// at most 100 choices of a size: pairs of up to 14 units, triples of up to 9. Choices of one size
// are tried in the order of their losses, so the first choice that makes room is the best. If no
// choice makes room, the largest units are chosen until the preemptor fits. Then each victim, the
// costliest first, is exchanged for the cheapest unit that loses less and also makes room. Example
// of the exchange: 24 GPUs are requested. Of 20 units, two hold 16 GPUs and 18 hold 8. There are
// 190 pairs, so the two large units are chosen. The costlier of them is exchanged for a small unit
// that loses less. If the preemptor and the units use whole nodes of one kind, the number of
// victims is minimal: with one unit fewer, even the largest units do not free enough GPUs.
// Otherwise there may be more victims than the minimum.
class GangPreemption final : public Policy, public PreEnqueue, public PostFilter {
 public:
  struct Params {
    VictimOrder order = VictimOrder::Fewest;
    int32_t trials_max = 1000;
    Duration per_pod{430};
    template <class V>
    void fields(V& v) {
      v("order", order,
        "Which gangs become victims. fewest: as few gangs as possible; of equally small sets, the "
        "one that loses the least GPU time. With few gangs, the search is exact. With many, the "
        "largest gangs are chosen, and then exchanged for gangs that lose less. "
        "volcano: lower priority first, then the gang created last. "
        "kueue: gangs with terminating pods first, then gangs of other teams, then lower "
        "priority, then the gang placed last. With each order, victims that turn out not to be "
        "needed are spared.",
        Source{"volcano ed72c7c8, preempt action; kueue ff69552e, CandidatesOrdering"});
      v("trials_max", trials_max,
        "Limit on the trial placements of one attempt. Once this limit is reached, the victims "
        "found so far are taken.",
        Range{50, 1'000'000}, Source{"assumed"});
      v("per_pod", per_pod,
        "Scheduler time for each placed pod of lower priority. In addition, each trial placement "
        "takes as long as an attempt to place the gang.",
        Range{Duration{}, 1_s}, Source{"as per_pod of DefaultPreemption"});
    }
  };
  static constexpr Traits kTraits = Trait::PreemptsGangs;
  static constexpr Fact kHeeded = Fact::Priorities;
  GangPreemption(Handle& handle, const Params& params)
      : params_{params}, handle_{handle}, preemption_{handle.preemption()} {}

  // Holds the pods of a gang until enough of them exist. If the gang were tried earlier, it would
  // fail, and stay unschedulable while its other pods are created.
  Status pre_enqueue(const PodView& pod) override {
    if (!pod.gang.is_valid() || handle_.gang(pod.gang).are_enough_created()) return {};
    return {Code::UnschedulableAndUnresolvable, "waiting for pods of the gang to appear"};
  }
  bool reads_candidates(const PodView& /*pod*/) const override { return false; }
  Duration charge(const CycleState& state) const override {
    const auto* const spent = state.find<Cost>(*this);
    return spent == nullptr ? Duration{} : spent->time;
  }

  Status post_filter(const Cycle& cycle, const Diagnosis& /*diagnosis*/) override {
    Duration& spent = cycle.state.of<Cost>(*this).time;
    spent = {};
    const PodView& pod = cycle.pod;
    if (!pod.spec->may_preempt) return give_up(pod, kMayNot);
    if (preemption_ == nullptr || !preemption_->is_above_any(pod.spec->priority)) {
      return give_up(pod, kNothingLower);
    }
    Trial trial{.world = preemption_->gang_what_if(cycle)};
    if (trial.world == nullptr) return give_up(pod, kHasQuorum);
    const Found found = look(cycle);
    spent += params_.per_pod * found.pods;
    const Status status = make_room(cycle, found, trial);
    spent += trial.world->spent();
    return status;
  }

 private:
  struct Cost : CycleData {
    Duration time;
  };
  struct Unit {
    PodId first;
    std::vector<PodId> pods = {};  // pods that are not terminating
    bool is_leaving = false;       // some of its pods are terminating
    bool is_lower = true;          // all of its pods have a lower priority
    int32_t priority = 0;          // the highest priority of its pods
    Time since, created;           // when a pod was last placed; when the first pod was created
    int64_t gpu_milli = 0;
    int128_t lost = 0;  // unsaved GPU time, in milli-GPUs times nanoseconds
    bool is_of_own_team = false;
    uint64_t uid = 0;
  };
  struct Found {
    std::vector<Unit> units;     // possible victims, in order of jobs and pods
    std::vector<PodId> leaving;  // terminating pods, whichever preemptor evicted them
    int64_t pods = 0;            // number of pods of lower priority
  };
  struct Trial {
    std::unique_ptr<GangWhatIf> world;
    int32_t fits_asked = 0;
    // Whether the gang fits with the present evictions; empty: not tried yet.
    std::optional<bool> has_fitted = {};
    bool fits() {
      if (!has_fitted) {
        ++fits_asked;
        has_fitted = world->fits();
      }
      return *has_fitted;
    }
    void evict(const Unit& unit) {
      has_fitted.reset();
      for (const PodId pod : unit.pods) world->evict(pod);
    }
    void restore(const Unit& unit) {
      has_fitted.reset();
      for (const PodId pod : unit.pods) world->restore(pod);
    }
  };
  using Victims = std::vector<const Unit*>;
  static constexpr size_t kChoicesMax = 100;

  // ---- the present pods

  Found look(const Cycle& cycle) const {
    Found found;
    std::map<std::pair<JobId, PodId>, Unit> units;
    std::vector<PlacedPod> placed;
    cycle.cluster.up().for_each([&](NodeId node) { preemption_->placed_on(node, placed); });
    for (const PlacedPod& p : placed) {
      const PodView pod = handle_.pod(p.id);
      if (p.is_leaving) found.leaving.push_back(p.id);
      Unit& unit = units[{pod.job, pod.gang.is_valid() ? PodId{} : p.id}];
      if (!unit.first.is_valid()) {
        unit.first = p.id;
        unit.priority = p.priority;
        unit.created = pod.created;
      }
      add(unit, p, pod, cycle.pod);
      found.pods += p.priority < cycle.pod.spec->priority ? 1 : 0;
    }
    for (auto& [key, unit] : units) {
      if (unit.is_lower && !unit.pods.empty()) found.units.push_back(std::move(unit));
    }
    return found;
  }
  void add(Unit& unit, const PlacedPod& p, const PodView& pod, const PodView& preemptor) const {
    unit.is_lower = unit.is_lower && p.priority < preemptor.spec->priority;
    unit.is_leaving = unit.is_leaving || p.is_leaving;
    unit.priority = std::max(unit.priority, p.priority);
    unit.since = std::max(unit.since, p.since);
    unit.created = std::min(unit.created, pod.created);
    unit.is_of_own_team = pod.team == preemptor.team;
    unit.uid = pod.job_uid;
    if (p.is_leaving) return;
    unit.pods.push_back(p.id);
    const int64_t milli = int64_t{pod.spec->gpus} * pod.spec->gpu_milli;
    unit.gpu_milli += milli;
    unit.lost += int128_t{milli} * preemption_->unsaved(p.id).ns;
  }

  // ---- the choice of victims

  Status make_room(const Cycle& cycle, const Found& found, Trial& trial) {
    for (const PodId pod : found.leaving) trial.world->evict(pod);
    if (!found.leaving.empty() && trial.fits()) {
      nominate(cycle.pod, trial.world->placed());
      return kVictimsEnd;
    }
    if (found.units.empty()) return give_up(cycle.pod, kNothingLower);
    Victims victims = choose(found.units, trial);
    if (victims.empty() || !trial.fits()) return give_up(cycle.pod, kNoHelp);
    nominate(cycle.pod, trial.world->placed());
    std::vector<PodId> pods;
    for (const Unit* const unit : victims) {
      pods.insert(pods.end(), unit->pods.begin(), unit->pods.end());
    }
    handle_.evict(cycle.pod.id, std::move(pods), false);
    return {};
  }

  // Returns the victims, which stay evicted in the trial. Returns no victims if the gang does not
  // fit even when every unit is evicted.
  Victims choose(const std::vector<Unit>& units, Trial& trial) const {
    Victims all;
    for (const Unit& unit : units) all.push_back(&unit);
    for (const Unit* const unit : all) trial.evict(*unit);
    if (!trial.fits()) return {};
    std::ranges::sort(all, [&](const Unit* a, const Unit* b) { return goes_before(*a, *b); });
    Victims victims = shortest_prefix(all, trial);
    if (params_.order != VictimOrder::Fewest) {
      // Like Kueue, tries to spare victims from the last but one to the first. The last victim is
      // needed: the gang did not fit when only the other victims were evicted.
      const Victims later_first{victims.rbegin() + 1, victims.rend()};
      spare(later_first, victims, trial);
      return victims;
    }
    Victims costly_first = by_loss(victims);
    std::ranges::reverse(costly_first);
    spare(costly_first, victims, trial);
    const Victims cheap_first = by_loss(all);
    for (size_t k = 1; k <= victims.size() && are_few_choices(all.size(), k); ++k) {
      if (take_best_of(k, cheap_first, victims, trial)) return victims;
    }
    exchange(cheap_first, victims, trial);
    return victims;
  }

  bool goes_before(const Unit& a, const Unit& b) const {
    const auto key = [&](const Unit& unit) {
      using Key = std::tuple<bool, bool, int64_t, int128_t, uint64_t, PodId>;
      switch (params_.order) {
        case VictimOrder::Volcano:
          return Key{false, false, unit.priority, -unit.created.ns, ~unit.uid, unit.first};
        case VictimOrder::Kueue:
          return Key{!unit.is_leaving, unit.is_of_own_team, unit.priority, -unit.since.ns,
                     unit.uid,         unit.first};
        case VictimOrder::Fewest:
          break;
      }
      return Key{false, false, -unit.gpu_milli, unit.lost, unit.uid, unit.first};
    };
    return key(a) < key(b);
  }
  static Victims by_loss(Victims units) {
    std::ranges::stable_sort(units, {}, [](const Unit* unit) { return unit->lost; });
    return units;
  }

  // Call this with all units evicted. Restores all units except the shortest prefix whose eviction
  // makes room for the gang. Bisection works because a longer prefix leaves more room.
  static Victims shortest_prefix(const Victims& all, Trial& trial) {
    size_t too_few = 0, enough = all.size(), evicted = all.size();
    while (enough - too_few > 1) {
      const size_t middle = too_few + (enough - too_few) / 2;
      for (; evicted > middle; --evicted) trial.restore(*all[evicted - 1]);
      for (; evicted < middle; ++evicted) trial.evict(*all[evicted]);
      (trial.fits() ? enough : too_few) = middle;
    }
    for (; evicted > enough; --evicted) trial.restore(*all[evicted - 1]);
    for (; evicted < enough; ++evicted) trial.evict(*all[evicted]);
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(enough)};
  }

  // Spares victims: restores them one after the other, in the order of `in_turn`. A victim stays
  // restored if the gang still fits.
  void spare(const Victims& in_turn, Victims& victims, Trial& trial) const {
    for (const Unit* const unit : in_turn) {
      if (victims.size() == 1 || trial.fits_asked >= params_.trials_max) return;
      trial.restore(*unit);
      if (trial.fits()) {
        std::erase(victims, unit);
      } else {
        trial.evict(*unit);
      }
    }
  }

  static bool are_few_choices(size_t units, size_t k) {
    size_t choices = 1;
    for (size_t i = 0; i < k && choices <= kChoicesMax; ++i) {
      choices = choices * (units - i) / (i + 1);
    }
    return k == 1 || choices <= kChoicesMax;
  }
  static std::vector<Victims> choices_of(size_t k, const Victims& units) {
    std::vector<Victims> choices;
    std::vector<bool> is_in(units.size());
    std::fill_n(is_in.begin(), k, true);
    do {
      Victims& choice = choices.emplace_back();
      for (size_t i = 0; i < units.size(); ++i) {
        if (is_in[i]) choice.push_back(units[i]);
      }
    } while (std::prev_permutation(is_in.begin(), is_in.end()));
    std::ranges::stable_sort(choices, {}, [](const Victims& choice) {
      int128_t lost = 0;
      for (const Unit* const unit : choice) lost += unit->lost;
      return lost;
    });
    return choices;
  }
  // Tries all sets of k units, the set with the least total loss first. Replaces `victims` with the
  // first set whose eviction makes room for the gang. Returns false if there is no such set, or
  // after too many trials.
  bool take_best_of(size_t k, const Victims& units, Victims& victims, Trial& trial) const {
    for (const Unit* const unit : victims) trial.restore(*unit);
    for (const Victims& choice : choices_of(k, units)) {
      if (trial.fits_asked >= params_.trials_max) break;
      for (const Unit* const unit : choice) trial.evict(*unit);
      if (trial.fits()) {
        victims = choice;
        return true;
      }
      for (const Unit* const unit : choice) trial.restore(*unit);
    }
    for (const Unit* const unit : victims) trial.evict(*unit);
    return false;
  }

  // Exchanges victims, the costliest first, for units that lose less and whose eviction also makes
  // room for the gang.
  void exchange(const Victims& cheap_first, Victims& victims, Trial& trial) const {
    Victims costly_first = by_loss(victims);
    std::ranges::reverse(costly_first);
    for (const Unit* const costly : costly_first) {
      for (const Unit* const cheaper : cheap_first) {
        if (cheaper->lost >= costly->lost || trial.fits_asked >= params_.trials_max) break;
        if (std::ranges::find(victims, cheaper) != victims.end()) continue;
        trial.restore(*costly);
        trial.evict(*cheaper);
        if (trial.fits()) {
          std::ranges::replace(victims, costly, cheaper);
          break;
        }
        trial.restore(*cheaper);
        trial.evict(*costly);
      }
    }
  }

  // ---- nominations

  template <class F>
  void for_each_member(const PodView& pod, F&& f) const {
    if (!pod.gang.is_valid()) return f(pod.id);
    const GangView gang = handle_.gang(pod.gang);
    for (uint32_t i = 0; i < static_cast<uint32_t>(gang.pods); ++i) f(PodId{gang.first.index + i});
  }
  void withdraw_all(const PodView& pod) {
    for_each_member(pod, [&](PodId member) {
      if (preemption_->nominated_node(member).is_valid()) handle_.withdraw(member);
    });
  }
  Status give_up(const PodView& pod, Status why) {
    if (preemption_ != nullptr) withdraw_all(pod);
    return why;
  }
  // Nominates the members to the nodes where the trial placed them. Pods and gangs of lower
  // priority that have a nomination to one of these nodes lose all their nominations.
  void nominate(const PodView& pod, std::span<const MemberOnNode> placed) {
    std::vector<PodId> there;
    for (const MemberOnNode& member : placed) preemption_->nominated_on(member.node, there);
    for (const PodId other : there) {
      const PodView view = handle_.pod(other);
      if (view.spec->priority < pod.spec->priority) withdraw_all(view);
    }
    for_each_member(pod, [&](PodId id) {
      const auto member = std::ranges::find(placed, id, &MemberOnNode::pod);
      const NodeId before = preemption_->nominated_node(id);
      if (member == placed.end()) {
        if (before.is_valid()) handle_.withdraw(id);
      } else if (before != member->node) {
        handle_.nominate(id, member->node, true);
      }
    });
  }

  Params params_;
  Handle& handle_;
  const Preemption* preemption_;  // null with driver: counting
};
ORRERY_REGISTER_POLICY(GangPreemption, "GangPreemption",
                       "Preempts whole gangs of lower priority for a gang that does not fit.");

}  // namespace
}  // namespace orrery
