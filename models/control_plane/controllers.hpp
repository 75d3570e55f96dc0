// models/control_plane/controllers.hpp -- when the pods of a job or set are created.
#pragma once

#include <cstdint>
#include <vector>

#include "models/control_plane/controllers_params.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct Rollout {
  WorkloadKind kind = WorkloadKind::Job;
  int64_t pods = 0;
  Duration answer = {};  // of the servers, to one creation
  Duration start = {};   // from the answer until the pod is ready
};

// When each pod is created, from the start of the rollout, by a controller that does nothing else.
// Jobs and ReplicaSets create batches of 1, 2, 4, ... pods, each after the answers to the one
// before, to notice early what is refused; one that lacks pods after a pass goes on in the next. An
// ordered StatefulSet creates a pod when the one before is ready.
std::vector<Duration> creation_times(const Rollout& rollout, const ControllerParams& params);
// Until the last pod is ready.
Duration rollout_time(const Rollout& rollout, const ControllerParams& params);

// How long a Job waits after its `failures`-th failed pod before it creates another.
Duration job_backoff(int32_t failures, const ControllerParams& params);
constexpr bool has_job_failed(int32_t failures, const ControllerParams& p) {
  return failures > p.job_backoff_limit;
}

// Pods a second of a load told by the day.
constexpr double pods_per_s(double pods_per_day) { return pods_per_day / 86'400; }

}  // namespace orrery
