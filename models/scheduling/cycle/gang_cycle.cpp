#include "models/scheduling/cycle/gang_cycle.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "models/scheduling/framework/plugin_bits.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

class CommandsPaused {
 public:
  explicit CommandsPaused(Framework& framework) : framework_{framework} {
    framework.pause_commands();
  }
  CommandsPaused(const CommandsPaused&) = delete;
  CommandsPaused& operator=(const CommandsPaused&) = delete;
  ~CommandsPaused() noexcept(false) {
    if (std::uncaught_exceptions() == 0) framework_.resume_commands();
  }

 private:
  Framework& framework_;
};

}  // namespace

// Collects the members without a node and counts the attempt, in one pass over the gang's pods.
// Most attempts fail, so this must be cheap.
GangCycle::Members GangCycle::begin(PodId unit, GangId gang, int64_t counts) {
  Members members;
  const auto add = [&](PodId id) {
    Pod& pod = context_.jobs.pod(id);
    pod.attempts += counts;
    if (members.pods.empty()) members.spec = pod.spec;
    members.are_alike &= pod.spec == members.spec;
    members.pods.push_back(id);
  };
  if (!gang.is_valid()) {
    add(unit);
    return members;
  }
  const Gang& g = context_.jobs.gang(gang);
  const GangTrack& track = context_.tracks.of(gang);
  const bool are_all_queued = track.pending == g.pods && track.assumed == 0;
  members.pods.reserve(static_cast<size_t>(g.pods));
  JobTable::for_each_pod(g.first, g.pods, [&](PodId pod) {
    if (are_all_queued || context_.tracks.stage(pod) == PodStage::Queued) {
      add(pod);
    } else {
      members.do_others_leave |= context_.evictions.is_leaving(pod);
    }
  });
  if (g.has_role_minimums) members.pods = needed_first(g, members.pods);
  return members;
}

// Orders the members: first the pods that the roles need to reach their minimums, then the other
// pods. In another order, the other pods might take the last free nodes.
std::vector<PodId> GangCycle::needed_first(const Gang& gang,
                                           const std::vector<PodId>& members) const {
  std::vector<int32_t> lacking;
  for (uint32_t r = 0; r < static_cast<uint32_t>(gang.roles); ++r) {
    lacking.push_back(context_.tracks.missing({gang.first_role.index + r}));
  }
  std::vector<PodId> ordered, others;
  for (const PodId member : members) {
    int32_t& of_role = lacking[context_.jobs.pod(member).role.index - gang.first_role.index];
    (of_role-- > 0 ? ordered : others).push_back(member);
  }
  ordered.insert(ordered.end(), others.begin(), others.end());
  return ordered;
}

GangView GangCycle::view_of(PodId unit, GangId gang) const {
  if (gang.is_valid()) return context_.tracks.gang(gang);
  const PodView pod = context_.tracks.pod(unit);
  GangView view;
  view.job = pod.job;
  view.job_uid = pod.job_uid;
  view.first = unit;
  view.min_available = view.pods = view.created = 1;
  view.priority = pod.spec->priority;
  view.created_at = pod.created;
  return view;
}

void GangCycle::count_tentative(GangId gang, int32_t members) const {
  if (gang.is_valid()) context_.tracks.of(gang).tentative = members;
}

Duration GangCycle::run(PodId unit, GangId gang, int64_t counts) {
  const Members found = begin(unit, gang, counts);
  const std::vector<PodId>& members = found.pods;
  if (members.empty()) return {};
  const GangView view = view_of(unit, gang);
  const PodView first = context_.tracks.pod(members.front());
  CycleState state = framework().new_attempt(static_cast<uint64_t>(counts));
  const Cycle cycle{context_.sim.engine.now(), context_.cluster, first, state};
  if (found.do_others_leave) return wait_for_leaving(unit, cycle);
  const std::vector<GangDomain> domains = framework().domains(cycle, view);
  context_.log.tried = {.pods = static_cast<int32_t>(members.size()),
                        .domains = static_cast<uint32_t>(std::max<size_t>(domains.size(), 1))};
  Best best = attempt(cycle, view, found, domains);
  if (best.score >= 0) return best.cost + keep_all(unit, cycle, view, best);
  ORRERY_MARK("scheduling.gang_rejected");
  // The log names the first member that found no node. If Permit rejected the gang although each
  // member found a node, the log names the first member.
  const PodId blamed = best.attempt.failed.is_valid() ? best.attempt.failed : members.front();
  Selection& why = best.attempt.why;
  if (why.code == Code::Success) why.code = Code::Unschedulable;
  why.node = {};
  const PodView blamed_view = context_.tracks.pod(blamed);
  const Candidates* const diagnosis = best.attempt.diagnosis ? &*best.attempt.diagnosis : nullptr;
  const Running failed{unit, gang, found};
  running_ = &failed;
  const Duration post_filter =
      context_.failures.fail(unit, cycle_of(cycle, blamed_view), why, diagnosis);
  running_ = nullptr;
  return best.cost + post_filter;
}

// A preempted gang loses its pods one by one. Recreated pods must not complete a quorum with pods
// that are being evicted, because the evicted pods will soon be missing. Example: one of five
// evicted pods is recreated while the other four still terminate. Until the four have ended, every
// attempt of the gang fails here.
Duration GangCycle::wait_for_leaving(PodId unit, const Cycle& cycle) const {
  ORRERY_MARK("scheduling.gang_waits_until_it_has_left");
  const Selection why{.node = {},
                      .code = Code::Unschedulable,
                      .reason = "preempted pods of the gang have not left yet",
                      // any event retries the gang; see Framework::hint()
                      .plugins = uint32_t{1} << kNominatedPods};
  return context_.profile.cost.per_cycle + context_.failures.fail(unit, cycle, why, nullptr);
}

// Tries all domains. If no plugin scores placements, stops at the first domain in which the gang
// fits.
GangCycle::Best GangCycle::attempt(const Cycle& cycle, const GangView& gang, const Members& of_gang,
                                   std::span<const GangDomain> domains) {
  const std::span<const PodId> members{of_gang.pods};
  const int64_t missing = gang.missing();
  const bool are_alike = of_gang.are_alike;
  // Permit rejects a gang that has fewer members than its quorum. Placing one member is enough to
  // get this rejection, and cheaper than placing all members each time another pod is created.
  const bool lacks_members =
      are_alike && framework().has_permit() && static_cast<int64_t>(members.size()) < missing;
  const SchedulerCost& costs = context_.profile.cost;
  Best best{.attempt = {}, .cost = costs.per_cycle};
  const size_t tries = std::max<size_t>(domains.size(), 1);
  for (size_t i = 0; i < tries; ++i) {
    const GangDomain* const domain = domains.empty() ? nullptr : &domains[i];
    const int64_t room = are_alike ? framework().gpu_capacity(cycle, domain) : INT64_MAX;
    const bool is_too_small = room < missing;
    NodeSet in_domain;
    if (domain != nullptr && (i == 0 || !is_too_small)) {
      in_domain = nodes_of(*domain, context_.cluster);
    }
    const NodeSet* const nodes = domain == nullptr ? nullptr : &in_domain;
    const CommandsPaused paused{framework()};  // pauses commands until the changes below are undone
    std::optional<Transaction::Savepoint> before{std::in_place, context_.transaction};
    GangAttempt tried =
        is_too_small ? too_small(cycle, nodes, i == 0)
                     : place(cycle, gang.id, lacks_members ? members.first(1) : members, nodes);
    if (!is_too_small && lacks_members && is_permitted(cycle, tried)) {
      ORRERY_MARK("scheduling.part_of_a_gang_is_permitted");
      count_tentative(gang.id, 0);
      before.emplace(context_.transaction);  // undoes the first placement
      tried = place(cycle, gang.id, members, nodes);
    }
    if (is_too_small || !lacks_members) {
      const auto found = is_too_small ? room : static_cast<int64_t>(tried.placed.size());
      context_.log.tried.placeable =
          std::max(context_.log.tried.placeable, static_cast<int32_t>(found));
    }
    counters_.nodes_visited += tried.visited;
    best.cost += costs.per_node * tried.visited + tried.charged;
    const int64_t score = this->score(cycle, gang, tried);
    count_tentative(gang.id, 0);
    if (score > best.score || (best.score < 0 && i == 0)) {
      best.score = score;
      best.attempt = std::move(tried);
    }
    if (best.score >= 0 && !framework().scores_placements()) break;
  }
  return best;
}

// The result for a domain with too few free GPUs for the quorum: no member is placed. If there are
// several domains, only the first one reports reasons.
GangAttempt GangCycle::too_small(const Cycle& cycle, const NodeSet* nodes, bool is_first) const {
  GangAttempt attempt;
  attempt.why.code = Code::Unschedulable;
  attempt.failed = cycle.pod.id;
  attempt.visited = static_cast<uint32_t>(context_.cluster.nodes());
  if (!is_first) return attempt;
  attempt.why.plugins = framework().rejecting_plugins(cycle, nodes);
  if (context_.failures.needs_diagnosis(cycle, attempt.why)) {
    attempt.diagnosis = context_.failures.diagnose(cycle);
  }
  return attempt;
}

// Places the members one by one. If a member finds no node, all later members with the same spec
// are skipped.
GangAttempt GangCycle::place(const Cycle& cycle, GangId gang, std::span<const PodId> members,
                             const NodeSet* nodes) {
  GangAttempt attempt;
  std::vector<SpecId> failed, counted;  // short lists: a gang has one spec for each role
  for (const PodId member : members) {
    const PodView view = context_.tracks.pod(member);
    const SpecId spec = view.spec_id;
    if (std::ranges::find(failed, spec) != failed.end()) continue;
    const bool is_counted = std::ranges::find(counted, spec) == counted.end();
    if (is_counted) counted.push_back(spec);
    if (place_member(cycle_of(cycle, view), gang, nodes, is_counted, attempt)) continue;
    failed.push_back(spec);
    if (attempt.why.code == Code::Error) break;
  }
  return attempt;
}

bool GangCycle::place_member(const Cycle& cycle, GangId gang, const NodeSet* nodes, bool is_counted,
                             GangAttempt& attempt) {
  const PodView& member = cycle.pod;
  Selection found = framework().find_node(cycle, nodes);
  if (is_counted) {
    attempt.visited += found.visited;
    attempt.charged += framework().charge(cycle);
  }
  if (!found.node.is_valid()) {
    if (attempt.failed.is_valid()) return false;
    attempt.failed = member.id;
    if (context_.failures.needs_diagnosis(cycle, found)) {
      attempt.diagnosis = context_.failures.diagnose(cycle);
    }
    attempt.why = std::move(found);
    return false;
  }
  const DeviceGrant grant{framework().pick_devices(cycle, found.node), member.spec->gpu_milli};
  context_.transaction.place(member, found.node, grant, cycle.now);
  attempt.placed.push_back({member.id, found.node, grant});
  count_tentative(gang, static_cast<int32_t>(attempt.placed.size()));
  return true;
}

bool GangCycle::is_permitted(const Cycle& cycle, GangAttempt& attempt) {
  if (attempt.placed.empty()) return false;
  if (!framework().has_permit()) return true;
  // The gang is permitted if Permit accepts at least one placed member. Members with equal specs
  // get the same verdict, so Permit is called at most once for each spec.
  std::vector<SpecId> asked;
  for (const PlacedMember& placed : attempt.placed) {
    const PodView view = context_.tracks.pod(placed.pod);
    if (std::ranges::find(asked, view.spec_id) != asked.end()) continue;
    asked.push_back(view.spec_id);
    context_.tracks.permitting = view.gang;
    const Verdict verdict = framework().run_permit(cycle_of(cycle, view), placed.node);
    context_.tracks.permitting = {};
    if (verdict.ok()) return true;
    attempt.why.plugins |= verdict.plugins;
    if (attempt.why.reason.empty()) attempt.why.reason = verdict.reason;
  }
  return false;
}

int64_t GangCycle::score(const Cycle& cycle, const GangView& gang, GangAttempt& attempt) {
  if (!is_permitted(cycle, attempt)) return -1;
  if (!framework().scores_placements()) return 0;
  std::vector<NodeId> nodes;
  for (const PlacedMember& p : attempt.placed) nodes.push_back(p.node);
  return framework().score_placement(cycle, gang, nodes);
}

// Makes the placements of the best attempt real. Reserve may reject some members. The other members
// are kept if Permit still accepts them; otherwise all placements are undone. As upstream, members
// are reserved one by one. The binding of a member starts once that member and the quorum are
// reserved.
Duration GangCycle::keep_all(PodId unit, const Cycle& cycle, const GangView& before, Best& best) {
  GangAttempt& attempt = best.attempt;
  std::vector<PlacedMember>& placed = attempt.placed;
  const size_t wanted = placed.size();
  std::erase_if(placed, [&](const PlacedMember& p) { return !keep(cycle, p, attempt); });
  if (placed.size() < wanted && !is_permitted(cycle, attempt)) {
    ORRERY_MARK("scheduling.gang_undone");
    for (const PlacedMember& p : placed) {
      context_.reservations.undo(p.pod, "other members of the gang could not be reserved",
                                 AttemptOutcome::Rejected);
    }
    placed.clear();
    if (attempt.why.code == Code::Error) attempt.why.plugins = 0;  // an Error names no plugin
  }
  Selection found;
  found.visited = attempt.visited;
  const Duration per_pod = context_.profile.cost.per_pod;
  const auto kept = static_cast<int32_t>(placed.size());
  const int32_t others = before.id.is_valid() ? view_of(unit, before.id).assigned() - kept : 0;
  const int32_t missing = std::max(before.min_available - others, before.roles_missing.assigned);
  const Duration quorum = best.cost + per_pod * std::clamp(missing, 0, kept);
  Duration cost;
  for (const PlacedMember& p : placed) {
    found.node = p.node;
    cost += per_pod;
    context_.binder.add(p.pod, std::max(best.cost + cost, quorum));
    context_.log.write(p.pod, AttemptOutcome::Scheduled, found, {});
  }
  if (!attempt.failed.is_valid()) return cost;
  // The quorum has nodes, and the members without a node go back to the queue.
  const PodView failed = context_.tracks.pod(attempt.failed);
  const Candidates* const diagnosis = attempt.diagnosis ? &*attempt.diagnosis : nullptr;
  return cost + context_.failures.fail(unit, cycle_of(cycle, failed), attempt.why, diagnosis);
}

// Reserves the node for one member of the attempt. Returns false if a plugin rejects the
// reservation.
bool GangCycle::keep(const Cycle& cycle, const PlacedMember& p, GangAttempt& attempt) {
  context_.reservations.reserve(p.pod, p.node, p.grant);
  const PodView view = context_.tracks.pod(p.pod);
  const Verdict verdict = framework().run_reserve(cycle_of(cycle, view), p.node);
  if (verdict.ok()) return true;
  ORRERY_MARK("scheduling.reserve_refused");
  context_.reservations.undo(p.pod, verdict.reason, AttemptOutcome::Rejected);
  attempt.failed = p.pod;
  attempt.diagnosis.reset();  // the diagnosis is about another member
  attempt.why = {.node = p.node,
                 .code = verdict.code,
                 .reason = verdict.reason,
                 .plugins = verdict.plugins,
                 .visited = attempt.visited};
  return false;
}

}  // namespace orrery
