#include "models/scheduling/feasibility/deadlock_detector.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

DeadlockDetector::DeadlockDetector(Sim sim, const ClusterState& cluster, const JobTable& jobs,
                                   const DeadlockParams& params)
    : sim_{sim},
      jobs_{jobs},
      holdings_{jobs},
      candidates_{jobs},
      rooms_{cluster, jobs, params.counts_down_nodes},
      log_{sim} {}

// ---- news

void DeadlockDetector::connect(JobNews& jobs, PodNews& pods, NodeNews& nodes) {
  jobs.phase_changed.connect([this](JobId job, JobPhase, JobPhase) { phase_changed(job); });
  pods.pod_assigned.connect(*this, &DeadlockDetector::pod_assigned);
  pods.pod_unassigned.connect([this](PodId pod, NodeId) { pod_unassigned(pod); });
  nodes.node_down.connect([this](NodeId, NodeReason) { nodes_changed(); });
  nodes.node_up.connect([this](NodeId) { nodes_changed(); });
  nodes.node_updated.connect([this](NodeId) { nodes_changed(); });
}

void DeadlockDetector::pod_assigned(PodId id, NodeId node) {
  const Pod& pod = jobs_.pod(id);
  if (!pod.gang.is_valid()) return;
  if (!holdings_.knows(pod.job)) {
    holdings_.begin(pod.job);
    candidates_.begin(pod.job, jobs_.job(pod.job).serial);
  }
  holdings_.assign(id, node);
  news_.pods.add(id);
  job_changed(pod.job);
}

void DeadlockDetector::pod_unassigned(PodId id) {
  if (!holdings_.has_node(id)) return;
  holdings_.unassign(id);
  const JobId job = holdings_.pod(id).job;
  const DeadlockCandidate& record = candidates_[job];
  // Only a Pending job can become a candidate.
  if (!record.is_candidate && jobs_.job(job).phase != JobPhase::Pending) return;
  if (record.is_stuck()) {
    news_.must_reduce = true;
    losses_.push_back({job, record.serial, id, jobs_.pod(id).generation});
  }
  news_.pods.add(id);
  job_changed(job);
}

void DeadlockDetector::phase_changed(JobId id) {
  if (holdings_.knows(id) && holdings_.job(id).pods > 0) job_changed(id);
}

void DeadlockDetector::nodes_changed() {
  rooms_.nodes_changed();
  if (candidates_.all().empty()) return;
  news_.is_capacity_changed = true;
  news_.must_reduce = true;
  job_changed(candidates_.all().front());
}

void DeadlockDetector::foresee_preemption(bool may_preempt) {
  may_preempt_ = may_preempt;
  if (candidates_.all().empty()) return;
  news_.must_reduce = true;
  job_changed(candidates_.all().front());
}

void DeadlockDetector::job_changed(JobId job) {
  news_.jobs.add(job);
  if (std::exchange(will_examine_, true)) return;
  sim_.engine.after(
      {}, Label{"scheduling.find_deadlocks"}, [this] { examine(); }, Phase::Record);
}

// ---- the examination at the end of an instant

void DeadlockDetector::examine() {
  will_examine_ = false;
  for (const JobId job : news_.jobs.take()) refresh(job);
  const std::vector<PodId> pods = news_.pods.take();
  for (const PodId pod : pods) take_away(pod);
  for (const PodId pod : pods) put(pod);
  if (news_.must_reduce || !free_ones_fit()) {
    reduce();
    report();
  } else if (news_.has_stuck_one_changed) {
    report();
  }
  news_.must_reduce = news_.has_stuck_one_changed = news_.is_capacity_changed = false;
  losses_.clear();
}

void DeadlockDetector::refresh(JobId id) {
  DeadlockCandidate& record = candidates_[id];
  const bool is_candidate = holdings_.is_partial(id);
  if (is_candidate) record.needs = holdings_.missing(id);
  if (record.is_stuck()) {
    news_.has_stuck_one_changed = true;
    news_.must_reduce = news_.must_reduce || !is_candidate;
  }
  if (is_candidate == record.is_candidate) return;
  is_candidate ? candidates_.add(id) : candidates_.remove(id);
  // If the job has finished, its pods are in news_.pods already, because they lost their nodes.
  if (!jobs_.is_live(id) || jobs_.job(id).serial != record.serial) return;
  const Job& job = jobs_.job(id);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    if (holdings_.has_node(pod)) news_.pods.add(pod);
  });
}

void DeadlockDetector::take_away(PodId pod) {
  const PodSpot spot = rooms_.spot(pod);
  if (!spot.node.is_valid()) return;
  const PodHolding& holding = holdings_.pod(pod);
  const bool stays = holding.node == spot.node && holding.spec == spot.spec &&
                     candidates_[holding.job].is_candidate;
  if (!stays) rooms_.take_away(pod);
}

void DeadlockDetector::put(PodId pod) {
  if (!holdings_.has_node(pod) || rooms_.spot(pod).node.is_valid()) return;
  const PodHolding& holding = holdings_.pod(pod);
  const DeadlockCandidate& record = candidates_[holding.job];
  if (!record.is_candidate) return;
  rooms_.put(pod, holding.node, holding.spec);
  // A pod of a stuck job got a node. Now one pod fewer is missing, but the nodes also have room for
  // one pod fewer. So the job stays stuck, if its pods are equal and the node is eligible.
  if (!record.is_stuck()) return;
  const bool counted = rooms_.eligible(holding.spec).contains(holding.node);
  if (!holdings_.job(holding.job).is_alike || !counted) news_.must_reduce = true;
}

// Whether each candidate that is not stuck would fit right now, by itself. If so, each of them can
// complete, so none of them became stuck.
bool DeadlockDetector::free_ones_fit() {
  return std::ranges::all_of(candidates_.all(), [this](JobId job) {
    return candidates_[job].is_stuck() || rooms_.fits(candidates_[job].needs);
  });
}

void DeadlockDetector::reduce() {
  std::vector<ReductionCandidate> candidates;
  for (const JobId job : candidates_.all()) candidates.push_back(reduction_candidate(job));
  const std::vector<StuckSet> sets = find_stuck(rooms_, candidates);
  std::vector<JobId> stuck;
  for (const StuckSet& set : sets) {
    for (const StuckMember& member : set.members) stuck.push_back(member.job);
  }
  std::ranges::sort(stuck);
  for (const JobId job : candidates_.all()) {
    if (!std::ranges::binary_search(stuck, job)) candidates_[job].standing = Standing::Free;
  }
  deadlocked_.clear();
  infeasible_.clear();
  for (const StuckSet& set : sets) take(set);
}

// A job may preempt a pod only if each missing pod of the job has a higher priority. If one missing
// pod may not preempt, the job may not preempt at all.
ReductionCandidate DeadlockDetector::reduction_candidate(JobId id) const {
  const Job& job = jobs_.job(id);
  ReductionCandidate candidate{.job = id, .needs = candidates_[id].needs, .priority = INT32_MIN};
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    candidate.priority = std::max(candidate.priority, jobs_.spec(pod).priority);
  });
  if (!may_preempt_) return candidate;
  int32_t below = INT32_MAX;
  for (const PodNeed& need : candidate.needs) {
    const PodSpec& spec = jobs_.specs()[need.spec];
    below = std::min(below, spec.may_preempt ? spec.priority : INT32_MIN);
  }
  if (below > INT32_MIN) candidate.preempts_below = below;
  return candidate;
}

void DeadlockDetector::take(const StuckSet& set) {
  if (set.is_deadlock) deadlocked_.emplace_back();
  for (const StuckMember& member : set.members) {
    DeadlockCandidate& record = candidates_[member.job];
    record.is_infeasible = member.is_infeasible;
    if (!set.is_deadlock && !std::exchange(record.is_counted, true)) infeasible_time_.add_job();
    record.standing = set.is_deadlock ? Standing::Deadlocked : Standing::Infeasible;
    (set.is_deadlock ? deadlocked_.back() : infeasible_).push_back(member.job);
  }
}

// ---- changes for the log

StuckJob DeadlockDetector::stuck_job(JobId id) const {
  const Job& job = jobs_.job(id);
  StuckJob stuck{.serial = job.serial, .is_infeasible = candidates_[id].is_infeasible};
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    const GangId gang{job.first_gang.index + g};
    const GangHolding& holding = holdings_.gang(gang);
    stuck.gangs.push_back({.assigned = holding.assigned,
                           .needed = holdings_.needed(gang),
                           .gpu_milli = holding.gpu_milli});
  }
  return stuck;
}

// If a pod that lost its node is still Pending, it lost only its reservation. Otherwise the pod was
// deleted.
StuckChanges DeadlockDetector::changes() const {
  StuckChanges changes{.lost_pods = {}, .is_capacity_changed = news_.is_capacity_changed};
  for (const PodLoss& loss : losses_) {
    const Pod& pod = jobs_.pod(loss.pod);
    const bool is_waiting = jobs_.is_live(loss.job) && jobs_.job(loss.job).serial == loss.serial &&
                            pod.generation == loss.generation && pod.state == PodState::Pending;
    changes.lost_pods.push_back({loss.serial, !is_waiting});
  }
  return changes;
}

void DeadlockDetector::report() {
  int64_t infeasible_milli = 0;
  for (const JobId job : infeasible_) {
    for (const StuckGang& gang : stuck_job(job).gangs) infeasible_milli += gang.gpu_milli;
  }
  infeasible_time_.holds(sim_.engine.now(), infeasible_milli);
  if (deadlocked_.empty() && log_.present() == 0) return;
  std::vector<StuckGroup> groups;
  for (const std::vector<JobId>& jobs : deadlocked_) {
    groups.emplace_back();
    for (const JobId job : jobs) groups.back().push_back(stuck_job(job));
  }
  const uint64_t known = log_.changes();
  log_.update(groups, changes());
  if (log_.changes() != known) deadlocks_changed.emit();
}

std::vector<JobId> DeadlockDetector::members_present() const {
  std::vector<JobId> members;
  for (const auto& jobs : deadlocked_) members.insert(members.end(), jobs.begin(), jobs.end());
  std::ranges::sort(members);
  return members;
}

void DeadlockDetector::finish(Time end) {
  if (will_examine_) examine();  // the run was stopped in the middle of an instant
  log_.finish(end);
}

void DeadlockDetector::add_summary(Recorder& recorder, Time end) const {
  recorder.add_summary("deadlocks", int64_t{log_.total()}, "", "deadlocks of gangs");
  recorder.add_summary("gpu_hours_deadlocked", log_.gpu_s_lost(end) / 3600, "GPU h",
                       "GPU time held by gangs while they were deadlocked");
  infeasible_time_.add_summary(recorder, end);
}

}  // namespace orrery
