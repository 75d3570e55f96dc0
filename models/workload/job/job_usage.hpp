// models/workload/job/job_usage.hpp -- how a job uses its GPUs, and news of its compute.
#pragma once

#include <cstdint>

#include "sim/core/id.hpp"
#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Amounts are milli-GPUs. The usage changes when a pod is bound or removed, when an independent pod
// begins to compute, and when the job changes its phase or its pace.
struct JobUsage {
  int64_t bound = 0;  // allocated
  // The part of `bound` that reports 100 % utilisation, because it computes, exchanges, writes a
  // checkpoint or spins.
  int64_t busy = 0;
  int32_t computing = 0;  // share of the time, in millionths, that the GPUs of `busy` compute
};

// Compute of a gang, a counted job (Job::is_counted), a service or an independent pod between two
// instants. `pod` is valid only for an independent pod. Amounts are milli-GPUs times nanoseconds.
// WorkSettled reports later whether the compute is kept. An amount below 0 takes back the latest
// compute.
struct WorkDone {
  JobId job;
  PodId pod;
  Time from, to;
  int128_t computed = 0;
};
// Settles a part of the compute that WorkDone reported. `kept` is the oldest unsettled part, which
// is now saved for good. `lost` is the latest unsettled part, which is lost.
struct WorkSettled {
  JobId job;
  PodId pod;
  int128_t kept = 0, lost = 0;
};

}  // namespace orrery
