// models/telemetry/job_statistics.hpp -- waits and completion times of all jobs and by priority.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "models/telemetry/priority_row.hpp"
#include "models/telemetry/running_quantiles.hpp"
#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/lifecycle/job_controller.hpp"
#include "sim/record/channel.hpp"
#include "sim/record/recorder.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Wait: from submission until the job first runs. Completion time (JCT): from submission until the
// job is over. Only jobs that completed or have a planned end (JobSpec::ending) have a JCT.
class JobStatistics {
 public:
  JobStatistics(Sim sim, const JobTable& jobs);

  void connect(JobNews& jobs);
  void job_arrived(JobId job);
  void phase_changed(JobId job, JobPhase after);

  void write_priorities(const JobController& jobs);  // call it after the run
  // A value is NaN if no job contributes to it, because 0 would mean that jobs waited for 0 s.
  void add_summary(Recorder& recorder);

 private:
  struct Spans {
    RunningQuantiles waits, completions;  // seconds
  };
  Sim sim_;
  const JobTable& jobs_;
  std::vector<bool> has_run_;  // by job
  Spans all_;
  std::map<int32_t, Spans> by_priority_;
  Channel<PriorityRow> rows_;
};

}  // namespace orrery
