#include "models/workload/lifecycle/gang_lives.hpp"

#include <algorithm>
#include <utility>

#include "models/workload/training/communicator_init.hpp"
#include "sim/core/check.hpp"

namespace orrery {

GangLives::GangLives(Sim sim, JobTable& jobs, const JobControllerParams& params,
                     JobAccounts& accounts, JobPhases& phases, PodLives& pods, TrainingRuns& runs,
                     RecoveryLog& recoveries, Replacements& replacements, JobNews& news)
    : sim_{sim},
      jobs_{jobs},
      accounts_{accounts},
      phases_{phases},
      pods_{pods},
      runs_{runs},
      recoveries_{recoveries},
      replacements_{replacements},
      news_{news},
      rendezvous_{sim, jobs, params} {
  pods_.creation().appeared.connect([this](PodId id) {
    const JobId job = jobs_.pod(id).job;
    if (!is_member(id) || phases_.of(job) != JobPhase::Pending) return;
    if (pods_.creation().has_wanted(job)) return;
    auto* const row = recoveries_.find(runs_.of(job).recovery);
    if (row != nullptr) row->recreated = sim_.engine.now();
  });
  pods_.starts().start_known.connect([this](PodId pod) {
    if (is_member(pod)) start_known(pod);
  });
  pods_.leaving.connect([this](PodId pod, PodEnd) {
    if (is_member(pod)) leaves(pod);
  });
  runs_.loaded.connect([this](JobId job) {
    if (!jobs_.job(job).is_counted()) this->runs(job);
  });
  runs_.stopped.connect([this](JobId job, const RunStop& end) {
    if (!jobs_.job(job).is_counted()) ended(job, end);
  });
  rendezvous_.gathered.connect([this](JobId job) { starts(job, sim_.engine.now()); });
  rendezvous_.lost.connect([this](JobId job) { phases_.set(job, JobPhase::Pending); });
  rendezvous_.noticed.connect([this](PodId pod) { noticed(pod); });
}

void GangLives::admitted(JobId id) {
  if (id.index >= states_.size()) states_.resize(jobs_.jobs_bound());
  if (jobs_.roles_bound() > role_ends_.size()) role_ends_.resize(jobs_.roles_bound());
  states_[id] = {};
  const Job& job = jobs_.job(id);
  for (uint32_t r = 0; r < static_cast<uint32_t>(job.roles); ++r) {
    role_ends_[{job.first_role.index + r}] = {};
  }
  rendezvous_.admitted(id);
}

// ---- start

void GangLives::bound(PodId id) {
  Pod& pod = jobs_.pod(id);
  pod.takes_part = !jobs_.job(pod.job).is_elastic && jobs_.role_spec(id).takes_part;
  pods_.starts().begin(id);
  if (phases_.of(pod.job) == JobPhase::Pending) gathers(pod.job);
}

// Starts the gang if enough members have nodes. An elastic gang (min_available below its size)
// first waits in Rendezvous. Any other gang has a start barrier, which opens when the last member
// that takes part starts (Pod::started). Then the communicator is set up, and the checkpoint is
// loaded.
void GangLives::gathers(JobId id) {
  const Job& job = jobs_.job(id);
  if (!jobs_.has_quorum(id)) return;
  JobAccount& account = accounts_.of(id);
  const Time now = sim_.engine.now();
  if (!account.first_bound) account.first_bound = now;
  if (auto* const row = recoveries_.find(runs_.of(id).recovery)) row->scheduled = now;
  account.loads_from = Time::max();
  if (!job.is_elastic) return awaits_all(id);
  rendezvous_.begin(id);
  phases_.set(id, JobPhase::Starting);
  rendezvous_.call(id);
}

void GangLives::awaits_all(JobId id) {
  const Job& job = jobs_.job(id);
  State& state = states_[id];
  state.barrier = sim_.engine.now();
  state.awaited = 0;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId member) {
    const Pod& pod = jobs_.pod(member);
    if (pod.state != PodState::Bound || !pod.takes_part) return;
    if (pod.started == Time::max()) {
      ++state.awaited;
    } else {
      state.barrier = std::max(state.barrier, pod.started);
    }
  });
  if (state.awaited == 0) return starts(id, state.barrier);
  phases_.set(id, JobPhase::Starting);
}

void GangLives::start_known(PodId id) {
  const Pod& pod = jobs_.pod(id);
  if (jobs_.job(pod.job).is_elastic) return rendezvous_.await_up(id);
  State& state = states_[pod.job];
  if (!pod.takes_part || phases_.of(pod.job) != JobPhase::Starting || state.awaited == 0) return;
  state.barrier = std::max(state.barrier, pod.started);
  if (--state.awaited == 0) starts(pod.job, state.barrier);
}

void GangLives::starts(JobId id, Time barrier) {
  if (auto* const row = recoveries_.find(runs_.of(id).recovery)) row->started = barrier;
  const JobTable::Members members = jobs_.taking_part(id);
  accounts_.of(id).members = members.pods;
  runs_.restore(id, barrier + init_time(jobs_.job(id), members.gpus));
  if (phases_.of(id) != JobPhase::Running) phases_.set(id, JobPhase::Starting);
}

void GangLives::runs(JobId id) {
  const Job& job = jobs_.job(id);
  int64_t gpu_milli = 0;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    if (jobs_.pod(pod).state != PodState::Bound || !jobs_.pod(pod).takes_part) return;
    pods_.runs(pod);
    jobs_.pod(pod).serves = false;
    gpu_milli += accounts_.gpu_milli(pod);
  });
  runs_.begin(id, gpu_milli);
  phases_.set(id, JobPhase::Running);
}

// ---- end

void GangLives::ended(JobId id, const RunStop& end) {
  if (end.is_done()) {
    runs_.keep(id);
    return over.emit(id, {});
  }
  if (!end.is_final) return rank_ended(id, end);
  if (end.ending.cause == EndCause::TimeLimit) ORRERY_MARK("jobs.gang_overran");
  runs_.lose(id);
  over.emit(id, JobOver::failed(end.ending));
}

// The gang detects the exit of a rank after exit_detection().
void GangLives::rank_ended(JobId id, const RunStop& end) {
  ORRERY_MARK("jobs.rank_exited");
  stops(id, {});
  states_[id].failure = end.ending;
  states_[id].failed_pod = end.pod;
  ++accounts_.counters().pods_failed;
  hangs(id, replacements_.exit_detection());
}

void GangLives::stops(JobId id, NodeId node) {
  State& state = states_[id];
  JobRun& run = runs_.of(id);
  const JobPhase phase = phases_.of(id);
  if (run.is_suspending) {  // the suspension completes at once, and keeps the compute
    ORRERY_MARK("jobs.struck_while_suspending");
    runs_.book(id);
    sim_.engine.cancel(state.event);
    state.event = sim_.engine.after({}, Label{"jobs.suspended"}, [this, id] { suspended(id); });
    return;
  }
  if (phase == JobPhase::Hung && node.is_valid()) {
    const int128_t lost = runs_.lose_local(id);
    auto* const row = recoveries_.find(run.recovery);
    if (row != nullptr) row->lost_gpu_s += GpuTime::seconds(lost);
  }
  if (phase != JobPhase::Running && phase != JobPhase::Starting) {
    // A Pending gang only replaces the pod, and a Hung or Restarting gang is down already.
    ORRERY_MARK("jobs.node_failed_while_not_started");
    return;
  }
  run.redo_until = {};
  int128_t lost = phase == JobPhase::Running ? runs_.lose(id) : 0;
  if (node.is_valid()) lost += runs_.lose_local(id);
  sim_.engine.cancel(state.event);
  runs_.stop(id);
  rendezvous_.stop(id);
  state.failure = {.after = {},
                   .exit_code = kNoExitCode,
                   .cause = node.is_valid() ? EndCause::NodeFailed : EndCause::ProcessDied};
  state.failed_pod = {};
  recoveries_.close(run.recovery, sim_.engine.now());
  run.recovery = recoveries_.open(accounts_.recovery_row(id, node, lost, 0));
}

// Surviving ranks do not notice the failure: they spin, and their GPUs report 100 % utilisation.
void GangLives::hangs(JobId id, Duration detection) {
  const Job& job = jobs_.job(id);
  State& state = states_[id];
  const Time noticed = sim_.engine.now() + detection;
  const bool is_sooner = job.phase == JobPhase::Hung && noticed < state.noticed;
  const bool begins = job.phase == JobPhase::Running || job.phase == JobPhase::Starting;
  if (runs_.of(id).is_suspending || (!begins && !is_sooner)) return;
  if (begins) {
    const Time now = sim_.engine.now();
    JobTable::for_each_pod(job.first_pod, job.pods,
                           [&](PodId pod) { accounts_.book_held(pod, now); });
    accounts_.of(id).loads_from = Time::max();
    phases_.set(id, JobPhase::Hung);
  }
  state.noticed = noticed;
  sim_.engine.cancel(state.event);
  if (detection == Duration::max()) return;
  state.event = sim_.engine.after(
      detection, Label{"jobs.failure_detected"}, [this, id] { detected(id); }, Phase::Control);
}

void GangLives::detected_now(JobId id) {
  if (phases_.of(id) != JobPhase::Hung) return;
  sim_.engine.cancel(states_[id].event);
  detected(id);
}

// Whether restarts_max of the job allows a restart. If a pod ended by itself, its role must allow
// the restart, too. RoleEnds::restarts_after() checks this and counts the restart.
bool GangLives::may_restart(JobId id) {
  const State& state = states_[id];
  const std::optional<int32_t>& limit = jobs_.job(id).spec.restarts_max;
  if (limit.has_value() && accounts_.of(id).restarts >= *limit) return false;
  if (!state.failed_pod.is_valid()) return true;
  const RoleId role = jobs_.pod(state.failed_pod).role;
  return role_ends_[role].restarts_after(jobs_.role_spec(role), state.failure.exit_code);
}

void GangLives::detected(JobId id) {
  const RestartScope scope = jobs_.job(id).spec.restart_scope;
  State& state = states_[id];
  if (state.dead_pod.is_valid() && scope == RestartScope::Pod) {
    pods_.remove(state.dead_pod, PodEnd::RankDied);
  }
  state.dead_pod = {};
  if (!state.is_preempted) news_.gang_failed.emit(id);
  if (state.failed_pod.is_valid()) pods_.remove(state.failed_pod, PodEnd::Exited, state.failure);
  if (auto* const row = recoveries_.find(runs_.of(id).recovery)) {
    row->detected = sim_.engine.now();
  }
  if (!std::exchange(state.is_preempted, false)) {
    if (!may_restart(id)) {
      ORRERY_MARK("jobs.restarts_used_up");
      return over.emit(id, JobOver::failed(state.failure));
    }
    ++accounts_.of(id).restarts;
    ++accounts_.counters().restarts;
  }
  runs_.of(id).computed = {};
  if (scope == RestartScope::Gang) {
    pods_.remove_all(id, PodEnd::GangStopped);
  } else {
    free_ranks(id);  // restart_scope pod: the survivors keep identity, rank and node
  }
  phases_.set(id, JobPhase::Restarting);
  state.event = sim_.engine.after(
      replacements_.delay(id), Label{"jobs.gang_restarts"}, [this, id] { restarts(id); },
      Phase::Control);
}

// Ends the processes in the surviving pods. The pods stay.
void GangLives::free_ranks(JobId id) {
  const Job& job = jobs_.job(id);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) { pods_.stops(pod); });
  runs_.of(id).gpu_milli = runs_.of(id).serving_gpu_milli = 0;
}

void GangLives::restarts(JobId id) {
  phases_.set(id, JobPhase::Pending);
  pods_.creation().want_all(id);
  gathers(id);  // the survivors may already suffice: see JobTable::has_quorum()
}

void GangLives::end(JobId id) {
  sim_.engine.cancel(states_[id].event);
  rendezvous_.stop(id);
}

bool GangLives::hangs_for_ever(JobId id) const {
  return phases_.of(id) == JobPhase::Hung && !sim_.engine.is_pending(states_[id].event);
}

void GangLives::leaves(PodId id) {
  const Pod& pod = jobs_.pod(id);
  rendezvous_.leaves(id);
  if (pod.state != PodState::Running) return;
  JobRun& run = runs_.of(pod.job);
  (pod.serves ? run.serving_gpu_milli : run.gpu_milli) -= accounts_.gpu_milli(id);
}

}  // namespace orrery
