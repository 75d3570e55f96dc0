#include <algorithm>

#include "models/workload/job_controller.hpp"

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
  }
  return JobOutcome::Failed;
}

}  // namespace

int64_t JobController::gpu_milli(PodId id) const {
  return jobs_.request(id).resources[Resource::Gpu];
}

JobUsage JobController::usage(JobId id) const {
  const JobState& state = states_[id];
  const Job& job = jobs_.job(id);
  const JobPhase phase = job.phase;
  const bool runs = phase == JobPhase::Running;
  const int64_t busy = runs                      ? std::min(state.run_gpu_milli, state.gpu_milli)
                       : phase == JobPhase::Hung ? state.gpu_milli
                                                 : 0;
  return {.bound = state.gpu_milli, .busy = busy, .computing = runs ? computing(id) : 0};
}

void JobController::pod_reserved(PodId id) {
  runs_[id].held_from = sim_.engine.now();
  runs_[id].is_reserved = true;
}

void JobController::pod_unreserved(PodId id) {
  account_held(id, sim_.engine.now());
  runs_[id].is_reserved = false;
}

// The pod's GPUs since the last account, when they were not part of a run.
void JobController::account_held(PodId id, Time now) {
  const Pod& pod = jobs_.pod(id);
  PodRun& run = runs_[id];
  if (pod.state != PodState::Bound && pod.state != PodState::Running && !run.is_reserved) return;
  GpuTime& total = states_[pod.job].gpu_time;
  const int64_t milli = gpu_milli(id);
  if (run.is_reserved) {
    total.held += GpuTime::of(milli, now - run.held_from);
  } else if (jobs_.job(pod.job).phase == JobPhase::Hung) {
    total.hung += GpuTime::of(milli, now - run.held_from);
  } else if (pod.state == PodState::Bound) {
    const Time restore_from = !pod.gang.is_valid() ? run.run.restore_from
                              : pod.takes_part     ? states_[pod.job].run.restore_from
                                                   : Time::max();
    const Time split = std::clamp(restore_from, run.held_from, now);
    total.held += GpuTime::of(milli, split - run.held_from);
    total.restore += GpuTime::of(milli, now - split);
  }
  run.held_from = now;
}

bool JobController::goes_on(JobId id) const {
  if (jobs_.job(id).service) return true;  // to its end, or that of the run
  const JobPhase phase = jobs_.job(id).phase;
  const bool is_hung = phase == JobPhase::Hung && !sim_.engine.is_pending(states_[id].event);
  return phase != JobPhase::Pending && !is_hung;
}

int32_t JobController::computing(JobId id) const {
  const JobState& state = states_[id];
  if (is_paused(id)) return 0;
  return computing_millionths(terms(id), state.run.progress.resumed_from);
}

RunTerms JobController::terms(JobId id) const {
  const Job& job = jobs_.job(id);
  if (saves_by_events(id)) return {job.work, {}, states_[id].pace};
  return {job.work, {job.checkpoint_interval, job.checkpoint_write}, states_[id].pace};
}

// What the run did up to now, at the present pace.
void JobController::account_run(JobId id, Run& run, int64_t gpu_milli) {
  JobState& state = states_[id];
  const Time now = sim_.engine.now();
  state.computed += now - run.progress.since;
  if (!is_paused(id)) return state.gpu_time.add(gpu_milli, advance(run.progress, terms(id), now));
  state.gpu_time.checkpoint += GpuTime::of(gpu_milli, now - run.progress.since);
  run.progress.since = now;
}

// It stops in an orderly way.
void JobController::keep_unsaved(JobId id, Run& run, int64_t gpu_milli) {
  account_run(id, run, gpu_milli);
  states_[id].gpu_time.add(gpu_milli, keep(run.progress));
}

// It was stopped by a failure. Returns what a GPU computed in vain.
Duration JobController::lose_unsaved(JobId id, Run& run, int64_t gpu_milli) {
  account_run(id, run, gpu_milli);
  const WorkLost lost{id, run.progress.unsaved_from, run.progress.unsaved_smeared, gpu_milli};
  run.redo_until = run.progress.done();
  const RunSpans spans = lose(run.progress);
  states_[id].gpu_time.add(gpu_milli, spans);
  if (lost.computed > 0) work_lost.emit(lost);
  return spans.lost;
}

RecoveryRow JobController::recovery_row(JobId id, NodeId node, Duration lost,
                                        int64_t gpu_milli) const {
  const Job& job = jobs_.job(id);
  RecoveryRow row{.job = job.serial,
                  .attempt = states_[id].restarts + states_[id].preemptions +
                             states_[id].membership_changes + 1,
                  .node = node,
                  .failed = sim_.engine.now(),
                  .lost_gpu_s = GpuTime::seconds(GpuTime::of(gpu_milli, lost))};
  std::vector<NodeId> nodes;
  const auto count = [&](PodId pod) {
    if (!jobs_.pod(pod).node.is_valid() || jobs_.pod(pod).state == PodState::Pending) return;
    nodes.push_back(jobs_.pod(pod).node);
  };
  if (job.kind == JobKind::Pods) {
    row.gpus = static_cast<int32_t>((gpu_milli + kMilli - 1) / kMilli);
    return row;
  }
  JobTable::for_each_pod(job.first_pod, job.pods, count);
  std::ranges::sort(nodes);
  row.nodes = static_cast<int32_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
  row.gpus = static_cast<int32_t>((states_[id].gpu_milli + kMilli - 1) / kMilli);
  return row;
}

void JobController::write_job_row(JobId id, JobOutcome outcome, Time end) {
  const Job& job = jobs_.job(id);
  const JobState& state = states_[id];
  gpu_time_ += state.gpu_time;
  if (!job_rows_.is_on()) return;
  const bool is_over = outcome == JobOutcome::Completed || outcome == JobOutcome::Failed;
  const bool has_run = state.first_running != kNever;
  const GpuTime& time = state.gpu_time;
  job_rows_.emit({.job = job.serial,
                  .external_id = job.external_id,
                  .name = std::string_view{job.name},
                  .user = std::string_view{job.user},
                  .team = std::string_view{job.team},
                  .kind = job.kind,
                  .outcome = outcome,
                  .pods = job.pods + job.counted_pods,
                  .members = state.members,
                  .gpus = job.gpus,
                  .priority = job.priority,
                  .restarts = state.restarts,
                  .preemptions = state.preemptions,
                  .membership_changes = state.membership_changes,
                  .submitted = job.submitted,
                  .created = state.first_created,
                  .bound = state.first_bound,
                  .running = state.first_running,
                  .ended = is_over ? end : kNever,
                  .wait = (has_run ? state.first_running : end) - job.submitted,
                  .run = has_run ? end - state.first_running : Duration{},
                  .work = job.work,
                  .gpu_s_useful = GpuTime::seconds(time.useful),
                  .gpu_s_lost = GpuTime::seconds(time.lost),
                  .gpu_s_checkpoint = GpuTime::seconds(time.checkpoint),
                  .gpu_s_restore = GpuTime::seconds(time.restore),
                  .gpu_s_held = GpuTime::seconds(time.held),
                  .gpu_s_hung = GpuTime::seconds(time.hung),
                  .gpu_s_exchange = GpuTime::seconds(time.exchange)});
}

void JobController::write_pod_row(PodId id, PodEnd why, Time end) {
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
                   .end = why});
}

void JobController::finish(Time end) {
  jobs_.for_each_job([&](JobId id) {
    const Job& job = jobs_.job(id);
    JobState& state = states_[id];
    const bool is_gang = job.kind != JobKind::Pods || job.is_counted();
    if (is_gang && job.phase == JobPhase::Running) {
      keep_unsaved(id, state.run, state.run_gpu_milli);
    }
    recoveries_.close(state.run.recovery, end);
    JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod_id) {
      const PodState pod = jobs_.pod(pod_id).state;
      if (!is_gang && pod == PodState::Running) {
        keep_unsaved(id, runs_[pod_id].run, gpu_milli(pod_id));
      }
      account_held(pod_id, end);
      recoveries_.close(runs_[pod_id].run.recovery, end);
      if (pod == PodState::Absent || pod == PodState::Done) return;
      write_pod_row(pod_id, PodEnd::RunEnded, end);
    });
    write_job_row(id, outcome_of(job.phase), end);
  });
}

}  // namespace orrery
