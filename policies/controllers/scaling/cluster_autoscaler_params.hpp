// policies/controllers/scaling/cluster_autoscaler_params.hpp -- arguments of the ClusterAutoscaler.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/unready_guard.hpp"

namespace orrery {

struct ScaleDownParams {
  static constexpr std::string_view kDoc =
      "A node is unneeded while it has no pods, or while its use is below the threshold and its "
      "pods fit on other nodes. A node that is unneeded for long enough is removed. None is "
      "removed while pods wait that would fit on present nodes.";
  double utilization_threshold = 0.5;
  bool gangs = false;
  Duration unneeded_time = 10_min;
  Duration unready_time = 20_min;
  Duration delay_after_add = 10_min;
  Duration delay_after_delete = {};
  Duration delay_after_failure = 3_min;
  int32_t parallel = 10, drain_parallel = 1;
  Duration eviction_time = 2_min, termination_max = 10_min;
  int32_t candidates_max = 30;
  Duration recheck_after = 5_min;

  template <class V>
  void fields(V& v) {
    v("utilization_threshold", utilization_threshold,
      "Use of a node below which it may be removed with pods: the requested share of its GPUs or, "
      "without GPUs, the larger of the shares of CPU and memory. 0: only nodes without pods are "
      "removed.",
      Range{0.0, 1.0}, Unit{"share"},
      Source{"cluster-autoscaler: --scale-down-utilization-threshold, and likewise for GPUs"});
    v("gangs", gangs,
      "Pods of gangs may be moved, too: an eviction stops the whole gang. Upstream does not move "
      "pods of unknown controllers.");
    v("unneeded_time", unneeded_time,
      "A ready node is removed after it was unneeded for this time.",
      Source{"cluster-autoscaler: --scale-down-unneeded-time"});
    v("unready_time", unready_time,
      "A node that is not ready is removed after it had no pods for this time.",
      Source{"cluster-autoscaler: --scale-down-unready-time"});
    v("delay_after_add", delay_after_add,
      "No node is removed for this time after nodes were requested.",
      Source{"cluster-autoscaler: --scale-down-delay-after-add"});
    v("delay_after_delete", delay_after_delete, "Likewise, after nodes were removed.",
      Source{"cluster-autoscaler: --scale-down-delay-after-delete"});
    v("delay_after_failure", delay_after_failure, "Likewise, after a drain failed.",
      Source{"cluster-autoscaler: --scale-down-delay-after-failure"});
    v("parallel", parallel, "Limit on the nodes removed in one loop, including drained ones.",
      Range{1, 1'000'000}, Unit{"nodes"},
      Source{"cluster-autoscaler: --max-scale-down-parallelism"});
    v("drain_parallel", drain_parallel, "Limit on the nodes that are drained at a time.",
      Range{1, 1'000'000}, Unit{"nodes"}, Source{"cluster-autoscaler: --max-drain-parallelism"});
    v("eviction_time", eviction_time,
      "An eviction that a disruption budget forbids is retried for this time. Then the node stays.",
      Range{1_s, 240_h}, Source{"cluster-autoscaler: --max-pod-eviction-time"});
    v("termination_max", termination_max,
      "Limit on the time until evicted pods have ended; after it the node stays.",
      Range{1_s, 240_h}, Source{"cluster-autoscaler: --max-graceful-termination-sec"});
    v("candidates_max", candidates_max,
      "Limit on the nodes with pods that one loop examines; nodes that were unneeded before are "
      "first.",
      Range{1, 1'000'000}, Unit{"nodes"},
      Source{"cluster-autoscaler: --scale-down-non-empty-candidates-count"});
    v("recheck_after", recheck_after,
      "A node whose pods cannot move is examined again after this time.", Range{1_s, 240_h},
      Source{"cluster-autoscaler: --unremovable-node-recheck-timeout"});
  }
};

struct ClusterAutoscalerParams {
  static constexpr std::string_view kDoc =
      "Adds nodes for pods that found none, and removes nodes whose pods fit elsewhere. One loop a "
      "`period`: upstream's --scan-interval, 10 s.";
  Duration time_per_node = 10_ms;
  int32_t nodes_per_scale_up = 1'000;
  int32_t expendable_below = -10;
  UnreadyGuardParams unready_guard = {};
  ScaleDownParams scale_down = {};

  template <class V>
  void fields(V& v) {
    v("time_per_node", time_per_node,
      "Duration of a loop for each node of the cluster. A loop decides by the state at its begin "
      "and acts at its end. The next loop begins then at the earliest.",
      Range{Duration{}, 1_min},
      Source{"calibrated: cluster-autoscaler, scalability tests: a loop takes up to 10 s with "
             "1,000 nodes of 30 pods"});
    v("nodes_per_scale_up", nodes_per_scale_up, "Limit on the nodes requested in one loop.",
      Range{1, 1'000'000}, Unit{"nodes"}, Source{"cluster-autoscaler: --max-nodes-per-scaleup"});
    v("expendable_below", expendable_below,
      "Pods of a lower priority do not count: no node is requested or kept for them.",
      Range{-2'000'000'000, 2'000'000'000},
      Source{"cluster-autoscaler: --expendable-pods-priority-cutoff"});
    v("unready_guard", unready_guard, "When it halts.");
    v("scale_down", scale_down, "Which nodes go.");
  }
};

}  // namespace orrery
