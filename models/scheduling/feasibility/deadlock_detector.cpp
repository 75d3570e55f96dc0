#include "models/scheduling/feasibility/deadlock_detector.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/core/check.hpp"

namespace orrery {

DeadlockDetector::DeadlockDetector(Sim sim, const ClusterState& cluster, const JobTable& jobs,
                                   const DeadlockParams& params)
    : sim_{sim}, jobs_{jobs}, rooms_{cluster, jobs.specs(), params.counts_down_nodes}, log_{sim} {}

// ---- news

DeadlockDetector::Unit& DeadlockDetector::begin_unit(JobId id) {
  const Job& job = jobs_.job(id);
  if (id.index >= units_.size()) units_.resize(jobs_.jobs_bound());
  Unit& unit = units_[id.index];
  if (unit.serial == job.serial) return unit;
  ORRERY_CHECK(unit.held == 0, "a job gives up all its pods before its id is used again");
  if (unit.is_candidate) std::erase(candidates_, id);
  unit = {.serial = job.serial, .incomplete_gangs = job.gangs, .is_changed = unit.is_changed};
  const SpecId first = jobs_.pod(job.first_pod).spec;
  unit.is_alike = true;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    unit.is_alike = unit.is_alike && jobs_.pod(pod).spec == first;
  });
  return unit;
}

void DeadlockDetector::pod_assigned(PodId id, NodeId node) {
  const Pod& pod = jobs_.pod(id);
  if (!pod.gang.is_valid()) return;
  if (id.index >= holdings_.size()) holdings_.resize(jobs_.pods_bound());
  if (pod.gang.index >= gangs_.size()) gangs_.resize(jobs_.gangs_bound());
  Unit& unit = begin_unit(pod.job);
  Holding& holding = holdings_[id.index];
  ORRERY_CHECK(!holding.node.is_valid(), "a pod is assigned to one node at a time");
  holding.node = node;
  holding.spec = pod.spec;
  holding.job = pod.job;
  holding.gang = pod.gang;
  GangHolding& gang = gangs_[pod.gang.index];
  if (++gang.assigned == jobs_.gang(pod.gang).min_available) --unit.incomplete_gangs;
  gang.gpu_milli += jobs_.request(id).resources[Resource::Gpu];
  ++unit.held;
  change(id);
  change(pod.job);
}

void DeadlockDetector::pod_unassigned(PodId id) {
  if (id.index >= holdings_.size() || !holdings_[id.index].node.is_valid()) return;
  Holding& holding = holdings_[id.index];
  Unit& unit = units_[holding.job.index];
  GangHolding& gang = gangs_[holding.gang.index];
  if (gang.assigned-- == jobs_.gang(holding.gang).min_available) ++unit.incomplete_gangs;
  gang.gpu_milli -= jobs_.request(id).resources[Resource::Gpu];
  --unit.held;
  holding.node = {};
  // The pods of a running job come and go unnoticed.
  if (!unit.is_candidate && jobs_.job(holding.job).phase != JobPhase::Pending) return;
  if (unit.standing != Standing::Free) {
    must_reduce_ = true;
    losses_.push_back({holding.job, unit.serial, id, jobs_.pod(id).generation});
  }
  change(id);
  change(holding.job);
}

void DeadlockDetector::phase_changed(JobId id) {
  if (id.index >= units_.size() || units_[id.index].serial != jobs_.job(id).serial) return;
  if (units_[id.index].held > 0) change(id);
}

void DeadlockDetector::nodes_changed() {
  rooms_.forget_eligibility();
  if (candidates_.empty()) return;
  is_capacity_changed_ = true;
  must_reduce_ = true;
  change(candidates_.front());
}

void DeadlockDetector::change(PodId pod) {
  if (std::exchange(holdings_[pod.index].is_changed, true)) return;
  changed_pods_.push_back(pod);
}

void DeadlockDetector::change(JobId job) {
  if (!std::exchange(units_[job.index].is_changed, true)) changed_jobs_.push_back(job);
  if (std::exchange(is_scheduled_, true)) return;
  sim_.engine.after(
      {}, Label{"scheduling.find_deadlocks"}, [this] { examine(); }, Phase::Record);
}

// ---- the look at the end of an instant

void DeadlockDetector::examine() {
  is_scheduled_ = false;
  for (const JobId job : changed_jobs_) refresh(job);
  changed_jobs_.clear();
  for (const PodId pod : changed_pods_) take_away(pod);
  for (const PodId pod : changed_pods_) put(pod);
  changed_pods_.clear();
  if (must_reduce_ || !free_ones_fit()) {
    reduce();
    report();
  } else if (has_stuck_one_changed_) {
    report();
  }
  must_reduce_ = has_stuck_one_changed_ = is_capacity_changed_ = false;
  losses_.clear();
}

void DeadlockDetector::refresh(JobId id) {
  Unit& unit = units_[id.index];
  unit.is_changed = false;
  const bool is_alive = jobs_.is_live(id) && jobs_.job(id).serial == unit.serial;
  const bool is_candidate = is_alive && unit.held > 0 && unit.incomplete_gangs > 0 &&
                            jobs_.job(id).phase == JobPhase::Pending;
  if (is_candidate) refresh_needs(id);
  if (unit.standing != Standing::Free) {
    has_stuck_one_changed_ = true;
    must_reduce_ = must_reduce_ || !is_candidate;
  }
  if (is_candidate == unit.is_candidate) return;
  unit.is_candidate = is_candidate;
  const auto place = std::ranges::lower_bound(
      candidates_, unit.serial, {}, [this](JobId job) { return units_[job.index].serial; });
  if (is_candidate) {
    candidates_.insert(place, id);
  } else {
    candidates_.erase(place);
    unit.standing = Standing::Free;
  }
  if (!is_alive) return;  // its pods have left, and are marked
  const Job& job = jobs_.job(id);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    if (pod.index < holdings_.size() && holdings_[pod.index].node.is_valid()) change(pod);
  });
}

// Of members with different specs, those that are smallest are assumed to come next.
void DeadlockDetector::refresh_needs(JobId id) {
  const Job& job = jobs_.job(id);
  Unit& unit = units_[id.index];
  unit.needs.clear();
  const auto need = [&](SpecId spec, int64_t pods) {
    const auto same = std::ranges::find(unit.needs, spec, &PodNeed::spec);
    if (same == unit.needs.end()) {
      unit.needs.push_back({spec, pods});
    } else {
      same->pods += pods;
    }
  };
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    const GangId gang_id{job.first_gang.index + g};
    const Gang& gang = jobs_.gang(gang_id);
    const int32_t missing = gang.min_available - gangs_[gang_id.index].assigned;
    if (missing <= 0) continue;
    if (unit.is_alike) {
      need(jobs_.pod(gang.first).spec, missing);
      continue;
    }
    std::vector<SpecId> specs;
    JobTable::for_each_pod(gang.first, gang.pods, [&](PodId pod) {
      if (!holdings_[pod.index].node.is_valid()) specs.push_back(jobs_.pod(pod).spec);
    });
    std::ranges::sort(specs, {}, [this](SpecId spec) {
      const Resources& r = jobs_.specs().request(spec).resources;
      return std::tuple{r[Resource::Gpu], r[Resource::Cpu], r[Resource::Memory], spec.index};
    });
    for (size_t i = 0; i < static_cast<size_t>(missing); ++i) need(specs[i], 1);
  }
}

void DeadlockDetector::take_away(PodId pod) {
  Holding& holding = holdings_[pod.index];
  if (!holding.room_node.is_valid()) return;
  const bool stays = holding.node == holding.room_node && holding.spec == holding.room_spec &&
                     units_[holding.job.index].is_candidate;
  if (stays) return;
  rooms_.take_away(holding.room_node, holding.room_spec, holding.room_gpus);
  holding.room_node = {};
}

void DeadlockDetector::put(PodId pod) {
  Holding& holding = holdings_[pod.index];
  holding.is_changed = false;
  if (!holding.node.is_valid() || holding.room_node.is_valid()) return;
  const Unit& unit = units_[holding.job.index];
  if (!unit.is_candidate) return;
  holding.room_node = holding.node;
  holding.room_spec = holding.spec;
  holding.room_gpus = rooms_.put(holding.node, holding.spec);
  // A stuck job that gets one of the pods it needs uses up one slot for it, and is as stuck as
  // before. That argument needs alike pods, on a node that counted.
  if (unit.standing == Standing::Free) return;
  if (!unit.is_alike || !rooms_.eligible(holding.spec).contains(holding.node)) must_reduce_ = true;
}

// If each fits right now, they can complete one after another.
bool DeadlockDetector::free_ones_fit() {
  return std::ranges::all_of(candidates_, [this](JobId job) {
    const Unit& unit = units_[job.index];
    return unit.standing != Standing::Free || rooms_.fits(unit.needs);
  });
}

void DeadlockDetector::release(JobId job) {
  for_each_in_room(
      job, [this](const Holding& h) { rooms_.take_away(h.room_node, h.room_spec, h.room_gpus); });
}

void DeadlockDetector::retake(JobId job) {
  for_each_in_room(
      job, [this](const Holding& h) { rooms_.put_again(h.room_node, h.room_spec, h.room_gpus); });
}

std::vector<JobId> DeadlockDetector::stuck_jobs(std::vector<JobId>& released) {
  std::vector<JobId> stuck = candidates_;
  for (size_t before = 0; before != stuck.size();) {
    before = stuck.size();
    std::erase_if(stuck, [&](JobId job) {
      if (!rooms_.fits(units_[job.index].needs)) return false;
      release(job);
      released.push_back(job);
      return true;
    });
  }
  return stuck;
}

// All others have been released.
std::vector<bool> DeadlockDetector::infeasible(std::span<const JobId> stuck) {
  std::vector<bool> is_infeasible;
  for (const JobId job : stuck) release(job);
  for (const JobId job : stuck) {
    retake(job);
    is_infeasible.push_back(!rooms_.fits(units_[job.index].needs));
    release(job);
  }
  for (const JobId job : stuck) retake(job);
  return is_infeasible;
}

bool DeadlockDetector::holds_any_of(JobId job, const NodeSet& nodes) const {
  bool holds = false;
  for_each_in_room(job, [&](const Holding& h) { holds = holds || nodes.contains(h.room_node); });
  return holds;
}

// Joins jobs that need alike pods, and those with the holders of nodes such pods could use. Indices
// into `stuck`, in order.
std::vector<std::vector<size_t>> DeadlockDetector::groups(std::span<const JobId> stuck) {
  std::vector<size_t> group(stuck.size());  // the smallest index of its members
  for (size_t i = 0; i < group.size(); ++i) group[i] = i;
  const auto join = [&](size_t a, size_t b) {
    const size_t from = std::max(group[a], group[b]);
    const size_t to = std::min(group[a], group[b]);
    if (from != to) std::ranges::replace(group, from, to);
  };
  std::map<SpecId, size_t> needed;  // and one of the jobs that need it
  for (size_t i = 0; i < stuck.size(); ++i) {
    for (const PodNeed& need : units_[stuck[i].index].needs) {
      join(i, needed.try_emplace(need.spec, i).first->second);
    }
  }
  for (const auto& [spec, user] : needed) {
    const NodeSet nodes = rooms_.eligible(spec);
    for (size_t i = 0; i < stuck.size(); ++i) {
      if (group[i] != group[user] && holds_any_of(stuck[i], nodes)) join(i, user);
    }
  }
  std::vector<std::vector<size_t>> members(stuck.size());
  for (size_t i = 0; i < stuck.size(); ++i) members[group[i]].push_back(i);
  std::erase_if(members, [](const auto& m) { return m.empty(); });
  return members;
}

void DeadlockDetector::reduce() {
  std::vector<JobId> released;
  const std::vector<JobId> stuck = stuck_jobs(released);
  const std::vector<bool> is_infeasible = infeasible(stuck);
  for (const JobId job : released) {
    units_[job.index].standing = Standing::Free;
    retake(job);
  }
  deadlocked_.clear();
  infeasible_.clear();
  for (const std::vector<size_t>& group : groups(stuck)) {
    const bool is_deadlock =
        std::ranges::any_of(group, [&](size_t i) { return !is_infeasible[i]; });
    if (is_deadlock) deadlocked_.emplace_back();
    for (const size_t i : group) {
      Unit& unit = units_[stuck[i].index];
      unit.is_infeasible = is_infeasible[i];
      if (!is_deadlock && unit.standing != Standing::Infeasible) ++infeasible_jobs_;
      unit.standing = is_deadlock ? Standing::Deadlocked : Standing::Infeasible;
      (is_deadlock ? deadlocked_.back() : infeasible_).push_back(stuck[i]);
    }
  }
}

// ---- the news for the log

DeadlockLog::StuckJob DeadlockDetector::stuck_job(JobId id) const {
  const Job& job = jobs_.job(id);
  DeadlockLog::StuckJob stuck{.serial = job.serial,
                              .is_infeasible = units_[id.index].is_infeasible};
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    const GangId gang{job.first_gang.index + g};
    stuck.gangs.push_back({.assigned = gangs_[gang.index].assigned,
                           .needed = jobs_.gang(gang).min_available,
                           .gpu_milli = gangs_[gang.index].gpu_milli});
  }
  return stuck;
}

// A reservation was given up if the pod that lost it still waits for a node.
DeadlockLog::Changes DeadlockDetector::changes() const {
  DeadlockLog::Changes changes{.lost_pods = {}, .is_capacity_changed = is_capacity_changed_};
  for (const Loss& loss : losses_) {
    const Pod& pod = jobs_.pod(loss.pod);
    const bool is_waiting = jobs_.is_live(loss.job) && jobs_.job(loss.job).serial == loss.serial &&
                            pod.generation == loss.generation && pod.state == PodState::Pending;
    changes.lost_pods.push_back({loss.serial, !is_waiting});
  }
  return changes;
}

void DeadlockDetector::report() {
  const Time now = sim_.engine.now();
  infeasible_time_ += static_cast<int128_t>(infeasible_milli_) * (now - infeasible_since_).ns;
  infeasible_since_ = now;
  infeasible_milli_ = 0;
  for (const JobId job : infeasible_) {
    for (const DeadlockLog::HoldingGang& gang : stuck_job(job).gangs)
      infeasible_milli_ += gang.gpu_milli;
  }
  if (deadlocked_.empty() && log_.present() == 0) return;
  std::vector<DeadlockLog::Group> groups;
  for (const std::vector<JobId>& jobs : deadlocked_) {
    groups.emplace_back();
    for (const JobId job : jobs) groups.back().push_back(stuck_job(job));
  }
  log_.update(groups, changes());
}

std::vector<JobId> DeadlockDetector::members_present() const {
  std::vector<JobId> members;
  for (const auto& jobs : deadlocked_) members.insert(members.end(), jobs.begin(), jobs.end());
  std::ranges::sort(members);
  return members;
}

void DeadlockDetector::finish(Time end) {
  if (is_scheduled_) examine();  // the run was stopped in the middle of an instant
  log_.finish(end);
}

void DeadlockDetector::add_summary(Recorder& recorder, Time end) const {
  const int128_t infeasible_time =
      infeasible_time_ + static_cast<int128_t>(infeasible_milli_) * (end - infeasible_since_).ns;
  recorder.add_summary("deadlocks", int64_t{log_.total()}, "", "deadlocks of gangs");
  recorder.add_summary("gpu_hours_deadlocked", log_.gpu_s_lost(end) / 3600, "GPU h",
                       "GPU time held by gangs while they were deadlocked");
  recorder.add_summary("infeasible_gang_jobs", static_cast<int64_t>(infeasible_jobs_), "jobs",
                       "jobs that held GPUs while their missing pods could never fit");
  recorder.add_summary("gpu_hours_infeasible", static_cast<double>(infeasible_time) * 1e-12 / 3600,
                       "GPU h", "GPU time held by such jobs outside deadlocks");
}

}  // namespace orrery
