#include <algorithm>
#include <utility>

#include "models/workload/lifecycle/job_controller.hpp"
#include "models/workload/training/checkpoint_params.hpp"
#include "sim/core/check.hpp"

namespace orrery {

bool JobController::saves_by_events(JobId id) const {
  const Job& job = jobs_.job(id);
  return job.checkpoint || (states_[id].is_traced && states_[id].checkpoint_interval > Duration{});
}

bool JobController::saves_locally(JobId id) const {
  const auto& checkpoint = jobs_.job(id).checkpoint;
  return checkpoint && checkpoint->store == kLocalStore;
}

void JobController::pause(JobId id) {
  account_run(gang(id));
  states_[id].is_paused = true;
  pace_changed.emit(id);
}

void JobController::go_on(JobId id) {
  JobState& state = states_[id];
  account_run(gang(id));
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
  account_run(gang(id));
  state.snapshot = snapshot(state.run.progress);
  state.is_saving = true;
  checkpoints_->write(id, [this, id] { checkpoint_written(id); });
  go_on(id);
}

void JobController::checkpoint_written(JobId id) {
  JobState& state = states_[id];
  account_run(gang(id));
  account(gang(id), [&state](RunProgress& progress) { return save(progress, state.snapshot); });
  if (saves_locally(id)) {
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
int128_t JobController::lose_local(JobId id) {
  JobState& state = states_[id];
  Duration& saved = state.run.progress.saved;
  if (!saves_locally(id) || saved == Duration{}) return 0;
  ORRERY_MARK("jobs.local_checkpoints_lost");
  state.run.redo_until = std::max(state.run.redo_until, saved);
  saved = {};
  state.saved_on.clear();
  const int128_t undone = std::exchange(state.gpu_time.useful, 0);
  settle({.job = id, .pod = {}, .lost = undone});
  return undone;
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
  const int128_t lost = lose_local(id);
  if (RecoveryRow* const row = recoveries_.find(state.run.recovery)) {
    row->lost_gpu_s += GpuTime::seconds(lost);
  }
}

}  // namespace orrery
