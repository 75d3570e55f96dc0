#include <algorithm>

#include "models/workload/job_controller.hpp"

namespace orrery {
namespace {

CheckpointPlan plan_of(const Job& job) { return {job.checkpoint_interval, job.checkpoint_write}; }

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
  const int64_t busy = phase == JobPhase::Running ? std::min(state.run_gpu_milli, state.gpu_milli)
                       : phase == JobPhase::Hung  ? state.gpu_milli
                                                  : 0;
  return {.bound = state.gpu_milli,
          .busy = busy,
          .compute_fraction = phase == JobPhase::Running ? compute_fraction(plan_of(job)) : 0};
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
    const Time restore_from =
        pod.gang.is_valid() ? states_[pod.job].run.restore_from : run.run.restore_from;
    const Time split = std::clamp(restore_from, run.held_from, now);
    total.held += GpuTime::of(milli, split - run.held_from);
    total.restore += GpuTime::of(milli, now - split);
  }
  run.held_from = now;
}

void JobController::account_completed(JobId id, const Run& run, int64_t gpu_milli) {
  const Job& job = jobs_.job(id);
  const Duration left = job.work - run.saved;
  const Pace& pace = states_[id].pace;
  GpuTime& total = states_[id].gpu_time;
  total.useful += GpuTime::of(gpu_milli, pace.span_of(left));
  total.checkpoint +=
      GpuTime::of(gpu_milli, pace.span_of(run_time(left, plan_of(job))) - pace.span_of(left));
}

// Where the stretch stands at `end`, in time at full pace.
RunCut JobController::cut_now(JobId id, const Run& run, Time end) const {
  const Job& job = jobs_.job(id);
  return cut_run(job.work - run.saved, plan_of(job),
                 states_[id].pace.work_in(end - run.computes_from));
}

RunCut JobController::account_cut(JobId id, Run& run, int64_t gpu_milli) {
  if (states_[id].is_suspending) return {};
  const Time now = sim_.engine.now();
  const RunCut cut = cut_now(id, run, now);
  const Pace& pace = states_[id].pace;
  GpuTime& total = states_[id].gpu_time;
  total.useful += GpuTime::of(gpu_milli, pace.span_of(cut.saved));
  total.lost += GpuTime::of(gpu_milli, pace.span_of(cut.lost));
  total.checkpoint += GpuTime::of(gpu_milli, pace.span_of(cut.wrote + cut.half_written));
  run.saved += cut.saved;
  if (cut.lost > Duration{}) {
    const Time to = now - pace.span_of(cut.half_written);
    const Time from = std::max(to - pace.span_of(cut.lost), run.computes_from);
    work_lost.emit({.job = id, .from = from, .to = to, .gpu_milli = gpu_milli});
  }
  return cut;
}

// What it computed up to now is kept: it is about to stop in an orderly way, or to change its pace.
void JobController::account_stretch(JobId id) {
  JobState& state = states_[id];
  const RunCut cut = cut_now(id, state.run, sim_.engine.now());
  const Pace& pace = state.pace;
  state.gpu_time.useful += GpuTime::of(state.run_gpu_milli, pace.span_of(cut.saved + cut.lost));
  state.gpu_time.checkpoint +=
      GpuTime::of(state.run_gpu_milli, pace.span_of(cut.wrote + cut.half_written));
  state.run.saved += cut.saved + cut.lost;
  state.computed += sim_.engine.now() - state.run.computes_from;
}

void JobController::account_unfinished(JobId id, const Run& run, int64_t gpu_milli, Time end) {
  if (states_[id].is_suspending) return;
  const RunCut cut = cut_now(id, run, end);
  GpuTime& total = states_[id].gpu_time;
  const Pace& pace = states_[id].pace;
  // Not thrown away, so far.
  total.useful += GpuTime::of(gpu_milli, pace.span_of(cut.saved + cut.lost));
  total.checkpoint += GpuTime::of(gpu_milli, pace.span_of(cut.wrote + cut.half_written));
}

RecoveryRow JobController::recovery_row(JobId id, NodeId node, const RunCut& cut,
                                        int64_t gpu_milli) const {
  const Job& job = jobs_.job(id);
  RecoveryRow row{.job = job.serial,
                  .attempt = states_[id].restarts + 1,
                  .node = node,
                  .failed = sim_.engine.now(),
                  .lost_gpu_s = GpuTime::seconds(GpuTime::of(gpu_milli, cut.lost))};
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
                  .gpus = job.gpus,
                  .priority = job.priority,
                  .restarts = state.restarts,
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
                  .gpu_s_hung = GpuTime::seconds(time.hung)});
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
      account_unfinished(id, state.run, state.run_gpu_milli, end);
    }
    recoveries_.close(state.run.recovery, end);
    JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod_id) {
      const PodState pod = jobs_.pod(pod_id).state;
      if (!is_gang && pod == PodState::Running) {
        account_unfinished(id, runs_[pod_id].run, gpu_milli(pod_id), end);
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
