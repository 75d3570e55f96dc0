// Suspends small gangs, which then start elsewhere, so that a large gang gets room.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/feasibility/room_table.hpp"
#include "sim/core/int128.hpp"

namespace orrery {
namespace {

struct GangDefragmenterParams {
  static constexpr std::string_view kDoc = "Limits on the suspension of small gangs.";
  Duration wait_limit = 30_min;
  int32_t gpus_min = 16;
  int32_t moved_max = 32;
  bool may_wait = false;
  Duration give_up_after = 30_min;
  Duration retry_after = 10_min;

  template <class V>
  void fields(V& v) {
    v("wait_limit", wait_limit, "The policy makes room for a gang that has waited for this time.",
      Range{1_s, 240_h}, Source{"estimate"});
    v("gpus_min", gpus_min, "The policy makes room only for gangs with at least this many GPUs.",
      Range{1, 10'000'000}, Unit{"GPU"}, Source{"estimate: two nodes of eight"});
    v("moved_max", moved_max, "Limit on the gangs that are suspended for one large gang.",
      Range{1, 100'000}, Unit{"gangs"}, Source{"estimate"});
    v("may_wait", may_wait,
      "true: gangs are suspended even if no other nodes have room for them. These gangs then wait "
      "for room.");
    v("give_up_after", give_up_after,
      "The suspended gangs are resumed when the large gang starts, at the latest after this time.",
      Range{1_s, 240_h}, Source{"estimate"});
    v("retry_after", retry_after, "Minimum time between two searches for gangs to suspend.",
      Range{1_s, 240_h}, Source{"estimate"});
  }
};

// A gang that may be suspended.
struct SmallGang {
  JobId job;
  uint64_t serial = 0;
  int128_t lost = 0;  // GPU time that the suspension loses
  int32_t gpus = 0;
  std::vector<PodId> pods = {};  // pods with a node
};

// Frees nodes, the cheapest node first, until the large gang fits. Freeing a node suspends all
// small gangs with a pod there. The gain of a node is how many more pods of the large gang fit once
// the node is freed. The cost of a node is the GPU time that the small gangs on it lose, divided by
// the gain. Example: 2 gangs lose 40 GPU min in all and 4 more pods fit: the cost is 10 GPU min per
// pod. Of nodes with equal cost, those with the fewest small gangs per additional pod come first.
// At the end, suspensions that are not needed are dropped, the costliest first.
class MovePlan {
 public:
  MovePlan(const ControlBoard& board, std::vector<SmallGang> gangs, std::vector<PodNeed> needs)
      : placements_{board.placements()},
        rooms_{board.cluster(), board.specs(), false},
        gangs_{std::move(gangs)},
        needs_{std::move(needs)},
        is_chosen_(gangs_.size()) {
    rooms_.take_what_is_taken();
    for (size_t g = 0; g < gangs_.size(); ++g) {
      for (const PodId pod : gangs_[g].pods) {
        Here& here = on_node_[placements_.node_of(pod)];
        if (here.gangs.empty() || here.gangs.back() != g) here.gangs.push_back(g);
        here.pods.push_back(pod);
      }
    }
  }

  bool is_there_room() { return rooms_.fits(needs_); }
  // Returns the indices (in the constructor's `gangs`) of at most `moved_max` gangs to suspend.
  // Without `may_wait`, these gangs must fit on other nodes. Returns an empty list if there is no
  // such plan.
  std::vector<size_t> find(int32_t moved_max, bool may_wait);

 private:
  struct Here {  // small gangs with pods on a node, and these pods
    std::vector<size_t> gangs;
    std::vector<PodId> pods;
  };
  struct Step {  // a node that may be freed
    NodeId node;
    int64_t gangs = 0;
    int128_t lost = 0;
    int64_t gain = 0;  // how many more pods of the large gang then fit
    // Compares `lost` per gained pod, then `gangs` per gained pod. Needs no division.
    bool is_cheaper_than(const Step& other) const {
      if (lost * other.gain != other.lost * gain) return lost * other.gain < other.lost * gain;
      return gangs * other.gain < other.gangs * gain;
    }
  };
  int64_t fitting() {  // pods of the large gang that fit; each spec as if it were alone
    int64_t pods = 0;
    for (const PodNeed& need : needs_) pods += std::min(need.pods, rooms_.slots(need.spec));
    return pods;
  }
  void lift(PodId pod, bool is_away) {
    const Placed& at = placements_.of(pod);
    is_away ? rooms_.take_away(at.node, at.spec, at.grant.gpus)
            : rooms_.put_again(at.node, at.spec, at.grant.gpus);
  }
  void move(size_t gang, bool is_away) {
    for (const PodId pod : gangs_[gang].pods) lift(pod, is_away);
    is_chosen_[gang] = is_away;
  }
  void set_away(const std::vector<size_t>& gangs, bool is_away) {
    for (const size_t gang : gangs) move(gang, is_away);
  }
  std::vector<size_t> unmoved_on(NodeId node) const;
  bool can_help();
  void clear_nodes();
  void put_back_unneeded();
  bool fit_all(const std::vector<size_t>& chosen);

  const Placements& placements_;
  RoomTable rooms_;
  std::vector<SmallGang> gangs_;
  std::vector<PodNeed> needs_;
  std::vector<bool> is_chosen_;
  std::map<NodeId, Here> on_node_;
};

std::vector<size_t> MovePlan::unmoved_on(NodeId node) const {
  std::vector<size_t> gangs = on_node_.at(node).gangs;
  std::erase_if(gangs, [&](size_t gang) { return is_chosen_[gang]; });
  return gangs;
}

// Whether the large gang would fit if all small gangs were suspended.
bool MovePlan::can_help() {
  std::vector<size_t> all(gangs_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  set_away(all, true);
  const bool is_room = rooms_.fits(needs_);
  set_away(all, false);
  return is_room;
}

void MovePlan::clear_nodes() {
  std::vector<Step> steps;
  const int64_t now = fitting();
  for (const auto& [node, here] : on_node_) {
    Step step{.node = node, .gangs = std::ssize(here.gangs)};
    for (const size_t gang : here.gangs) step.lost += gangs_[gang].lost;
    for (const PodId pod : here.pods) lift(pod, true);
    step.gain = fitting() - now;
    for (const PodId pod : here.pods) lift(pod, false);
    if (step.gain > 0) steps.push_back(step);
  }
  std::ranges::stable_sort(steps,
                           [](const Step& a, const Step& b) { return a.is_cheaper_than(b); });
  for (const Step& step : steps) {
    if (rooms_.fits(needs_)) return;
    const int64_t before = fitting();
    const std::vector<size_t> gangs = unmoved_on(step.node);
    set_away(gangs, true);
    if (fitting() == before) set_away(gangs, false);
  }
}

void MovePlan::put_back_unneeded() {
  std::vector<size_t> chosen;
  for (size_t g = 0; g < gangs_.size(); ++g) {
    if (is_chosen_[g]) chosen.push_back(g);
  }
  std::ranges::sort(chosen, std::greater{}, [&](size_t g) {
    return std::tuple{gangs_[g].lost, gangs_[g].gpus, gangs_[g].serial};
  });
  for (const size_t gang : chosen) {
    move(gang, false);
    if (!rooms_.fits(needs_)) move(gang, true);
  }
}

// Whether the large gang and the `chosen` gangs can all be placed after the chosen gangs have freed
// their resources.
bool MovePlan::fit_all(const std::vector<size_t>& chosen) {
  std::vector<PodNeed> all = needs_;
  for (const size_t gang : chosen) {
    for (const PodId pod : gangs_[gang].pods) {
      const SpecId spec = placements_.of(pod).spec;
      const auto at = std::ranges::find(all, spec, &PodNeed::spec);
      at == all.end() ? void(all.push_back({spec, 1})) : void(++at->pods);
    }
  }
  return rooms_.fits(all);
}

std::vector<size_t> MovePlan::find(int32_t moved_max, bool may_wait) {
  if (!can_help()) return {};
  clear_nodes();
  if (!rooms_.fits(needs_)) return {};
  put_back_unneeded();
  std::vector<size_t> chosen;
  for (size_t g = 0; g < gangs_.size(); ++g) {
    if (is_chosen_[g]) chosen.push_back(g);
  }
  if (std::ssize(chosen) > moved_max) return {};
  return may_wait || fit_all(chosen) ? chosen : std::vector<size_t>{};
}

// One large gang is helped at a time. Gangs that were never helped come first, the longest wait
// first; then the gangs whose last help was longest ago. If there is no plan for a gang, the next
// gang is tried. Gangs that a job queue holds are not helped. Only running gangs of the same or a
// lower priority and with fewer GPUs are suspended. Suspended gangs are resumed once the large gang
// has started, or after give_up_after. Example: four nodes of 8 GPUs, on each a gang of one pod
// with 4 GPUs. A gang of two pods with 8 GPUs each waits: 16 GPUs are free, but no whole node.
// After 30 min two small gangs are suspended: those that lose the least GPU time, say 4 GPUs x 5
// min and 4 GPUs x 8 min. The large gang gets their nodes, and the two suspended gangs restart
// beside the other two small gangs.
class GangDefragmenter final : public Policy, public Controller {
 public:
  using Params = GangDefragmenterParams;
  GangDefragmenter(const ControlBoard& /*board*/, const Params& params) : params_{params} {}

  void tick(const ControlBoard& board, Actions& actions) override {
    if (help_) go_on(board, actions);
    if (!help_ && next_search(board) <= board.now()) search(board, actions);
    if (!help_) actions.idle_until(next_search(board));
  }

 private:
  struct Suspended {
    JobId job;
    uint64_t serial = 0;
    bool was_seen = false;  // a tick saw the job suspended
  };
  struct Help {
    JobId large;
    uint64_t serial = 0;
    Time until;
    std::vector<Suspended> gangs;
    bool is_over = false;
  };
  static constexpr size_t kGangsPerSearch = 8;

  Time next_search(const ControlBoard& board) const {
    if (board.waiting().empty()) return Time::max();
    return std::max(next_search_, board.waiting().front().since + params_.wait_limit);
  }
  std::vector<WaitingJob> to_be_helped(const ControlBoard& board);
  void search(const ControlBoard& board, Actions& actions);
  bool begin(const ControlBoard& board, Actions& actions, const WaitingJob& waiting);
  void go_on(const ControlBoard& board, Actions& actions);

  const Params params_;
  std::optional<Help> help_;
  Time next_search_{};
  std::map<uint64_t, Time> helped_;  // by serial: the last time at which a waiting gang was helped
};

std::vector<PodNeed> missing_pods(const ControlBoard& board, const JobView& job) {
  std::vector<PodNeed> needs;
  for (uint32_t i = 0; i < static_cast<uint32_t>(job.pods); ++i) {
    const PodId pod{job.first_pod.index + i};
    if (board.placements().node_of(pod).is_valid()) continue;
    const SpecId spec = board.pod(pod).spec_id;
    const auto at = std::ranges::find(needs, spec, &PodNeed::spec);
    at == needs.end() ? void(needs.push_back({spec, 1})) : void(++at->pods);
  }
  return needs;
}

// Whether the free resources of all up nodes together suffice for the large gang's missing pods.
// A plan without `may_wait` needs this: it only moves small gangs to other nodes, so the sum of
// free resources stays the same.
bool is_enough_free(const ControlBoard& board, const std::vector<PodNeed>& needs) {
  Resources left = board.cluster().free_on_up_nodes();
  for (const PodNeed& need : needs) {
    const Resources& each = board.specs().request(need.spec).resources;
    for (size_t r = 0; r < kResources; ++r) left.amount[r] -= need.pods * each.amount[r];
  }
  return std::ranges::all_of(left.amount, [](int64_t amount) { return amount >= 0; });
}

std::vector<SmallGang> small_gangs(const ControlBoard& board, const JobView& large) {
  std::vector<SmallGang> gangs;
  for (const JobId id : board.jobs()) {
    const JobView job = board.job(id);
    if (!job.is_gang || job.is_service || job.phase != JobPhase::Running) continue;
    if (job.priority > large.priority || job.gpus >= large.gpus) continue;
    const std::span<const PodId> placed = board.placements().of_job(id);
    SmallGang gang{.job = id, .serial = job.serial, .gpus = job.gpus};
    gang.pods.assign(placed.begin(), placed.end());
    if (gang.pods.empty()) continue;
    std::ranges::sort(gang.pods);
    if (!job.has_checkpoints) {
      gang.lost = int128_t{board.unsaved(gang.pods.front()).ns} * job.gpus;
    }
    gangs.push_back(std::move(gang));
  }
  return gangs;
}

// At most kGangsPerSearch large gangs that wait for wait_limit or longer. Gangs that were never
// helped come first, then those whose last help was longest ago.
std::vector<WaitingJob> GangDefragmenter::to_be_helped(const ControlBoard& board) {
  std::vector<std::pair<Time, WaitingJob>> over;
  std::map<uint64_t, Time> helped;
  for (const WaitingJob& waiting : board.waiting()) {
    if (board.now() - waiting.since < params_.wait_limit) break;
    const JobView job = board.job(waiting.job);
    if (!job.is_gang || job.is_suspended || job.gpus < params_.gpus_min) continue;
    if (board.is_held(waiting.job)) continue;
    const auto at = helped_.find(job.serial);
    if (at != helped_.end()) helped.insert(*at);
    over.emplace_back(at != helped_.end() ? at->second : Time{-1}, waiting);
  }
  helped_ = std::move(helped);
  std::ranges::stable_sort(over, {}, &std::pair<Time, WaitingJob>::first);
  if (over.size() > kGangsPerSearch) over.resize(kGangsPerSearch);
  std::vector<WaitingJob> gangs;
  for (const auto& [last, waiting] : over) gangs.push_back(waiting);
  return gangs;
}

void GangDefragmenter::search(const ControlBoard& board, Actions& actions) {
  next_search_ = board.now() + params_.retry_after;
  for (const WaitingJob& waiting : to_be_helped(board)) {
    if (begin(board, actions, waiting)) return;
  }
}

bool GangDefragmenter::begin(const ControlBoard& board, Actions& actions,
                             const WaitingJob& waiting) {
  const JobView large = board.job(waiting.job);
  const std::vector<PodNeed> needs = missing_pods(board, large);
  if (needs.empty() || board.pod(large.first_pod).nodes != nullptr) return false;
  if (!params_.may_wait && !is_enough_free(board, needs)) return false;
  const std::vector<SmallGang> gangs = small_gangs(board, large);
  if (gangs.empty()) return false;
  MovePlan plan{board, gangs, needs};
  if (plan.is_there_room()) return false;  // the gang waits for another reason than room
  const std::vector<size_t> chosen = plan.find(params_.moved_max, params_.may_wait);
  if (chosen.empty()) return false;
  const auto minutes = (board.now() - waiting.since).ns / Duration{1_min}.ns;
  const std::string why = "makes room for job " + std::to_string(large.serial) +
                          ", which waits for " + std::to_string(minutes) + " min";
  help_ = {.large = large.id,
           .serial = large.serial,
           .until = board.now() + params_.give_up_after,
           .gangs = {}};
  for (const size_t at : chosen) {
    help_->gangs.push_back({.job = gangs[at].job, .serial = gangs[at].serial});
    actions.give(SuspendJob{gangs[at].job}, why);
  }
  helped_[large.serial] = board.now();
  actions.wake_at(help_->until);
  return true;
}

// A suspended gang cannot be resumed while it still writes its checkpoint, so ResumeJob is repeated
// at each tick.
void GangDefragmenter::go_on(const ControlBoard& board, Actions& actions) {
  Help& help = *help_;
  const bool is_late = board.now() >= help.until;
  const JobView large = board.job(help.large);
  const bool has_started = large.serial != help.serial || large.phase != JobPhase::Pending;
  help.is_over = help.is_over || is_late || has_started;
  const std::string why = has_started ? "the gang it made room for has started"
                                      : "the gang it made room for did not start";
  std::erase_if(help.gangs, [&](Suspended& gang) {
    const JobView job = board.job(gang.job);
    if (job.serial != gang.serial || is_over(job.phase)) return true;
    if (!job.is_suspended) {  // the job runs, perhaps because the request is still under way
      return gang.was_seen || is_late || job.phase == JobPhase::Pending;
    }
    gang.was_seen = true;
    if (help.is_over) actions.give(ResumeJob{gang.job}, why);
    return false;
  });
  if (help.gangs.empty()) return help_.reset();
  if (!is_late) actions.wake_at(help.until);
}
ORRERY_REGISTER_POLICY(GangDefragmenter, "GangDefragmenter",
                       "Makes room for a large gang that has waited for long: small gangs are "
                       "suspended and start on other nodes.");

}  // namespace
}  // namespace orrery
