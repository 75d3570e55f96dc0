#include "models/workload/training/training_progress.hpp"

#include <algorithm>

#include "sim/core/check.hpp"
#include "sim/core/int128.hpp"

namespace orrery {

int64_t checkpoints_of(Duration work_left, CheckpointPlan plan) {
  if (plan.interval <= Duration{} || work_left <= plan.interval) return 0;
  return (work_left.ns - 1) / plan.interval.ns;
}

Duration run_time(Duration work_left, CheckpointPlan plan) {
  const int128_t total =
      static_cast<int128_t>(checkpoints_of(work_left, plan)) * plan.write.ns + work_left.ns;
  return {static_cast<int64_t>(std::min<int128_t>(total, Duration::max().ns))};
}

double compute_fraction(Duration work_left, CheckpointPlan plan) {
  if (plan.interval == Duration{} || plan.write == Duration{}) return 1;
  const Duration all = run_time(work_left, plan);
  if (all == Duration::max() || all == Duration{}) {
    return plan.interval.seconds() / (plan.interval + plan.write).seconds();
  }
  return work_left.seconds() / all.seconds();
}

}  // namespace orrery
