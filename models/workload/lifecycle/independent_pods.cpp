#include "models/workload/lifecycle/independent_pods.hpp"

#include "models/workload/training/communicator_init.hpp"
#include "sim/core/check.hpp"

namespace orrery {

IndependentPods::IndependentPods(Engine& engine, JobTable& jobs, JobAccounts& accounts,
                                 JobPhases& phases, PodLives& pods, TrainingRuns& runs,
                                 RecoveryLog& recoveries, Replacements& replacements, PodNews& news)
    : engine_{engine},
      jobs_{jobs},
      accounts_{accounts},
      phases_{phases},
      pods_{pods},
      runs_{runs},
      recoveries_{recoveries},
      replacements_{replacements},
      news_{news} {
  pods_.creation().appeared.connect([this](PodId pod) {
    if (!is_alone(pod)) return;
    if (auto* const row = recoveries_.find(runs_.of(pod).recovery)) row->recreated = engine_.now();
  });
  pods_.starts().start_known.connect([this](PodId pod) {
    if (is_alone(pod)) start_known(pod);
  });
  pods_.leaving.connect([this](PodId pod, PodEnd why) {
    if (is_alone(pod)) leaves(pod, why);
  });
  runs_.pod_stopped.connect([this](PodId pod, const RunStop& end) { ended(pod, end); });
}

void IndependentPods::admitted(JobId id) {
  if (id.index >= jobs_state_.size()) jobs_state_.resize(jobs_.jobs_bound());
  if (jobs_.pods_bound() > starting_.size()) starting_.resize(jobs_.pods_bound());
  if (jobs_.roles_bound() > role_ends_.size()) role_ends_.resize(jobs_.roles_bound());
  jobs_state_[id] = {};
  const Job& job = jobs_.job(id);
  for (uint32_t r = 0; r < static_cast<uint32_t>(job.roles); ++r) {
    role_ends_[{job.first_role.index + r}] = {};
  }
}

// ---- start

void IndependentPods::bound(PodId id) {
  const Pod& pod = jobs_.pod(id);
  JobAccount& account = accounts_.of(pod.job);
  if (!account.first_bound) account.first_bound = engine_.now();
  if (auto* const row = recoveries_.find(runs_.of(id).recovery)) row->scheduled = engine_.now();
  accounts_.loads_from(id, Time::max());
  pods_.starts().begin(id);
  if (pod.started == Time::max()) refresh_phase(pod.job);
}

void IndependentPods::start_known(PodId id) {
  const Pod& pod = jobs_.pod(id);
  const Job& job = jobs_.job(pod.job);
  if (is_over(job.phase)) return;  // the pod was left running by its finished job
  Run& run = runs_.of(id);
  if (auto* const row = recoveries_.find(run.recovery)) row->started = pod.started;
  const Time loads = pod.started + init_time(job, job.gpus);
  accounts_.loads_from(id, loads);
  const Time when = loads + (run.progress.saved > Duration{} ? job.spec.restore : Duration{});
  if (when == engine_.now()) return runs(id);
  starting_[id] = engine_.at(when, Label{"jobs.pod_runs"}, [this, id] { runs(id); });
  refresh_phase(pod.job);
}

void IndependentPods::runs(PodId id) {
  const JobId job = jobs_.pod(id).job;
  pods_.runs(id);
  // Books the compute so far, which was done without this replica.
  if (jobs_.job(job).spec.service) runs_.keep(job);
  runs_.of(job).gpu_milli += accounts_.gpu_milli(id);
  runs_.begin(id);
  refresh_phase(job);
  news_.pod_runs.emit(id);
}

// ---- end

void IndependentPods::ended(PodId id, const RunStop& end) {
  const JobId job = jobs_.pod(id).job;
  if (end.is_final) {  // ends the job with all its pods
    if (end.ending.cause == EndCause::TimeLimit) {
      ORRERY_MARK("jobs.pods_overran");
    } else {
      runs_.lose(id);
      pods_.remove(id, PodEnd::Exited, end.ending);
    }
    return over.emit(job, JobOver::failed(end.ending));
  }
  end.is_done() ? succeeds(id) : fails(id, end.ending);
}

void IndependentPods::succeeds(PodId id) {
  const JobId job = jobs_.pod(id).job;
  const RoleId role = jobs_.pod(id).role;
  runs_.keep(id);
  recoveries_.close(runs_.of(id).recovery, engine_.now());
  if (role_ends_[role].restarts_after(jobs_.role_spec(role), 0)) {
    pods_.remove(id, PodEnd::Exited, Ending{});
    runs_.of(id).progress = {};
    replacements_.replace_after(replacements_.delay(job), {id, jobs_.pod(id).generation});
    return refresh_phase(job);
  }
  pods_.remove(id, PodEnd::Completed);
  ++role_ends_[role].done;
  if (has_succeeded(job)) return over.emit(job, {});
  refresh_phase(job);
}

void IndependentPods::fails(PodId id, const Ending& ending) {
  ORRERY_MARK("jobs.pod_failed");
  const JobId job = jobs_.pod(id).job;
  const RoleSpec& role = jobs_.role_spec(id);
  RoleEnds& ends = role_ends_[jobs_.pod(id).role];
  const std::optional<int32_t>& limit = jobs_.job(job).spec.restarts_max;
  const bool may_restart = !limit.has_value() || accounts_.of(job).restarts < *limit;
  const bool comes_back = may_restart && ends.restarts_after(role, ending.exit_code);
  recover_from(id, {});
  pods_.remove(id, PodEnd::Exited, ending);
  ++accounts_.counters().pods_failed;
  if (comes_back) {
    ++accounts_.of(job).restarts;
    ++accounts_.counters().restarts;
    replacements_.replace_after(replacements_.delay(job), {id, jobs_.pod(id).generation});
    return refresh_phase(job);
  }
  if (role.failure == RoleFailure::FailsJob) return over.emit(job, JobOver::failed(ending));
  recoveries_.close(runs_.of(id).recovery, engine_.now());
  pods_.creation().set_retired(id, true);
  ++ends.done;
  if (has_succeeded(job)) return over.emit(job, {});
  refresh_phase(job);
}

// A role is done if all its pods are done (RoleEnds::done). If the job has roles with
// RoleSuccess::Decides, one of these roles must be done. Otherwise the job must have roles with
// RoleSuccess::Counts and RoleSpec::exits, and all of these roles must be done.
bool IndependentPods::has_succeeded(JobId id) const {
  const Job& job = jobs_.job(id);
  bool counts = false, all = true, decides = false;
  for (uint32_t r = 0; r < static_cast<uint32_t>(job.roles); ++r) {
    const RoleId role{job.first_role.index + r};
    const RoleSpec& spec = jobs_.role_spec(role);
    const bool is_done = role_ends_[role].done == jobs_.role(role).pods;
    if (spec.success == RoleSuccess::Decides) {
      if (is_done) return true;
      decides = true;
    }
    if (spec.success != RoleSuccess::Counts || !spec.exits) continue;
    counts = true;
    all = all && is_done;
  }
  return !decides && counts && all;
}

void IndependentPods::leaves(PodId id, PodEnd why) {
  const bool is_service = jobs_.job(jobs_.pod(id).job).spec.service != nullptr;
  // Answered requests of a service are never undone.
  if (is_service || why == PodEnd::CleanedUp) return leave(id, true);
  leave(id, why != PodEnd::JobFailed);
}

void IndependentPods::leave(PodId id, bool keeps) {
  const Pod& pod = jobs_.pod(id);
  engine_.cancel(starting_[id]);
  if (pod.state != PodState::Running) return;
  engine_.cancel(runs_.of(id).event);
  if (jobs_.job(pod.job).spec.service) {
    runs_.keep(pod.job);
  } else {
    keeps ? runs_.keep(id) : static_cast<void>(runs_.lose(id));
  }
  runs_.of(pod.job).gpu_milli -= accounts_.gpu_milli(id);
}

// ---- failures of nodes, and preemption

// Call before the pod is removed. `node` is invalid if no node failed.
void IndependentPods::recover_from(PodId id, NodeId node) {
  const Pod& pod = jobs_.pod(id);
  Run& run = runs_.of(id);
  run.redo_until = {};
  const bool loses = pod.state == PodState::Running && !jobs_.job(pod.job).spec.service;
  const int128_t lost = loses ? runs_.lose(id) : 0;
  recoveries_.close(run.recovery, engine_.now());
  RecoveryRow row = accounts_.recovery_row(pod.job, node, lost, accounts_.gpu_milli(id));
  row.rank = pod.rank;
  row.nodes = 1;
  const Duration detection = node.is_valid() ? replacements_.node_detection() : Duration{};
  if (detection < Duration::max()) row.detected = engine_.now() + detection;
  run.recovery = recoveries_.open(row);
}

void IndependentPods::stops(PodId id) {
  recover_from(id, {});
  recoveries_.find(runs_.of(id).recovery)->is_preemption = true;
}

// After `restarts_max` restarts, the next failure fails the job, as with a Job's backoffLimit.
void IndependentPods::struck(PodId id, NodeId node) {
  recover_from(id, node);
  const JobId job = jobs_.pod(id).job;
  JobAccount& account = accounts_.of(job);
  const std::optional<int32_t>& limit = jobs_.job(job).spec.restarts_max;
  if (limit.has_value() && account.restarts >= *limit) {
    jobs_state_[job].is_failing = true;
    return;
  }
  ++account.restarts;
  ++accounts_.counters().restarts;
}

void IndependentPods::job_struck(JobId id) {
  State& state = jobs_state_[id];
  refresh_phase(id);
  if (!state.is_failing || engine_.is_pending(state.gives_up)) return;
  ORRERY_MARK("jobs.backoff_limit_exceeded");
  const Duration detection = replacements_.node_detection();
  // Duration::max(): the job learns of the dead node only when the node's pods are deleted.
  // JobController::dead_pods_deleted() then fails the job.
  if (detection == Duration::max()) return;
  state.gives_up = engine_.after(
      detection, Label{"jobs.gave_up"},
      [this, id] { over.emit(id, JobOver::failed(EndCause::NodeFailed)); }, Phase::Control);
}

void IndependentPods::refresh_phase(JobId id) {
  const PodLives::Counts& counts = pods_.counts(id);
  phases_.set(id, counts.running > 0 ? JobPhase::Running
                  : counts.bound > 0 ? JobPhase::Starting
                                     : JobPhase::Pending);
}

void IndependentPods::finish(JobId id) {
  const Job& job = jobs_.job(id);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    if (is_alone(pod) && jobs_.pod(pod).state == PodState::Running) runs_.keep(pod);
  });
}

void IndependentPods::end(JobId id) { engine_.cancel(jobs_state_[id].gives_up); }

}  // namespace orrery
