// models/telemetry/job_statistics.hpp -- waits and completion times of all jobs of a run.
#pragma once

#include <cstdint>
#include <vector>

#include "models/telemetry/running_quantiles.hpp"
#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/record/recorder.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Wait: from submission until the job first runs. Completion time (JCT): from submission until it
// completed.
class JobStatistics {
 public:
  JobStatistics(Sim sim, const JobTable& jobs) : sim_{sim}, jobs_{jobs} {}

  void connect(JobNews& jobs);
  void job_arrived(JobId job);
  void phase_changed(JobId job, JobPhase after);

  // A figure of no job at all is NaN, not 0: no job waited for 0 s.
  void add_summary(Recorder& recorder);

 private:
  Sim sim_;
  const JobTable& jobs_;
  std::vector<bool> has_run_;             // by job
  RunningQuantiles waits_, completions_;  // seconds
};

}  // namespace orrery
