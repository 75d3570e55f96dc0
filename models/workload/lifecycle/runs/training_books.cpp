// models/workload/lifecycle/runs/training_books.cpp -- books the GPU time of runs: see
// TrainingRuns.
#include <utility>

#include "models/workload/lifecycle/runs/training_runs.hpp"

namespace orrery {

TrainingRuns::Ranks TrainingRuns::ranks(JobId id) {
  JobRun& run = jobs_run_[id];
  return {id, {}, run, run.gpu_milli, run.serving_gpu_milli};
}

TrainingRuns::Ranks TrainingRuns::ranks(PodId id) {
  return {jobs_.pod(id).job, id, pods_run_[id], accounts_.gpu_milli(id)};
}

// Books a change of the progress: new compute, and compute that was saved or lost. If checkpoints
// were completed since the last booking, work_done is emitted twice: for the compute up to the end
// of the last checkpoint, and for the compute after that.
void TrainingRuns::account(const Ranks& ranks,
                           const std::function<RunSpans(RunProgress&)>& change) {
  Run& run = ranks.run;
  const RunProgress& now = run.progress;
  GpuTime& total = accounts_.of(ranks.job).gpu_time;
  const Time from = now.since;
  const Duration unsaved_before = now.unsaved_span;
  const RunSpans spans = change(run.progress);
  const Duration settled_span = spans.useful + spans.lost;
  const Duration computed = settled_span + now.unsaved_span - unsaved_before;
  const int64_t all_milli = ranks.gpu_milli + ranks.serving_gpu_milli;
  total.checkpoint += GpuTime::of(all_milli, spans.checkpoint);
  (jobs_.job(ranks.job).spec.service ? total.idle : total.exchange) +=
      GpuTime::of(all_milli, spans.exchange) + GpuTime::of(ranks.serving_gpu_milli, computed);
  const auto tell = [&](Time begin, Time end, Duration span) {
    if (span == Duration{} || ranks.gpu_milli == 0) return;
    const int128_t amount = GpuTime::of(ranks.gpu_milli, span);
    run.unsaved += amount;
    news_.work_done.emit({ranks.job, ranks.pod, begin, end, amount});
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

// Compute saved on local disks may still be lost until the job is over, so it is not reported as
// settled.
void TrainingRuns::settle(const WorkSettled& settled) {
  GpuTime& total = accounts_.of(settled.job).gpu_time;
  total.useful += settled.kept;
  total.lost += settled.lost;
  if (settled.lost > 0 || (settled.kept > 0 && !saves_locally(settled.job))) {
    news_.work_settled.emit(settled);
  }
}

// Advances the progress up to now. The present pace counts for the whole time since the last
// advance. If the job is paused, this time is checkpoint time.
RunSpans TrainingRuns::pass(const Ranks& ranks, RunProgress& progress) {
  const Time now = sim_.engine.now();
  jobs_run_[ranks.job].computed += now - progress.since;
  if (ranks.pod.is_valid()) return advance(progress, terms(ranks.pod), now);
  if (!is_paused(ranks.job)) return advance(progress, terms(ranks.job), now);
  return {.checkpoint = now - std::exchange(progress.since, now)};
}

void TrainingRuns::book(const Ranks& ranks) {
  account(ranks, [&](RunProgress& progress) { return pass(ranks, progress); });
}

void TrainingRuns::keep(const Ranks& ranks) {
  account(ranks, [&](RunProgress& progress) {
    const RunSpans spans = pass(ranks, progress);
    return spans + orrery::keep(progress);
  });
}

int128_t TrainingRuns::lose(const Ranks& ranks) {
  book(ranks);
  ranks.run.redo_until = ranks.run.progress.done();
  const int128_t before = accounts_.of(ranks.job).gpu_time.lost;
  account(ranks, orrery::lose);
  return accounts_.of(ranks.job).gpu_time.lost - before;
}

void TrainingRuns::end_of(JobId id) {
  const int128_t useful = accounts_.of(id).gpu_time.useful;
  if (saves_locally(id) && useful > 0)
    news_.work_settled.emit({.job = id, .pod = {}, .kept = useful});
}

}  // namespace orrery
