// models/control_plane/autoscaling/replica_calculator.hpp -- how many replicas a
// HorizontalPodAutoscaler wants.
#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/services/horizontal_pod_autoscaler_params.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// What it knows of the pods of a service. Use is in thousandths of what a pod asks for.
struct ReplicaUse {
  int32_t measured = 0;   // pods that run, with a use
  int64_t use_milli = 0;  // of these together
  int32_t not_ready = 0;  // that do not run yet, or not for a whole scrape interval
  int32_t not_found = 0;  // that run, of which nothing was collected yet
};

// ceil(replicas * use / target), as pkg/controller/podautoscaler/replica_calculator.go. Pods that
// are not ready count as idle if the others are busy, those of which nothing is known as idle if
// that speaks against adding, as busy if it speaks against taking away. Nothing measured, or within
// the tolerance, or turned round by those: `replicas`.
int32_t recommended_replicas(const HorizontalPodAutoscalerParams& params, int32_t replicas,
                             const ReplicaUse& use);

// Stabilization windows and scaling policies, as pkg/controller/podautoscaler/horizontal.go.
class ReplicaLimits {
 public:
  explicit ReplicaLimits(const HorizontalPodAutoscalerParams& params) : params_{params} {}
  // What becomes of a recommendation, which is remembered.
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
  std::vector<Change> recommendations_, added_, removed_;  // in order of time
};

}  // namespace orrery
