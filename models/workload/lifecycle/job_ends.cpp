// models/workload/lifecycle/job_ends.cpp -- clean-up when a job is over: see JobController.
#include "models/workload/lifecycle/job_controller.hpp"
#include "sim/core/check.hpp"

namespace orrery {

void JobController::end_job(JobId id, const JobOver& how) {
  const Job& job = jobs_.job(id);
  JobAccount& account = accounts_.of(id);
  account.ended = sim_.engine.now();
  account.cause = how.cause;
  account.exit_code = how.exit_code;
  const bool is_completed = how.phase == JobPhase::Completed;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    const RoleSpec& role = jobs_.role_spec(pod);
    const bool is_rank = is_gang(id) && role.takes_part;
    const bool stays = role.clean_up == CleanUp::None && !is_rank;
    if (stays && pods_.has_node(pod)) return leave(pod, is_completed);
    if (is_completed) return pods_.remove(pod, is_rank ? PodEnd::Completed : PodEnd::CleanedUp);
    pods_.remove(pod, PodEnd::JobFailed,
                 {.after = {}, .exit_code = kTerminated, .cause = how.cause});
  });
  runs_.stop(id);
  gangs_.end(id);
  independent_.end(id);
  services_.end(id);
  cancellations_.end(id);
  runs_.end_of(id);
  close_recoveries(id, sim_.engine.now());
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    if (!pods_.has_node(pod)) pods_.creation().forget(pod);
  });
  phases_.set(id, how.phase);
  JobCounters& counters = accounts_.counters();
  ++(is_completed                       ? counters.completed
     : how.phase == JobPhase::Cancelled ? counters.cancelled
                                        : counters.failed);
  if (pods_.counts(id).bound == 0) return remove_job(id);
  ORRERY_MARK("jobs.left_pods_behind");
  ++left_behind_;
}

// The pod keeps running and holds its resources, although its job is over.
void JobController::leave(PodId id, bool is_completed) {
  if (jobs_.pod(id).gang.is_valid()) {
    companions_.leave(id);
  } else {
    independent_.leave(id, is_completed);
  }
  pods_.stops(id);
  accounts_.loads_from(id, Time::max());
}

// Removes a pod that kept running after its job was over. The removal of the job's last pod also
// removes the job.
void JobController::lose_left(PodId id, PodEnd why) {
  const JobId job = jobs_.pod(id).job;
  pods_.remove(id, why);
  pods_.creation().forget(id);
  if (pods_.counts(job).bound > 0) return;
  --left_behind_;
  remove_job(job);
}

void JobController::remove_job(JobId id) {
  const Job& job = jobs_.job(id);
  accounts_.write_job_row(id, sim_.engine.now());
  if (job.is_counted()) counted_.end(id);
  job_over.emit(id);
  pods_.job_removed(id);
}

void JobController::close_recoveries(JobId id, Time end) {
  const Job& job = jobs_.job(id);
  ORRERY_CHECK(runs_.of(id).unsaved == 0, "what a job computed is kept or lost before it ends");
  recoveries_.close(runs_.of(id).recovery, end);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    ORRERY_CHECK(runs_.of(pod).unsaved == 0,
                 "what a pod computed is kept or lost before its job ends");
    recoveries_.close(runs_.of(pod).recovery, end);
  });
}

void JobController::finish(Time end) {
  jobs_.for_each_job([&](JobId id) {
    const Job& job = jobs_.job(id);
    const bool is_alone = !is_gang(id) && !job.is_counted() && !job.spec.service;
    if (is_alone) {
      independent_.finish(id);
    } else if (job.phase == JobPhase::Running) {
      runs_.keep(id);
    }
    if (!is_over(job.phase)) runs_.end_of(id);
    if (job.is_counted()) counted_.finish(id);
    close_recoveries(id, end);
    JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
      accounts_.book_held(pod, end);
      const PodState state = jobs_.pod(pod).state;
      if (state == PodState::Absent || state == PodState::Done) return;
      accounts_.write_pod_row(pod, PodEnd::RunEnded, {.after = {}, .exit_code = kNoExitCode}, end);
    });
    accounts_.write_job_row(id, end);
  });
}

}  // namespace orrery
