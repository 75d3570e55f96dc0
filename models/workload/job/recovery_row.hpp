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
  int32_t nodes = 0;  // nodes that the gang or pod held when it stopped
  int32_t gpus = 0;   // GPUs that the gang or pod held when it stopped
  Time failed, detected = kNever, recreated = kNever, scheduled = kNever, started = kNever,
               resumed = kNever, caught_up = kNever;
  double lost_gpu_s = 0;
  bool is_preemption = false, is_membership_change = false;

  static void columns(auto&& c) {
    c("job", &RecoveryRow::job, "serial number of the job");
    c("rank", &RecoveryRow::rank,
      "rank of the independent pod that stopped; -1: a whole gang stopped");
    c("attempt", &RecoveryRow::attempt,
      "1 plus all earlier restarts, preemptions, evictions and membership changes of the job");
    c("node", &RecoveryRow::node, "the node that failed; none if the stop has another cause");
    c("nodes", &RecoveryRow::nodes, "nodes that the gang or pod held when it stopped", "nodes");
    c("gpus", &RecoveryRow::gpus, "GPUs that the gang or pod held when it stopped", "GPU");
    c("failed", &RecoveryRow::failed, "when the gang or pod stopped");
    c("detected", &RecoveryRow::detected, "when the stop was detected; -1: never");
    c("recreated", &RecoveryRow::recreated,
      "when the last of the lost pods was created again; -1: never");
    c("scheduled", &RecoveryRow::scheduled,
      "when the pod, or enough pods to start the gang, had nodes again; -1: never");
    c("started", &RecoveryRow::started,
      "when the pod, or all pods with which the gang starts, were up; the set-up of a gang's "
      "communicator begins at this time; -1: never");
    c("resumed", &RecoveryRow::resumed,
      "when the gang or pod computed again, after loading its checkpoint; -1: never");
    c("caught_up", &RecoveryRow::caught_up,
      "when the gang or pod had redone the lost work; -1: never");
    c("lost_gpu_s", &RecoveryRow::lost_gpu_s,
      "GPU time of the compute that the stop undid, usually all compute since the last checkpoint",
      "GPU s");
    c("is_preemption", &RecoveryRow::is_preemption,
      "whether the cause of the stop was the preemption or eviction of a pod, not a failure");
    c("is_membership_change", &RecoveryRow::is_membership_change,
      "whether the cause of the stop was a membership change, not a failure: an elastic gang "
      "restarted to include members that came up late");
  }
};

}  // namespace orrery
