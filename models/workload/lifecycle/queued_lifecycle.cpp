#include <algorithm>

#include "models/workload/lifecycle/job_controller.hpp"
#include "models/workload/training/communicator_init.hpp"
#include "sim/core/check.hpp"

namespace orrery {

void JobController::hold_counted(JobId id, int64_t gpu_milli) {
  JobState& state = states_[id];
  if (state.gpu_milli == gpu_milli) return;
  account_counted_start(id, sim_.engine.now());
  state.gpu_milli = gpu_milli;
  counted_holds.emit(id, gpu_milli);
}

// The way of a gang without its pods: set up, load the checkpoint, compute.
void JobController::run_counted(JobId id, Pace pace) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  ORRERY_CHECK(job.is_counted() && job.phase == JobPhase::Pending, "a waiting counted job starts");
  const Time now = sim_.engine.now();
  if (state.first_bound == kNever) state.first_created = state.first_bound = now;
  state.pace = pace;
  hold_counted(id, job.demand[Resource::Gpu] * pace.share_milli / 1000);
  const Duration init = init_time(job, job.gpus);
  state.run.restore_from = now + init;
  const Duration restore = state.run.progress.saved > Duration{} ? job.restore : Duration{};
  const Time runs_at = state.run.restore_from + restore;
  state.held_from = now;
  if (runs_at == now) {
    gang_runs(id);
    return;
  }
  state.event = sim_.engine.at(runs_at, Label{"jobs.gang_runs"}, [this, id] { gang_runs(id); });
  set_phase(id, JobPhase::Starting);
}

void JobController::set_pace(JobId id, Pace pace) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  ORRERY_CHECK(job.is_counted() || job.kind == JobKind::MpiGang, "pods go alone, at full pace");
  if (state.is_suspending || pace == state.pace) return;
  const bool is_running = job.phase == JobPhase::Running;
  if (is_running) {
    account_run(gang(id));
    if (!state.is_paused) sim_.engine.cancel(state.event);  // else it ends the pause
  }
  change_pace(state.run.progress);
  state.pace = pace;
  if (job.is_counted()) hold_counted(id, job.demand[Resource::Gpu] * pace.share_milli / 1000);
  if (!is_running || state.is_paused) return;
  if (job.is_counted()) state.run_gpu_milli = state.gpu_milli;
  compute(id);
  recoveries_.paced(state.run.recovery, time_to_redo(id, state.run));
  pace_changed.emit(id);
}

bool JobController::suspend(JobId id, Duration write, Duration restart) {
  const Job& job = jobs_.job(id);
  if (job.phase != JobPhase::Running) return false;
  if (job.kind == JobKind::Pods && !job.is_counted()) return false;
  JobState& state = states_[id];
  if (state.is_suspending) return true;
  keep_unsaved(gang(id));
  state.is_suspending = true;
  state.saved_on.clear();  // this checkpoint follows the job
  jobs_.job(id).restore = std::max(job.restore, restart);
  sim_.engine.cancel(state.event);
  drop_checkpoint(id);
  recoveries_.close(state.run.recovery, sim_.engine.now());
  state.run.recovery = {};
  pace_changed.emit(id);
  if (write == Duration{}) {
    suspended(id);
    return true;
  }
  state.event = sim_.engine.after(write, Label{"jobs.suspended"}, [this, id] { suspended(id); });
  return true;
}

void JobController::suspended(JobId id) {
  JobState& state = states_[id];
  account_run(gang(id));
  remove_pods(id, PodEnd::GangStopped);
  const Job& job = jobs_.job(id);  // those above min_available may still be on their way
  JobTable::for_each_pod(job.first_pod, job.pods, [this](PodId pod) { forget_creation(pod); });
  state.is_suspending = false;
  state.run_gpu_milli = state.serving_gpu_milli = 0;
  set_phase(id, JobPhase::Pending);
  if (jobs_.job(id).is_counted()) hold_counted(id, 0);
  job_suspended.emit(id);
}

}  // namespace orrery
