// The per_gang driver: a whole gang is placed in a transaction and kept, or nothing is.
#include <algorithm>

#include "models/scheduling/cycle/scheduler.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

bool is_in(const GangDomain& domain, const ClusterState& cluster) {
  if (const auto* const leaf = std::get_if<InLeaf>(&domain)) return leaf->leaf < cluster.leaves();
  if (const auto* const node = std::get_if<NodeId>(&domain)) return node->index < cluster.nodes();
  return std::get<NodeSet>(domain).universe() == cluster.nodes();
}

}  // namespace

// As Kubernetes 1.36's pod-group cycle: every member goes through the normal algorithm on one
// world, members without a node are passed over, and the group succeeds if Permit then says
// Success for some member. Alike members share one verdict: once one has no node, none has.
void Scheduler::try_domain(GangId gang, const NodeSet* domain) {
  GangTrack& t = track(gang);
  SpecId failed_spec;
  SpecId counted_spec;
  for (const PodId member : members_) {
    const SpecId spec = jobs_.pod(member).spec;
    if (spec == failed_spec) continue;
    const PodView member_view = pod(member);
    const Selection found = framework_->select(member_view, now(), domain);
    const Cycle cycle{now(), cluster_, member_view};
    if (spec != counted_spec) {
      attempt_.visited += found.visited;
      attempt_.charged += framework_->charge(cycle);
    }
    counted_spec = spec;
    if (!found.node.is_valid()) {
      if (!attempt_.failed.is_valid()) {
        attempt_.why = found;
        attempt_.failed = member;
      }
      failed_spec = spec;
      if (found.code == Code::Error) return;
      continue;
    }
    const DeviceGrant grant{framework_->pick_devices(cycle, found.node),
                            member_view.spec->gpu_milli};
    transaction_.place(found.node, jobs_.request(member), grant);
    attempt_.placed.push_back({member, found.node, grant});
    ++t.tentative;
    for (const auto& p : framework_->pre_filter_extensions()) {
      p.call(&PreFilterExtensions::add_pod, member_view, found.node);
    }
  }
}

// What was placed is remembered, but stands there no more.
void Scheduler::undo_attempt(GangId gang, Transaction::Point mark) {
  for (const auto& p : framework_->pre_filter_extensions()) {
    for (const Placed& placed : attempt_.placed) {
      p.call(&PreFilterExtensions::remove_pod, pod(placed.pod));
    }
  }
  transaction_.rollback(mark);
  track(gang).tentative = 0;
}

PermitStatus Scheduler::ask_permit(const Bound<Permit>& plugin, const Cycle& cycle, NodeId node) {
  current_plugin_ = plugin.index;
  permitting_ = cycle.pod.gang;
  const PermitStatus status = ask(*plugin.name, [&] {
    const PermitStatus given = plugin.plugin->permit(cycle, node);
    ORRERY_CHECK(given.timeout >= Duration{}, "Permit waits no negative time");
    return given;
  });
  permitting_ = {};
  return status;
}

bool Scheduler::gang_permitted(GangAttempt& attempt) {
  if (attempt.placed.empty()) return false;
  if (framework_->permit().empty()) return true;
  for (const Placed& placed : attempt.placed) {
    const PodView view = pod(placed.pod);
    const Cycle cycle{now(), cluster_, view};
    bool is_permitted = true;
    for (const auto& p : framework_->permit()) {
      const PermitStatus status = ask_permit(p, cycle, placed.node);
      if (status.code == Code::Success || status.code == Code::Skip) continue;
      is_permitted = false;
      attempt.why.plugins |= uint32_t{1} << p.index;
      if (attempt.why.reason.empty()) attempt.why.reason = status.reason;
      break;
    }
    if (is_permitted) return true;
    // Permit counts the whole gang: alike members get the same answer.
    if (view.spec_id == pod(attempt.placed.back().pod).spec_id) return false;
  }
  return false;
}

// All domains, or the first that fits if placements have no scores.
Scheduler::GangVerdict Scheduler::attempt_gang(const Cycle& cycle, const GangView& gang) {
  const PodView& first = cycle.pod;
  const int64_t missing = gang.min_available - gang.assigned();
  const bool are_alike = std::ranges::all_of(
      members_, [&](PodId member) { return jobs_.pod(member).spec == first.spec_id; });
  // So few do not pass Permit, wherever there is room: one of them is told so as well as all. Gangs
  // whose pods come one by one would else be placed anew for each of them.
  const bool lacks_members =
      are_alike && !framework_->permit().empty() && static_cast<int64_t>(members_.size()) < missing;
  NodeSet nodes;
  Duration cost = cost_.per_cycle;
  int64_t best_score = -1;
  best_attempt_.placed.clear();
  const size_t tries = std::max<size_t>(domains_.size(), 1);
  for (size_t i = 0; i < tries; ++i) {
    const GangDomain* const domain = domains_.empty() ? nullptr : &domains_[i];
    const int64_t room = are_alike ? framework_->gpu_capacity(first, now(), domain) : INT64_MAX;
    const bool is_too_small = room < missing;
    if (domain != nullptr && (i == 0 || !is_too_small)) nodes = nodes_of(*domain, cluster_);
    const auto mark = transaction_.mark();
    attempt_.placed.clear();
    attempt_.why = {};
    attempt_.failed = {};
    attempt_.visited = 0;
    attempt_.charged = {};
    if (!is_too_small) {
      const NodeSet* const among = domain == nullptr ? nullptr : &nodes;
      std::vector<PodId> others;
      if (lacks_members) {
        others.assign(members_.begin() + 1, members_.end());
        members_.resize(1);
      }
      try_domain(gang.id, among);
      members_.insert(members_.end(), others.begin(), others.end());
      if (lacks_members && gang_permitted(attempt_)) {
        ORRERY_MARK("scheduling.part_of_a_gang_is_permitted");
        undo_attempt(gang.id, mark);
        attempt_.placed.clear();
        attempt_.visited = 0;
        attempt_.charged = {};
        try_domain(gang.id, among);
      }
    } else {
      // Fewer free GPUs than the quorum needs: no need to place any to find out. Of attempts in
      // vain, the first one is told.
      attempt_.why.code = Code::Unschedulable;
      attempt_.failed = first.id;
      attempt_.visited = static_cast<uint32_t>(cluster_.nodes());
      if (i == 0) {
        attempt_.why.plugins =
            framework_->rejecting_plugins(first, now(), domain == nullptr ? nullptr : &nodes);
      }
    }
    if (is_too_small || !lacks_members) {
      const auto found = static_cast<int64_t>(attempt_.placed.size());
      tried_.placeable =
          std::max(tried_.placeable, static_cast<int32_t>(is_too_small ? room : found));
    }
    counters_.nodes_visited += attempt_.visited;
    cost += cost_.per_node * attempt_.visited + attempt_.charged;
    const int64_t score = score_of_attempt(cycle, gang);
    undo_attempt(gang.id, mark);
    if (score > best_score || (best_score < 0 && i == 0)) {
      best_score = score;
      std::swap(best_attempt_, attempt_);
    }
    if (best_score >= 0 && framework_->score_placement().empty()) break;
  }
  return {cost, best_score >= 0};
}

// Negative: Permit turns it down.
int64_t Scheduler::score_of_attempt(const Cycle& cycle, const GangView& gang) {
  if (!gang_permitted(attempt_)) return -1;
  int64_t score = 0;
  if (framework_->score_placement().empty()) return score;
  std::vector<NodeId> nodes;
  for (const Placed& p : attempt_.placed) nodes.push_back(p.node);
  for (const auto& s : framework_->score_placement()) {
    ask(*s.name, [&] {
      const int64_t given = s.plugin->score_placement(cycle, gang, nodes);
      ORRERY_CHECK(given >= 0 && given <= 100, "the score of a placement lies in 0..100");
      score += given;
    });
  }
  return score;
}

Duration Scheduler::cycle_gang(PodId unit, GangId gang) {
  const Gang& g = jobs_.gang(gang);
  members_.clear();
  JobTable::for_each_pod(g.first, g.pods, [&](PodId pod) {
    if (track(pod).stage == Stage::Queued) {
      members_.push_back(pod);
      ++jobs_.pod(pod).attempts;
    }
  });
  if (members_.empty()) return {};
  const GangView view = this->gang(gang);
  const PodView first = pod(members_.front());
  const Cycle cycle{now(), cluster_, first};
  domains_.clear();
  for (const auto& d : framework_->domains()) {
    ask(*d.name, [&] {
      d.plugin->domains(cycle, view, domains_);
      ORRERY_CHECK(
          std::ranges::all_of(domains_, [&](const auto& one) { return is_in(one, cluster_); }),
          "Domains names nodes and leaves of the cluster");
    });
  }

  tried_ = {.pods = static_cast<int32_t>(members_.size()),
            .domains = static_cast<uint32_t>(std::max<size_t>(domains_.size(), 1))};
  const auto [cost, fits] = attempt_gang(cycle, view);
  if (!fits) {
    ORRERY_MARK("scheduling.gang_turned_away");
    // Placed members were turned down by Permit because others found no room: blame both.
    const PodId blamed = best_attempt_.failed.is_valid() ? best_attempt_.failed : members_.front();
    Selection why = best_attempt_.why;
    if (why.code == Code::Success) why.code = Code::Unschedulable;
    why.node = {};
    return cost + fail(unit, blamed, why, nullptr);
  }
  return cost + place_best_attempt(unit, gang, cost);
}

// Reserve may turn members down that the attempt has placed. What is left of the gang is kept if
// Permit has nothing against so few; else none of it is. As upstream's loop, which reserves one
// after the other, each is handed over to be bound when it is its turn, but waits for the quorum.
Duration Scheduler::place_best_attempt(PodId unit, GangId gang, Duration spent) {
  Duration cost;
  std::vector<Placed>& placed = best_attempt_.placed;
  const size_t wanted = placed.size();
  std::erase_if(placed, [this](const Placed& p) { return !keep(p); });
  if (placed.size() < wanted && !gang_permitted(best_attempt_)) {
    ORRERY_MARK("scheduling.gang_undone");
    for (const Placed& p : placed) {
      unassume(p.pod, "other members of the gang could not be reserved", AttemptOutcome::Rejected);
    }
    placed.clear();
    if (best_attempt_.why.code == Code::Error) best_attempt_.why.plugins = 0;  // nobody is blamed
  }
  Selection found;
  found.visited = best_attempt_.visited;
  const GangView view = this->gang(gang);
  const auto kept = static_cast<int32_t>(placed.size());
  const int32_t missing = view.min_available - (view.assigned() - kept);
  const Duration quorum = spent + cost_.per_pod * std::clamp(missing, 0, kept);
  for (const Placed& p : placed) {
    found.node = p.node;
    cost += cost_.per_pod;
    to_binding(p.pod, std::max(spent + cost, quorum));
    record(p.pod, AttemptOutcome::Scheduled, found, {});
  }
  if (best_attempt_.failed.is_valid()) {  // quorum without everybody: the rest stays in line
    cost += fail(unit, best_attempt_.failed, best_attempt_.why, nullptr);
  }
  return cost;
}

// Makes a placement of the attempt real; false if a plugin refuses to reserve.
bool Scheduler::keep(const Placed& p) {
  transaction_.place(p.node, jobs_.request(p.pod), p.grant);
  transaction_.commit();
  assume(p.pod, p.node, p.grant);
  Selection found;
  found.node = p.node;
  found.visited = best_attempt_.visited;
  if (reserve(pod(p.pod), p.node, found)) return true;
  unassume(p.pod, found.reason, AttemptOutcome::Rejected);
  best_attempt_.failed = p.pod;
  best_attempt_.why = found;
  return false;
}

}  // namespace orrery
