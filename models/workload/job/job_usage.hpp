// models/workload/job/job_usage.hpp -- what a job makes of its GPUs at a moment.
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

// Compute of a gang, a counted job, a service or an independent pod; only the last has a valid
// `pod`. Amounts are milli-GPUs times nanoseconds.
//
// Compute between two instants, which a failure may still undo. An amount below 0 takes back the
// latest compute.
struct WorkDone {
  JobId job;
  PodId pod;
  Time from, to;
  int128_t computed = 0;
};
// The oldest compute is kept for good, or the latest is lost.
struct WorkSettled {
  JobId job;
  PodId pod;
  int128_t kept = 0, lost = 0;
};

}  // namespace orrery
