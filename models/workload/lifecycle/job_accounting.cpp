#include <algorithm>
#include <utility>

#include "models/workload/lifecycle/job_controller.hpp"
#include "models/workload/training/checkpoint_params.hpp"

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
  const int64_t run = state.run_gpu_milli + state.serving_gpu_milli;
  const int64_t busy = runs                      ? std::min(run, state.gpu_milli)
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

// What it holds may change while it is set up and loads its checkpoint.
void JobController::account_counted_start(JobId id, Time now) {
  const Job& job = jobs_.job(id);
  if (!job.is_counted() || job.phase != JobPhase::Starting) return;
  JobState& state = states_[id];
  const Time split = std::clamp(state.run.restore_from, state.held_from, now);
  state.gpu_time.held += GpuTime::of(state.gpu_milli, split - state.held_from);
  state.gpu_time.restore += GpuTime::of(state.gpu_milli, now - split);
  state.held_from = now;
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
  const JobState& state = states_[id];
  if (saves_by_events(id)) return {state.work, {}, state.pace};
  const Duration write = jobs_.job(id).checkpoint_write;
  return {state.work, {state.checkpoint_interval, write}, state.pace};
}

JobController::Ranks JobController::gang(JobId id) {
  JobState& state = states_[id];
  return {id, {}, state.run, state.run_gpu_milli, state.serving_gpu_milli};
}

JobController::Ranks JobController::alone(PodId id) {
  return {jobs_.pod(id).job, id, runs_[id].run, gpu_milli(id)};
}

// Books a change of the progress: new compute, and compute that was saved or lost. A span with a
// checkpoint in it is booked in two parts, before and after the checkpoint's end.
void JobController::account(const Ranks& ranks,
                            const std::function<RunSpans(RunProgress&)>& change) {
  Run& run = ranks.run;
  const RunProgress& now = run.progress;
  GpuTime& total = states_[ranks.job].gpu_time;
  const Time from = now.since;
  const Duration unsaved_before = now.unsaved_span;
  const RunSpans spans = change(run.progress);
  const Duration settled_span = spans.useful + spans.lost;
  const Duration computed = settled_span + now.unsaved_span - unsaved_before;
  const int64_t all_milli = ranks.gpu_milli + ranks.serving_gpu_milli;
  total.checkpoint += GpuTime::of(all_milli, spans.checkpoint);
  (jobs_.job(ranks.job).service ? total.idle : total.exchange) +=
      GpuTime::of(all_milli, spans.exchange) + GpuTime::of(ranks.serving_gpu_milli, computed);
  const auto tell = [&](Time begin, Time end, Duration span) {
    if (span == Duration{} || ranks.gpu_milli == 0) return;
    const int128_t amount = GpuTime::of(ranks.gpu_milli, span);
    run.unsaved += amount;
    work_done.emit({ranks.job, ranks.pod, begin, end, amount});
  };
  const bool is_split = now.unsaved_from > from;
  const Duration rest = is_split ? now.unsaved_span : Duration{};
  tell(from, is_split ? now.unsaved_from : now.since, computed - rest);
  tell(now.unsaved_from, now.since, rest);
  if (settled_span == Duration{}) return;
  const int128_t left = GpuTime::of(ranks.gpu_milli, now.unsaved_span);
  const int128_t settled = std::exchange(run.unsaved, left) - left;
  const bool is_lost = spans.lost > Duration{};
  settle({ranks.job, ranks.pod, is_lost ? 0 : settled, is_lost ? settled : 0});
}

// What local disks hold may still be lost, until the job is over.
void JobController::settle(const WorkSettled& settled) {
  GpuTime& total = states_[settled.job].gpu_time;
  total.useful += settled.kept;
  total.lost += settled.lost;
  if (settled.lost > 0 || (settled.kept > 0 && !saves_locally(settled.job))) {
    work_settled.emit(settled);
  }
}

void JobController::settle_local(JobId id) {
  const int128_t useful = states_[id].gpu_time.useful;
  if (saves_locally(id) && useful > 0) work_settled.emit({.job = id, .pod = {}, .kept = useful});
}

// Up to now, at the present pace.
RunSpans JobController::pass(JobId id, RunProgress& progress) {
  const Time now = sim_.engine.now();
  if (!is_paused(id)) return advance(progress, terms(id), now);
  return {.checkpoint = now - std::exchange(progress.since, now)};
}

// What the run did up to now.
void JobController::account_run(const Ranks& ranks) {
  states_[ranks.job].computed += sim_.engine.now() - ranks.run.progress.since;
  account(ranks, [&](RunProgress& progress) { return pass(ranks.job, progress); });
}

// It stops in an orderly way.
void JobController::keep_unsaved(const Ranks& ranks) {
  states_[ranks.job].computed += sim_.engine.now() - ranks.run.progress.since;
  account(ranks, [&](RunProgress& progress) {
    const RunSpans spans = pass(ranks.job, progress);
    return spans + keep(progress);
  });
}

// A failure stopped the run. Returns the GPU time that was lost.
int128_t JobController::lose_unsaved(const Ranks& ranks) {
  account_run(ranks);
  ranks.run.redo_until = ranks.run.progress.done();
  const int128_t before = states_[ranks.job].gpu_time.lost;
  account(ranks, lose);
  return states_[ranks.job].gpu_time.lost - before;
}

RecoveryRow JobController::recovery_row(JobId id, NodeId node, int128_t lost,
                                        int64_t gpu_milli) const {
  const Job& job = jobs_.job(id);
  RecoveryRow row{.job = job.serial,
                  .attempt = states_[id].restarts + states_[id].preemptions +
                             states_[id].membership_changes + 1,
                  .node = node,
                  .failed = sim_.engine.now(),
                  .lost_gpu_s = GpuTime::seconds(lost)};
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
                  .gpu_s_exchange = GpuTime::seconds(time.exchange),
                  .gpu_s_idle = GpuTime::seconds(time.idle)});
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
    const bool is_alone = job.kind == JobKind::Pods && !job.is_counted() && !job.service;
    if (!is_alone && job.phase == JobPhase::Running) keep_unsaved(gang(id));
    settle_local(id);
    account_counted_start(id, end);
    recoveries_.close(state.run.recovery, end);
    JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod_id) {
      const PodState pod = jobs_.pod(pod_id).state;
      if (is_alone && pod == PodState::Running) keep_unsaved(alone(pod_id));
      account_held(pod_id, end);
      recoveries_.close(runs_[pod_id].run.recovery, end);
      if (pod == PodState::Absent || pod == PodState::Done) return;
      write_pod_row(pod_id, PodEnd::RunEnded, end);
    });
    write_job_row(id, outcome_of(job.phase), end);
  });
}

}  // namespace orrery
