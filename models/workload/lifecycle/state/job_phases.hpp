// models/workload/lifecycle/state/job_phases.hpp -- where jobs are in their lives.
#pragma once

#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

class JobPhases {
 public:
  JobPhases(JobTable& jobs, JobNews& news) : jobs_{jobs}, news_{news} {}

  JobPhase of(JobId job) const { return jobs_.job(job).phase; }
  // Only along the arrows of a job's life; nothing if it is there already.
  void set(JobId job, JobPhase phase);

  Signal<JobId, JobPhase, JobPhase> changing;  // before JobNews::phase_changed

 private:
  JobTable& jobs_;
  JobNews& news_;
};

}  // namespace orrery
