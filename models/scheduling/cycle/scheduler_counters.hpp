// models/scheduling/cycle/scheduler_counters.hpp -- what the scheduler has done, for the summary.
#pragma once

#include <cstdint>

#include "sim/core/time.hpp"

namespace orrery {

struct SchedulerCounters {
  uint64_t attempts = 0;  // cycles, of pods or gangs
  uint64_t pods_scheduled = 0;
  uint64_t permit_timeouts = 0;
  uint64_t nodes_visited = 0;
  Duration busy;  // scheduler time charged
};

}  // namespace orrery
