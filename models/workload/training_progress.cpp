#include "models/workload/training_progress.hpp"

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

RunCut cut_run(Duration work_left, CheckpointPlan plan, Duration elapsed) {
  ORRERY_CHECK(elapsed >= Duration{}, "a run is cut after it began");
  RunCut cut;
  const int64_t planned = checkpoints_of(work_left, plan);
  if (planned > 0) {
    cut.checkpoints = std::min(elapsed / (plan.interval + plan.write), planned);
  }
  cut.saved = plan.interval * cut.checkpoints;
  cut.wrote = plan.write * cut.checkpoints;
  const Duration rest = elapsed - cut.saved - cut.wrote;
  // The last stretch has no checkpoint after it, so it may be cut only in its compute.
  const bool is_last = cut.checkpoints == planned;
  ORRERY_CHECK(!is_last || rest <= work_left - cut.saved, "a run is not cut after its end");
  cut.lost = is_last ? rest : std::min(rest, plan.interval);
  cut.half_written = rest - cut.lost;
  return cut;
}

Duration time_to_compute(Duration compute, CheckpointPlan plan) {
  return compute + plan.write * checkpoints_of(compute, plan);
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
