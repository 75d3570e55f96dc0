// models/workload/job/recovery_row.hpp -- rows of /events/recoveries.
#pragma once

#include <cstdint>

#include "models/workload/job/job.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/record/column.hpp"

namespace orrery {

// One stop of a gang, or of one independent pod, and its recovery. kNever: the stage was not
// reached.
struct RecoveryRow {
  uint64_t job = 0;
  int32_t rank = -1;    // the independent pod that stopped; -1: the whole gang
  int32_t attempt = 0;  // 1: the first stop of the job
  NodeId node;
  int32_t nodes = 0;  // nodes that the job, or the pod, held when the failure struck
  int32_t gpus = 0;   // GPUs that it held when the failure struck
  Time failed, detected = kNever, recreated = kNever, scheduled = kNever, started = kNever,
               resumed = kNever, caught_up = kNever;
  double lost_gpu_s = 0;
  bool is_preemption = false, is_membership_change = false;

  static void columns(auto&& c) {
    c("job", &RecoveryRow::job, "serial number of the job");
    c("rank", &RecoveryRow::rank, "the independent pod that was lost; -1: the whole gang stopped");
    c("attempt", &RecoveryRow::attempt, "number of this stop of the job, from 1");
    c("node", &RecoveryRow::node,
      "the node that failed; none if a process died, gave up or was terminated");
    c("nodes", &RecoveryRow::nodes, "nodes that it held when it failed", "nodes");
    c("gpus", &RecoveryRow::gpus, "GPUs that it held when it failed", "GPU");
    c("failed", &RecoveryRow::failed, "when it stopped");
    c("detected", &RecoveryRow::detected, "when the failure was detected; -1: never");
    c("recreated", &RecoveryRow::recreated,
      "when the last of its lost pods was created again; -1: never");
    c("scheduled", &RecoveryRow::scheduled, "when enough pods had nodes; -1: never");
    c("started", &RecoveryRow::started, "when the start barrier was passed; -1: never");
    c("resumed", &RecoveryRow::resumed, "when it computed again, its checkpoint loaded; -1: never");
    c("caught_up", &RecoveryRow::caught_up, "when its lost work was redone; -1: never");
    c("lost_gpu_s", &RecoveryRow::lost_gpu_s, "compute since the last checkpoint", "GPU s");
    c("is_preemption", &RecoveryRow::is_preemption,
      "not a failure: a pod was preempted, or a controller evicted it");
    c("is_membership_change", &RecoveryRow::is_membership_change,
      "not a failure: the gang restarted to include late members");
  }
};

}  // namespace orrery
