#include "models/workload/lifecycle/state/job_accounts.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace orrery {
namespace {

JobOutcome outcome_of(JobPhase phase) {
  switch (phase) {
    case JobPhase::Pending:
      return JobOutcome::Pending;
    case JobPhase::Starting:
      return JobOutcome::Starting;
    case JobPhase::Running:
      return JobOutcome::Running;
    case JobPhase::Hung:
      return JobOutcome::Hung;
    case JobPhase::Restarting:
      return JobOutcome::Restarting;
    case JobPhase::Completed:
      return JobOutcome::Completed;
    case JobPhase::Failed:
      return JobOutcome::Failed;
    case JobPhase::Cancelled:
      return JobOutcome::Cancelled;
  }
  return JobOutcome::Failed;
}

}  // namespace

JobAccounts::JobAccounts(Sim sim, const JobTable& jobs, bool records_pods)
    : engine_{sim.engine},
      jobs_{jobs},
      job_rows_{sim.recorder, "/jobs",
                "Jobs: identity, times of all stages, outcome, useful and wasted GPU time."} {
  if (records_pods) {
    pod_rows_.emplace(sim.recorder, "/pods",
                      "Pods: one row for each pod, written when the pod ends. A pod that replaces "
                      "another pod has its own row.");
  }
}

void JobAccounts::admitted(JobId id) {
  if (id.index >= accounts_.size()) accounts_.resize(jobs_.jobs_bound());
  if (jobs_.pods_bound() > pods_.size()) pods_.resize(jobs_.pods_bound());
  accounts_[id] = {};
  const Job& job = jobs_.job(id);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) { pods_[pod] = {}; });
  ++counters_.submitted;
}

void JobAccounts::reserved(PodId id) {
  pods_[id].held_from = engine_.now();
  pods_[id].is_reserved = true;
}

void JobAccounts::unreserved(PodId id) {
  book_held(id, engine_.now());
  pods_[id].is_reserved = false;
}

void JobAccounts::bound(PodId id) {
  PodAccount& pod = pods_[id];
  if (!pod.is_reserved) pod.held_from = engine_.now();
  pod.is_reserved = false;
  accounts_[jobs_.pod(id).job].bound_gpu_milli += gpu_milli(id);
}

void JobAccounts::leaves(PodId id) {
  accounts_[jobs_.pod(id).job].bound_gpu_milli -= gpu_milli(id);
}

void JobAccounts::book_held(PodId id, Time now) {
  const Pod& pod = jobs_.pod(id);
  PodAccount& account = pods_[id];
  const bool has_node = pod.state == PodState::Bound || pod.state == PodState::Running;
  if (!has_node && !account.is_reserved) return;
  JobAccount& job = accounts_[pod.job];
  GpuTime& total = job.gpu_time;
  const int64_t milli = gpu_milli(id);
  if (account.is_reserved) {
    total.held += GpuTime::of(milli, now - account.held_from);
  } else if (jobs_.job(pod.job).phase == JobPhase::Hung) {
    total.hung += GpuTime::of(milli, now - account.held_from);
  } else if (pod.state == PodState::Bound) {
    const Time loads_from = !pod.gang.is_valid() ? account.loads_from
                            : pod.takes_part     ? job.loads_from
                                                 : Time::max();
    const Time split = std::clamp(loads_from, account.held_from, now);
    total.held += GpuTime::of(milli, split - account.held_from);
    total.restore += GpuTime::of(milli, now - split);
  }
  account.held_from = now;
}

void JobAccounts::preempted(JobId id, int32_t by_priority, int128_t lost) {
  ++accounts_[id].preemptions;
  ++counters_.pods_preempted;
  counters_.gpu_lost_preempted += lost;
  PriorityAccount& own = priorities_[jobs_.job(id).priority];
  ++own.pods_preempted;
  own.gpu_lost_preempted += lost;
  ++priorities_[by_priority].pods_preempted_by;
}

void JobAccounts::evicted(JobId id, int128_t lost) {
  ++accounts_[id].evictions;
  ++counters_.pods_evicted;
  counters_.gpu_lost_evicted += lost;
}

RecoveryRow JobAccounts::recovery_row(JobId id, NodeId node, int128_t lost,
                                      int64_t gpu_milli) const {
  const Job& job = jobs_.job(id);
  const JobAccount& account = accounts_[id];
  RecoveryRow row{.job = job.serial,
                  .attempt = account.restarts + account.preemptions + account.evictions +
                             account.membership_changes + 1,
                  .node = node,
                  .failed = engine_.now(),
                  .lost_gpu_s = GpuTime::seconds(lost)};
  if (job.spec.kind == JobKind::Pods) {
    row.gpus = static_cast<int32_t>((gpu_milli + kMilli - 1) / kMilli);
    return row;
  }
  std::vector<NodeId> nodes;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    if (!jobs_.pod(pod).node.is_valid() || jobs_.pod(pod).state == PodState::Pending) return;
    nodes.push_back(jobs_.pod(pod).node);
  });
  std::ranges::sort(nodes);
  row.nodes = static_cast<int32_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
  row.gpus = static_cast<int32_t>((account.bound_gpu_milli + kMilli - 1) / kMilli);
  return row;
}

void JobAccounts::write_job_row(JobId id, Time end) {
  const Job& job = jobs_.job(id);
  const JobAccount& account = accounts_[id];
  gpu_time_ += account.gpu_time;
  PriorityAccount& priority = priorities_[job.priority];
  ++priority.jobs;
  priority.jobs_preempted += account.preemptions > 0 ? 1 : 0;
  priority.gpu_time += account.gpu_time;
  if (!job_rows_.is_on()) return;
  const bool is_over = account.ended.has_value();
  end = account.ended.value_or(end);
  const Time first_running = account.first_running.value_or(kNever);
  const bool has_run = account.first_running.has_value();
  const GpuTime& time = account.gpu_time;
  job_rows_.emit({.job = job.serial,
                  .external_id = job.spec.external_id,
                  .name = std::string_view{job.spec.name},
                  .user = std::string_view{job.spec.user},
                  .team = std::string_view{job.spec.team},
                  .kind = job.spec.kind,
                  .outcome = outcome_of(job.phase),
                  .cause = is_over ? account.cause : EndCause::None,
                  .exit_code = is_over ? account.exit_code : kNoExitCode,
                  .pods = job.pods + job.counted_pods,
                  .members = account.members,
                  .gpus = job.gpus,
                  .priority = job.priority,
                  .restarts = account.restarts,
                  .preemptions = account.preemptions,
                  .evictions = account.evictions,
                  .membership_changes = account.membership_changes,
                  .submitted = job.spec.submitted,
                  .created = account.first_created.value_or(kNever),
                  .bound = account.first_bound.value_or(kNever),
                  .running = first_running,
                  .ended = is_over ? end : kNever,
                  .wait = (has_run ? first_running : end) - job.spec.submitted,
                  .run = has_run ? end - first_running : Duration{},
                  .work = job.spec.work,
                  .gpu_s_useful = GpuTime::seconds(time.useful),
                  .gpu_s_lost = GpuTime::seconds(time.lost),
                  .gpu_s_checkpoint = GpuTime::seconds(time.checkpoint),
                  .gpu_s_restore = GpuTime::seconds(time.restore),
                  .gpu_s_held = GpuTime::seconds(time.held),
                  .gpu_s_hung = GpuTime::seconds(time.hung),
                  .gpu_s_exchange = GpuTime::seconds(time.exchange),
                  .gpu_s_idle = GpuTime::seconds(time.idle)});
}

void JobAccounts::write_pod_row(PodId id, PodEnd why, const Ending& ending, Time end) {
  if (!pod_rows_.has_value()) return;
  const Pod& pod = jobs_.pod(id);
  const bool has_node = pod.state != PodState::Pending;
  pod_rows_->emit({.job = jobs_.job(pod.job).serial,
                   .rank = pod.rank,
                   .node = has_node ? pod.node : NodeId{},
                   .gpus = has_node ? pod.grant.gpus : GpuMask{0},
                   .created = pod.created,
                   .bound = pod.bound,
                   .started = pod.started > end ? kNever : pod.started,
                   .ended = end,
                   .attempts = pod.attempts,
                   .end = why,
                   .cause = ending.cause,
                   .exit_code = ending.exit_code});
}

}  // namespace orrery
