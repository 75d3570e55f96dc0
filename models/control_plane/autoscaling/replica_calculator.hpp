// models/control_plane/autoscaling/replica_calculator.hpp -- the number of replicas that a
// HorizontalPodAutoscaler recommends, and the limits on changes of this number.
#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/services/horizontal_pod_autoscaler_params.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// The autoscaler's data about the pods of a service. Use is in thousandths of a pod's request.
struct ReplicaUse {
  int32_t measured = 0;   // running pods with a measured use
  int64_t use_milli = 0;  // the sum of their use
  // Pods that do not run yet, or had run for less than a scrape interval when last scraped.
  int32_t not_ready = 0;
  int32_t not_found = 0;  // running pods without a collected measurement
};

// Returns ceil(counted * mean / target), like pkg/controller/podautoscaler/replica_calculator.go.
// counted is the number of pods that count, and mean is their mean use. Measured pods always count.
// If the measured use is above the target, all other pods count as idle. If it is below the target,
// pods without a measurement count as busy, and pods that are not ready do not count. The result is
// `replicas` if no pod is measured, if mean / target differs from 1 by at most the tolerance, or if
// counting the other pods reverses the direction of scaling. Example: 4 replicas have a measured
// use of 90 %, and the target is 60 %, so ceil(4 * 1.5) = 6 are wanted. If a fifth pod is not
// ready, it counts as idle: the use is 72 %, and ceil(5 * 1.2) = 6.
int32_t recommended_replicas(const HorizontalPodAutoscalerParams& params, int32_t replicas,
                             const ReplicaUse& use);

// Applies stabilization windows and scaling policies, like
// pkg/controller/podautoscaler/horizontal.go.
class ReplicaLimits {
 public:
  explicit ReplicaLimits(const HorizontalPodAutoscalerParams& params) : params_{params} {}
  // Returns `recommended`, limited by windows and policies. Stores the unlimited value for later
  // windows.
  int32_t limit(Time now, int32_t replicas, int32_t recommended);
  void changed(Time now, int32_t before, int32_t after);

 private:
  struct Change {
    Time at;
    int32_t replicas;
  };
  int32_t stabilized(Time now, int32_t replicas, int32_t recommended) const;
  int32_t within_period(const std::vector<Change>& changes, Time now, Duration period) const;
  int32_t most(Time now, int32_t replicas) const;
  int32_t least(Time now, int32_t replicas) const;

  HorizontalPodAutoscalerParams params_;
  std::vector<Change> recommendations_, added_, removed_;  // ordered by time
};

}  // namespace orrery
