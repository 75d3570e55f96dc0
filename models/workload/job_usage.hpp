// models/workload/job_usage.hpp -- what a job makes of its GPUs at a moment.
#pragma once

#include <cstdint>

#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// In milli-GPUs, at this moment. It changes only when a pod is bound, is removed or, being
// independent, begins to compute, and when the job changes its phase.
struct JobUsage {
  int64_t bound = 0;            // allocated
  int64_t busy = 0;             // of these, reported as 100 % used: they compute, write or spin
  double compute_fraction = 0;  // of the time that busy ones spend computing, not writing
};

// Compute thrown away by a failure: `gpu_milli` computed in vain from `from` to `to`.
struct WorkLost {
  JobId job;
  Time from, to;
  int64_t gpu_milli = 0;
};

}  // namespace orrery
