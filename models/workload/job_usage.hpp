// models/workload/job_usage.hpp -- what a job makes of its GPUs at a moment.
#pragma once

#include <cstdint>

#include "sim/core/id.hpp"
#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// In milli-GPUs, at this moment. It changes only when a pod is bound, is removed or, being
// independent, begins to compute, and when the job changes its phase or its pace.
struct JobUsage {
  int64_t bound = 0;      // allocated
  int64_t busy = 0;       // of these, reported as 100 % used: they compute, exchange, write or spin
  int32_t computing = 0;  // millionths of the time that busy ones spend computing
};

// Compute thrown away by a failure just now: `gpu_milli` computed in vain since `from`, for so many
// millionths of a nanosecond, checkpoints smeared over the run.
struct WorkLost {
  JobId job;
  Time from;
  int128_t computed = 0;
  int64_t gpu_milli = 0;
};

}  // namespace orrery
