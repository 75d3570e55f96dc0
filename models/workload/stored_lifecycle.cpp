#include <algorithm>
#include <utility>

#include "models/workload/checkpoint_params.hpp"
#include "models/workload/job_controller.hpp"
#include "sim/core/check.hpp"

namespace orrery {

bool JobController::saves_by_events(JobId id) const {
  const Job& job = jobs_.job(id);
  return job.checkpoint || (states_[id].is_played && job.checkpoint_interval > Duration{});
}

void JobController::pause(JobId id) {
  JobState& state = states_[id];
  account_run(id, state.run, state.run_gpu_milli);
  state.is_paused = true;
  pace_changed.emit(id);
}

void JobController::go_on(JobId id) {
  JobState& state = states_[id];
  account_run(id, state.run, state.run_gpu_milli);
  if (state.is_paused) {
    state.is_paused = false;
    pace_changed.emit(id);
  }
  sim_.engine.cancel(state.event);
  compute(id);
  recoveries_.paced(state.run.recovery, time_to_redo(id, state.run));
}

void JobController::checkpoint_due(JobId id) {
  pause(id);
  JobState& state = states_[id];
  arrive(state.run.progress, state.snapshot.done + jobs_.job(id).checkpoint_interval);
  if (state.is_saving) {
    ORRERY_MARK("jobs.checkpoint_waits_for_the_last_one");
    return;
  }
  const Job& job = jobs_.job(id);
  if (!job.checkpoint || job.checkpoint->mode == CheckpointMode::Sync) {
    state.snapshot = snapshot(state.run.progress);
    if (!job.checkpoint) {
      state.event = sim_.engine.after(job.checkpoint_write, Label{"jobs.checkpoint_written"},
                                      [this, id] { checkpoint_written(id); });
      return;
    }
    checkpoints_->write(id, [this, id] { checkpoint_written(id); });
    return;
  }
  state.event = sim_.engine.after(checkpoints_->copy_time(id), Label{"jobs.checkpoint_copied"},
                                  [this, id] { checkpoint_copied(id); });
}

void JobController::checkpoint_copied(JobId id) {
  JobState& state = states_[id];
  account_run(id, state.run, state.run_gpu_milli);
  state.snapshot = snapshot(state.run.progress);
  state.is_saving = true;
  checkpoints_->write(id, [this, id] { checkpoint_written(id); });
  go_on(id);
}

void JobController::checkpoint_written(JobId id) {
  JobState& state = states_[id];
  account_run(id, state.run, state.run_gpu_milli);
  state.gpu_time.add(state.run_gpu_milli, save(state.run.progress, state.snapshot));
  if (const auto& checkpoint = jobs_.job(id).checkpoint;
      checkpoint && checkpoint->store == kLocalStore) {
    state.saved_on = checkpoints_->nodes(id, Direction::Write);
    state.saved_at = sim_.engine.now();
  }
  const bool is_next_due = state.is_saving && state.is_paused;
  state.is_saving = false;
  is_next_due ? checkpoint_due(id) : go_on(id);
}

// Whatever is on its way to a store, or back, is worth nothing now.
void JobController::drop_checkpoint(JobId id) {
  if (jobs_.job(id).checkpoint) checkpoints_->cancel(id);
  states_[id].is_paused = states_[id].is_saving = false;
}

// What lies on the disks of its nodes is worth nothing without all of its parts.
Duration JobController::lose_local(JobId id) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  Duration& saved = state.run.progress.saved;
  if (!job.checkpoint || job.checkpoint->store != kLocalStore || saved == Duration{}) return {};
  ORRERY_MARK("jobs.local_checkpoints_lost");
  state.run.redo_until = std::max(state.run.redo_until, saved);
  saved = {};
  state.saved_on.clear();
  const int128_t undone = std::exchange(state.gpu_time.useful, 0);
  state.gpu_time.lost += undone;
  work_lost.emit(
      {.job = id, .from = state.first_running, .computed = undone * Pace::kFull, .gpu_milli = 1});
  return {static_cast<int64_t>(undone / std::max<int64_t>(state.run_gpu_milli, 1))};
}

// The gang starts again, on nodes that may be others.
void JobController::find_local(JobId id) {
  JobState& state = states_[id];
  if (state.saved_on.empty()) return;
  const std::vector<NodeId> here = checkpoints_->nodes(id, Direction::Read);
  const bool is_whole = std::ranges::none_of(
      state.saved_on, [&](NodeId node) { return disks_lost_[node] >= state.saved_at; });
  if (is_whole && std::ranges::includes(here, state.saved_on)) return;
  ORRERY_MARK("jobs.local_checkpoints_left_behind");
  const Duration lost = lose_local(id);
  if (RecoveryRow* const row = recoveries_.find(state.run.recovery)) {
    row->lost_gpu_s += GpuTime::seconds(GpuTime::of(state.run_gpu_milli, lost));
  }
}

}  // namespace orrery
