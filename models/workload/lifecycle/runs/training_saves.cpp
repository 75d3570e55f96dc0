// models/workload/lifecycle/runs/training_saves.cpp -- checkpoints that are simulated by events:
// see TrainingRuns.
#include <algorithm>
#include <utility>

#include "models/workload/lifecycle/runs/training_runs.hpp"
#include "models/workload/training/checkpoint_params.hpp"
#include "sim/core/check.hpp"

namespace orrery {

bool TrainingRuns::saves_by_events(JobId id) const {
  const JobRun& run = jobs_run_[id];
  return jobs_.job(id).spec.checkpoint || (run.is_traced && run.checkpoint_interval > Duration{});
}

bool TrainingRuns::saves_locally(JobId id) const {
  const auto& checkpoint = jobs_.job(id).spec.checkpoint;
  return checkpoint && checkpoint->store == kLocalStore;
}

void TrainingRuns::go_on(JobId id) {
  JobRun& run = jobs_run_[id];
  book(id);
  if (std::exchange(run.is_paused, false)) news_.pace_changed.emit(id);
  sim_.engine.cancel(run.event);
  compute(id);
  recoveries_.paced(run.recovery, time_to_redo(run, terms(id)));
}

void TrainingRuns::checkpoint_due(JobId id) {
  book(id);
  JobRun& run = jobs_run_[id];
  run.is_paused = true;
  news_.pace_changed.emit(id);
  if (run.is_saving) {
    ORRERY_MARK("jobs.checkpoint_waits_for_the_last_one");
    return;
  }
  const JobSpec& spec = jobs_.job(id).spec;
  if (spec.checkpoint && spec.checkpoint->mode != CheckpointMode::Sync) {
    run.event = sim_.engine.after(checkpoints_->copy_time(id), Label{"jobs.checkpoint_copied"},
                                  [this, id] { checkpoint_copied(id); });
    return;
  }
  run.snapshot = snapshot(run.progress);
  if (spec.checkpoint) return checkpoints_->write(id, [this, id] { checkpoint_written(id); });
  run.event = sim_.engine.after(spec.checkpoint_write, Label{"jobs.checkpoint_written"},
                                [this, id] { checkpoint_written(id); });
}

void TrainingRuns::checkpoint_copied(JobId id) {
  JobRun& run = jobs_run_[id];
  book(id);
  run.snapshot = snapshot(run.progress);
  run.is_saving = true;
  checkpoints_->write(id, [this, id] { checkpoint_written(id); });
  go_on(id);
}

void TrainingRuns::checkpoint_written(JobId id) {
  JobRun& run = jobs_run_[id];
  book(id);
  account(ranks(id), [&run](RunProgress& progress) { return save(progress, run.snapshot); });
  if (saves_locally(id)) {
    run.saved_on = checkpoints_->nodes(id, Direction::Write);
    run.saved_at = sim_.engine.now();
  }
  const bool is_next_due = run.is_saving && run.is_paused;
  run.is_saving = false;
  is_next_due ? checkpoint_due(id) : go_on(id);
}

void TrainingRuns::drop_checkpoint(JobId id) {
  if (jobs_.job(id).spec.checkpoint) checkpoints_->cancel(id);
  jobs_run_[id].is_paused = jobs_run_[id].is_saving = false;
}

// ---- local disks

void TrainingRuns::node_failed(NodeId node) {
  if (checkpoints_) disks_lost_[node] = sim_.engine.now();
}

// A checkpoint on local disks is useless without all of its parts. The job goes back to what its
// last suspension saved, which is not on local disks.
int128_t TrainingRuns::lose_local(JobId id) {
  JobRun& run = jobs_run_[id];
  if (run.saved_on.empty()) return 0;
  ORRERY_MARK("jobs.local_checkpoints_lost");
  run.saved_on.clear();
  Duration& saved = run.progress.saved;
  run.redo_until = std::max(run.redo_until, saved);
  saved = run.safe;
  GpuTime& time = accounts_.of(id).gpu_time;
  const int128_t undone = std::exchange(time.useful, run.safe_useful) - run.safe_useful;
  settle({.job = id, .pod = {}, .lost = undone});
  return undone;
}

// The gang restarts, perhaps on other nodes. Its checkpoint on local disks survives if all nodes
// with a part of the checkpoint belong to the gang again, and none has failed since the checkpoint.
void TrainingRuns::find_local(JobId id) {
  JobRun& run = jobs_run_[id];
  if (run.saved_on.empty()) return;
  const std::vector<NodeId> here = checkpoints_->nodes(id, Direction::Read);
  const bool is_whole = std::ranges::none_of(
      run.saved_on, [&](NodeId node) { return disks_lost_[node] >= run.saved_at; });
  if (is_whole && std::ranges::includes(here, run.saved_on)) return;
  ORRERY_MARK("jobs.local_checkpoints_left_behind");
  const int128_t lost = lose_local(id);
  if (RecoveryRow* const row = recoveries_.find(run.recovery)) {
    row->lost_gpu_s += GpuTime::seconds(lost);
  }
}

// ---- suspension

void TrainingRuns::suspend(JobId id, Duration restart) {
  JobRun& run = jobs_run_[id];
  keep(id);
  run.is_suspending = true;
  run.restart = restart;
  run.saved_on.clear();
  run.safe = run.progress.saved;
  run.safe_useful = accounts_.of(id).gpu_time.useful;
  stop(id);
  recoveries_.close(run.recovery, sim_.engine.now());
  run.recovery = {};
  news_.pace_changed.emit(id);
}

void TrainingRuns::suspended(JobId id) {
  JobRun& run = jobs_run_[id];
  run.is_suspending = false;
  run.gpu_milli = run.serving_gpu_milli = 0;
}

}  // namespace orrery
