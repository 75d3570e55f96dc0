// models/workload/lifecycle/state/job_phases.hpp -- the phases of jobs, and which may follow which.
#pragma once

#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

class JobPhases {
 public:
  JobPhases(JobTable& jobs, JobNews& news) : jobs_{jobs}, news_{news} {}

  JobPhase of(JobId job) const { return jobs_.job(job).phase; }
  // Checks that `phase` may follow the job's present phase. Has no effect if the job is in that
  // phase already.
  void set(JobId job, JobPhase phase);

  Signal<JobId, JobPhase, JobPhase> changing;  // emitted before JobNews::phase_changed

 private:
  JobTable& jobs_;
  JobNews& news_;
};

}  // namespace orrery
