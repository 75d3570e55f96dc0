#include <algorithm>
#include <utility>

#include "models/workload/lifecycle/job_controller.hpp"
#include "models/workload/training/communicator_init.hpp"
#include "sim/core/check.hpp"

namespace orrery {

bool JobController::has_quorum(const Job& job) const {
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    const Gang& gang = jobs_.gang({job.first_gang.index + g});
    if (gang.bound < gang.min_available) return false;
  }
  return true;
}

// With enough members bound, and all of them known to start some time, the rest of the start is
// known: the slowest container opens the barrier, then the communicator is set up, then the
// checkpoint is loaded.
void JobController::gang_gathers(JobId id) {
  const Job& job = jobs_.job(id);
  if (!has_quorum(job)) return;
  JobState& state = states_[id];
  const Time now = sim_.engine.now();
  if (state.first_bound == kNever) state.first_bound = now;
  if (RecoveryRow* const row = recoveries_.find(state.run.recovery)) row->scheduled = now;
  state.run.restore_from = Time::max();
  if (job.is_elastic) {
    state.barrier = Time::max();
    state.called = kNever;
    set_phase(id, JobPhase::Starting);
    return call_members(id);
  }
  state.barrier = now;
  state.awaited = 0;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId id_of_pod) {
    const Pod& pod = jobs_.pod(id_of_pod);
    if (pod.state != PodState::Bound) return;
    runs_[id_of_pod].is_awaited = pod.started == Time::max();
    if (runs_[id_of_pod].is_awaited) {
      ++state.awaited;
    } else {
      state.barrier = std::max(state.barrier, pod.started);
    }
  });
  if (state.awaited == 0) return gang_starts(id);
  set_phase(id, JobPhase::Starting);
}

void JobController::gang_starts(JobId id) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  const Time now = sim_.engine.now(), barrier = state.barrier;
  if (RecoveryRow* const row = recoveries_.find(state.run.recovery)) row->started = barrier;
  const JobTable::Members members = jobs_.taking_part(id);
  state.members = members.pods;
  state.run.restore_from = barrier + init_time(job, members.gpus);
  find_local(id);
  if (job.checkpoint && state.run.progress.saved > Duration{}) {
    set_phase(id, JobPhase::Starting);
    state.event = sim_.engine.at(state.run.restore_from, Label{"jobs.restore_begins"}, [this, id] {
      checkpoints_->read(id, [this, id] { gang_runs(id); });
    });
    return;
  }
  const Time runs_at =
      state.run.restore_from + (state.run.progress.saved > Duration{} ? job.restore : Duration{});
  if (runs_at == now) {
    gang_runs(id);
    return;
  }
  state.event = sim_.engine.at(runs_at, Label{"jobs.gang_runs"}, [this, id] { gang_runs(id); });
  set_phase(id, JobPhase::Starting);
}

void JobController::gang_runs(JobId id) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  account_counted_start(id, sim_.engine.now());
  state.run_gpu_milli = job.is_counted() ? state.gpu_milli : 0;
  state.serving_gpu_milli = 0;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    if (jobs_.pod(pod).state != PodState::Bound || !jobs_.pod(pod).takes_part) return;
    account_held(pod, sim_.engine.now());
    jobs_.pod(pod).state = PodState::Running;
    jobs_.pod(pod).serves = false;
    ++state.running;
    state.run_gpu_milli += gpu_milli(pod);
  });
  state.run.restore_from = Time::max();
  state.is_suspending = state.is_traced = false;
  if (job.step && pace_model_ != nullptr) {
    if (const auto start = pace_model_->begins(id)) take_terms(id, *start);
  }
  resume(state.run.progress, sim_.engine.now());
  state.run.progress.resumed_from = state.run.progress.saved;
  state.snapshot = snapshot(state.run.progress);
  recoveries_.resumed(state.run.recovery, time_to_redo(id, state.run));
  compute(id);
  set_phase(id, JobPhase::Running);
}

// On GPUs of another model than last time what was saved took another time, too.
void JobController::take_terms(JobId id, const GangStart& start) {
  JobState& state = states_[id];
  for (const PodId pod : start.servers) {
    jobs_.pod(pod).serves = true;
    state.run_gpu_milli -= gpu_milli(pod);
    state.serving_gpu_milli += gpu_milli(pod);
  }
  const auto rescale = [&](Duration& done) {
    done = {static_cast<int64_t>(int128_t{done.ns} * start.work.ns / state.work.ns)};
  };
  if (start.work != state.work) {
    rescale(state.run.progress.saved);
    rescale(state.run.redo_until);
  }
  state.work = start.work;
  state.checkpoint_interval = start.checkpoint_interval;
  state.pace = start.pace;
  state.is_traced = start.is_traced;
}

Duration JobController::time_to_redo(JobId id, const Run& run) const {
  return run.redo_until <= run.progress.done()
             ? Duration{}
             : time_until(run.progress, terms(id), run.redo_until);
}

// To the end or the next checkpoint that is an event, unless something comes between. A traced gang
// goes on until a step is done.
void JobController::compute(JobId id) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  const Duration next = next_save(id);
  const bool saves = next < state.work;
  const Duration stop = std::max(std::min(next, state.work), state.run.progress.done());
  const Duration span =
      state.is_traced ? Duration::max() : time_until(state.run.progress, terms(id), stop);
  const Duration limit = time_limit(job, params_.overruns) - state.computed;
  const bool in_time = span <= limit;
  if (in_time && span == Duration::max()) return;  // it stands still, or is traced
  if (in_time && saves) {
    state.event =
        sim_.engine.after(span, Label{"jobs.checkpoint_due"}, [this, id] { checkpoint_due(id); });
    return;
  }
  state.event =
      sim_.engine.after(in_time ? span : std::max(limit, Duration{}), Label{"jobs.gang_completed"},
                        [this, id, in_time] { gang_completes(id, in_time); });
}

// Progress at which the next checkpoint that is an event begins; max: there are none.
Duration JobController::next_save(JobId id) const {
  const JobState& state = states_[id];
  return saves_by_events(id) ? state.snapshot.done + state.checkpoint_interval : Duration::max();
}

void JobController::step_done(JobId id) {
  account_run(gang(id));
  JobState& state = states_[id];
  const Duration done = state.run.progress.done();
  if (done >= state.work) {
    sim_.engine.cancel(state.event);
    return gang_completes(id, true);
  }
  if (done < next_save(id)) return;
  sim_.engine.cancel(state.event);
  checkpoint_due(id);
}

Duration JobController::done(JobId id) const { return run_now(id).progress.done(); }

RunNow JobController::run_now(JobId id) const {
  const JobState& state = states_[id];
  RunNow run{.terms = terms(id),
             .progress = state.run.progress,
             .restore_from = state.run.restore_from,
             .is_paused = is_paused(id)};
  const bool advances = jobs_.job(id).phase == JobPhase::Running && !run.is_paused;
  if (advances) advance(run.progress, run.terms, sim_.engine.now());
  return run;
}

bool JobController::is_paused(JobId id) const {
  return states_[id].is_paused || states_[id].is_suspending;
}

void JobController::gang_completes(JobId id, bool in_time) {
  if (in_time) {
    keep_unsaved(gang(id));
  } else {
    ORRERY_MARK("jobs.gang_overran");
    lose_unsaved(gang(id));
  }
  end_job(id, in_time ? JobPhase::Completed : JobPhase::Failed);
}

void JobController::gang_stops(JobId id, NodeId node) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  const bool was_running = job.phase == JobPhase::Running;
  if (state.is_suspending) {  // what it computed is kept as if it had stopped a moment before
    ORRERY_MARK("jobs.struck_while_suspending");
    sim_.engine.cancel(state.event);
    state.event = sim_.engine.after({}, Label{"jobs.suspended"}, [this, id] { suspended(id); });
    return;
  }
  if (job.phase == JobPhase::Hung && node.is_valid()) lose_local(id);
  if (!was_running && job.phase != JobPhase::Starting) {
    // Gathering: only the pod is replaced. Hung or Restarting: the job is down already.
    ORRERY_MARK("jobs.node_failed_while_not_started");
    return;
  }
  state.run.redo_until = {};
  int128_t lost = was_running ? lose_unsaved(gang(id)) : 0;
  if (node.is_valid()) lost += lose_local(id);
  sim_.engine.cancel(state.event);
  drop_checkpoint(id);
  recoveries_.close(state.run.recovery, sim_.engine.now());
  state.run.recovery = recoveries_.open(recovery_row(id, node, lost, state.run_gpu_milli));
}

// The survivors notice nothing: they wait, and hold their GPUs at 100 % reported utilisation.
void JobController::gang_hangs(JobId id, Duration detection) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  const Time noticed = sim_.engine.now() + detection;
  const bool is_sooner = job.phase == JobPhase::Hung && noticed < state.noticed;
  const bool hangs = job.phase == JobPhase::Running || job.phase == JobPhase::Starting;
  if (state.is_suspending || (!hangs && !is_sooner)) return;
  if (hangs) {
    JobTable::for_each_pod(job.first_pod, job.pods,
                           [&](PodId pod) { account_held(pod, sim_.engine.now()); });
    state.run.restore_from = Time::max();
    set_phase(id, JobPhase::Hung);
  }
  state.noticed = noticed;
  sim_.engine.cancel(state.event);
  if (detection == Duration::max()) return;
  state.event = sim_.engine.after(
      detection, Label{"jobs.failure_detected"}, [this, id] { gang_detected(id); }, Phase::Control);
}

bool JobController::rank_died(PodId id, int64_t gpu_milli) {
  const JobId job = jobs_.pod(id).job;
  JobState& state = states_[job];
  const bool is_gang = jobs_.job(job).kind != JobKind::Pods;
  const bool runs = jobs_.job(job).phase == JobPhase::Running && jobs_.pod(id).takes_part;
  if (!is_gang || !runs) return false;
  gang_stops(job, {});
  if (state.is_suspending) return true;
  state.dead_pod = id;
  gang_hangs(job, params_.hang_timeout.value_or(Duration::max()));
  rank_dead.emit(id, gpu_milli);
  return true;
}

bool JobController::abort(JobId id) {
  const Job& job = jobs_.job(id);
  if (job.kind == JobKind::Pods || job.phase != JobPhase::Running) return false;
  ORRERY_MARK("jobs.gang_aborted");
  gang_stops(id, {});
  gang_hangs(id, exit_detection());
  return true;
}

void JobController::gang_detected(JobId id) {
  const Job& job = jobs_.job(id);
  JobState& state = states_[id];
  if (state.dead_pod.is_valid() && job.restart_scope == RestartScope::Pod) {
    remove_pod(state.dead_pod, PodEnd::RankDied);
  }
  state.dead_pod = {};
  if (RecoveryRow* const row = recoveries_.find(state.run.recovery)) {
    row->detected = sim_.engine.now();
  }
  const bool is_failure = !std::exchange(state.is_preempted, false);
  if (is_failure && job.restarts_max.has_value() && state.restarts >= *job.restarts_max) {
    ORRERY_MARK("jobs.restarts_used_up");
    end_job(id, JobPhase::Failed);
    return;
  }
  if (is_failure) {
    ++state.restarts;
    ++counters_.restarts;
  }
  state.computed = {};
  if (job.restart_scope == RestartScope::Gang) {
    remove_pods(id, PodEnd::GangStopped);
  } else {
    free_ranks(id);  // semi-stateful pods: the survivors keep identity, rank and node
  }
  set_phase(id, JobPhase::Restarting);
  state.event = sim_.engine.after(
      restart_delay(id), Label{"jobs.gang_restarts"}, [this, id] { gang_restarts(id); },
      Phase::Control);
}

// Their processes are gone, the pods stay.
void JobController::free_ranks(JobId id) {
  const Job& job = jobs_.job(id);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    account_held(pod, sim_.engine.now());
    if (jobs_.pod(pod).state != PodState::Running) return;
    jobs_.pod(pod).state = PodState::Bound;
    --states_[id].running;
  });
}

void JobController::gang_restarts(JobId id) {
  set_phase(id, JobPhase::Pending);
  want_pods(id);
  gang_gathers(id);  // survivors may be enough when min_available is less than all
}

}  // namespace orrery
