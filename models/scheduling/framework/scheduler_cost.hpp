// models/scheduling/framework/scheduler_cost.hpp -- what scheduling charges to simulated time.
#pragma once

#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct SchedulerCost {
  Duration per_cycle = {200'000};
  Duration per_node = {2'000};
  Duration per_pod = {140'000};
  Duration bind = {};

  template <class V>
  void fields(V& v) {
    v("per_cycle", per_cycle, "Scheduler time of one attempt, whatever comes of it.",
      Range{Duration{}, 1_min}, Source{"calibrated with per_node and per_pod"});
    v("per_node", per_node, "Scheduler time for each node visited by the filters.",
      Range{Duration{}, 1_s},
      Source{"calibrated: 5,000 nodes (500 visited) give 745 pods/s, the middle of "
             "scheduler_perf SchedulingBasic's floors of 680 and 810"});
    v("per_pod", per_pod, "Scheduler time for each pod that gets a node.", Range{Duration{}, 1_min},
      Source{"calibrated with per_node"});
    v("bind", bind, "From the end of the scheduling cycle until the pod is bound.",
      Range{Duration{}, 1_h}, Source{"0: without a control plane nothing is charged"});
  }
};

}  // namespace orrery
