// models/workload/training/training_progress.hpp -- checkpoint arithmetic: number of checkpoints
// and duration of a run.
//
// A run computes from the saved progress to the end of the work, in cycles of `interval` compute
// and `write` pause; the last stretch of at most one interval has no checkpoint after it. With W
// the remaining work and n = ceil(W / interval) - 1 checkpoints, a run takes W + n * write.
// Example: 10 h of work, every 3 h a write of 0.1 h: n = 3, so 10.3 h.
#pragma once

#include <cstdint>

#include "sim/core/time.hpp"

namespace orrery {

struct CheckpointPlan {
  Duration interval;  // compute time between checkpoints; 0: never
  Duration write;     // synchronous time of one checkpoint
};

// `work_left` is the remaining work at the start of the run or after a checkpoint. Counts and times
// are exact, in whole nanoseconds.
int64_t checkpoints_of(Duration work_left, CheckpointPlan plan);
Duration run_time(Duration work_left, CheckpointPlan plan);  // saturates at Duration::max()
// The share of its time in which the run computes. For a run without an end, the share is interval
// / (interval + write).
double compute_fraction(Duration work_left, CheckpointPlan plan);

}  // namespace orrery
