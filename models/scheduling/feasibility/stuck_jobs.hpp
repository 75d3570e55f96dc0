// models/scheduling/feasibility/stuck_jobs.hpp -- stuck jobs as DeadlockDetector reports them to
// DeadlockLog.
#pragma once

#include <cstdint>
#include <vector>

namespace orrery {

struct StuckGang {
  int32_t assigned = 0, needed = 0;  // number of pods
  int64_t gpu_milli = 0;             // milli-GPUs that the gang holds
};

struct StuckJob {
  uint64_t serial = 0;
  bool is_infeasible = false;
  std::vector<StuckGang> gangs = {};
};
using StuckGroup = std::vector<StuckJob>;  // sorted by serial

struct StuckPodLost {  // a pod that lost its node while its job was stuck
  uint64_t serial = 0;
  bool was_deleted = false;  // false: it lost only its reservation
};

// Changes that may have freed stuck jobs.
struct StuckChanges {
  std::vector<StuckPodLost> lost_pods;
  bool is_capacity_changed = false;
};

}  // namespace orrery
