// models/workload/training/training_progress.hpp -- checkpoint arithmetic: number of checkpoints
// and duration of a run.
//
// A run starts from the saved progress. After each `interval` of compute it pauses for `write`. The
// last stretch of compute, of at most one interval, has no checkpoint after it. With W the
// remaining work and n = ceil(W / interval) - 1 checkpoints, a run takes W + n * write.
// Example: for 10 h of work, with writes of 0.1 h after every 3 h, n is 3 and a run takes 10.3 h.
#pragma once

#include <cstdint>

#include "sim/core/time.hpp"

namespace orrery {

struct CheckpointPlan {
  Duration interval;  // compute time between checkpoints; 0: never
  Duration write;     // synchronous time of one checkpoint
};

// `work_left` is the remaining work at the start of the run or after a checkpoint. Times
// are exact, in whole nanoseconds.
int64_t checkpoints_of(Duration work_left, CheckpointPlan plan);
Duration run_time(Duration work_left, CheckpointPlan plan);  // saturates at Duration::max()
// The share of run_time() that is compute. For a run without an end, the share is
// interval / (interval + write).
double compute_fraction(Duration work_left, CheckpointPlan plan);

}  // namespace orrery
