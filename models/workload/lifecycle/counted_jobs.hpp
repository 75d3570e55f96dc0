// models/workload/lifecycle/counted_jobs.hpp -- jobs that have no pods and take GPUs of a pool.
#pragma once

#include "models/workload/job/job_news.hpp"
#include "models/workload/lifecycle/job_over.hpp"
#include "models/workload/lifecycle/runs/training_runs.hpp"

namespace orrery {

// A counted job has no pods, but the same stages as a gang: it sets up, loads its checkpoint and
// computes.
class CountedJobs {
 public:
  CountedJobs(Engine& engine, const JobTable& jobs, JobAccounts& accounts, JobPhases& phases,
              TrainingRuns& runs, JobNews& news);

  void admitted(JobId job);
  void run(JobId job, Duration delay, Pace pace);  // set-up begins after the delay
  void set_pace(JobId job, Pace pace);
  bool suspend(JobId job, Duration write, Duration restart);
  void end(JobId job);     // releases the job's GPUs; call after its row is written
  void finish(JobId job);  // when the simulation ends: books GPU time of a start in progress

  Signal<JobId, const JobOver&> over;

 private:
  struct State {
    EventId suspended;
    Time held_from;  // the GPU time of the present start is booked up to here
  };
  void hold(JobId job, int64_t gpu_milli);
  void book_start(JobId job);
  void runs(JobId job);
  void ended(JobId job, const RunStop& end);
  void suspended(JobId job);

  Engine& engine_;
  const JobTable& jobs_;
  JobAccounts& accounts_;
  JobPhases& phases_;
  TrainingRuns& runs_;
  JobNews& news_;
  IdVector<JobId, State> states_;
};

}  // namespace orrery
