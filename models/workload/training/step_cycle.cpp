#include "models/workload/training/step_cycle.hpp"

#include <algorithm>

namespace orrery {

Duration StepCycle::length(Duration across) const {
  if (across == Duration::max() || reading == Duration::max()) return Duration::max();
  const Duration exposed = std::max(Duration{}, inside + across - overlap);
  return std::max(working + exposed + update, reading);
}

StepCycle cycle_of(const StepPlan& plan, Duration inside) {
  const Duration working = working_time(plan);
  return {.compute = plan.compute,
          .working = working,
          .overlap = std::min(hidden_time(plan), working),
          .inside = inside,
          .update = plan.fixed};
}

}  // namespace orrery
