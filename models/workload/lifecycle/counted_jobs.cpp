#include "models/workload/lifecycle/counted_jobs.hpp"

#include <algorithm>

#include "models/workload/training/communicator_init.hpp"
#include "sim/core/check.hpp"

namespace orrery {

CountedJobs::CountedJobs(Engine& engine, const JobTable& jobs, JobAccounts& accounts,
                         JobPhases& phases, TrainingRuns& runs, JobNews& news)
    : engine_{engine}, jobs_{jobs}, accounts_{accounts}, phases_{phases}, runs_{runs}, news_{news} {
  runs_.loaded.connect([this](JobId job) {
    if (jobs_.job(job).is_counted()) this->runs(job);
  });
  runs_.stopped.connect([this](JobId job, const RunStop& end) {
    if (jobs_.job(job).is_counted()) ended(job, end);
  });
}

void CountedJobs::admitted(JobId id) {
  if (id.index >= states_.size()) states_.resize(jobs_.jobs_bound());
  states_[id] = {};
}

void CountedJobs::hold(JobId id, int64_t gpu_milli) {
  JobAccount& account = accounts_.of(id);
  if (account.bound_gpu_milli == gpu_milli) return;
  book_start(id);
  account.bound_gpu_milli = gpu_milli;
  news_.counted_holds.emit(id, gpu_milli);
}

// Books the GPU time of set-up and restore up to now. Called before the job's number of GPUs
// changes.
void CountedJobs::book_start(JobId id) {
  if (phases_.of(id) != JobPhase::Starting) return;
  JobAccount& account = accounts_.of(id);
  State& state = states_[id];
  const Time now = engine_.now();
  const Time split = std::clamp(account.loads_from, state.held_from, now);
  account.gpu_time.held += GpuTime::of(account.bound_gpu_milli, split - state.held_from);
  account.gpu_time.restore += GpuTime::of(account.bound_gpu_milli, now - split);
  state.held_from = now;
}

void CountedJobs::run(JobId id, Duration delay, Pace pace) {
  const Job& job = jobs_.job(id);
  ORRERY_CHECK(job.is_counted() && job.phase == JobPhase::Pending, "a waiting counted job starts");
  JobAccount& account = accounts_.of(id);
  const Time now = engine_.now();
  if (!account.first_bound) account.first_created = account.first_bound = now;
  runs_.of(id).pace = pace;
  hold(id, job.demand[Resource::Gpu] * pace.share_milli / 1000);
  states_[id].held_from = now;
  runs_.restore(id, now + delay + init_time(job, job.gpus));
  if (phases_.of(id) != JobPhase::Running) phases_.set(id, JobPhase::Starting);
}

void CountedJobs::runs(JobId id) {
  book_start(id);
  runs_.begin(id, accounts_.of(id).bound_gpu_milli);
  phases_.set(id, JobPhase::Running);
}

void CountedJobs::set_pace(JobId id, Pace pace) {
  if (!runs_.takes_pace(id, pace)) return;
  runs_.go_at(id, pace);
  hold(id, jobs_.job(id).demand[Resource::Gpu] * pace.share_milli / 1000);
  if (phases_.of(id) == JobPhase::Running) {
    runs_.of(id).gpu_milli = accounts_.of(id).bound_gpu_milli;
  }
  runs_.compute_on(id);
}

void CountedJobs::ended(JobId id, const RunStop& end) {
  if (end.is_done()) {
    runs_.keep(id);
    return over.emit(id, {});
  }
  if (end.ending.cause == EndCause::TimeLimit) ORRERY_MARK("jobs.gang_overran");
  runs_.lose(id);
  over.emit(id, JobOver::failed(end.ending));
}

bool CountedJobs::suspend(JobId id, Duration write, Duration restart) {
  if (phases_.of(id) != JobPhase::Running) return false;
  if (runs_.of(id).is_suspending) return true;
  runs_.suspend(id, restart);
  if (write == Duration{}) {
    suspended(id);
    return true;
  }
  states_[id].suspended =
      engine_.after(write, Label{"jobs.suspended"}, [this, id] { suspended(id); });
  return true;
}

void CountedJobs::suspended(JobId id) {
  runs_.book(id);
  runs_.suspended(id);
  phases_.set(id, JobPhase::Pending);
  hold(id, 0);
  news_.job_suspended.emit(id);
}

void CountedJobs::end(JobId id) {
  engine_.cancel(states_[id].suspended);
  hold(id, 0);
}

void CountedJobs::finish(JobId id) { book_start(id); }

}  // namespace orrery
