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
      "pods fit on other nodes. A node that is unneeded for long enough is removed. No node is "
      "removed while waiting pods fit on present or requested nodes.";
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
      "A node with pods may be removed if its use is below this. The use is the requested share "
      "of its GPUs. For a node without GPUs, the use is the larger of the requested shares of CPU "
      "and memory. 0: only nodes without pods are removed.",
      Range{0.0, 1.0}, Unit{"share"},
      Source{"cluster-autoscaler: --scale-down-utilization-threshold and "
             "--scale-down-gpu-utilization-threshold"});
    v("gangs", gangs,
      "Whether nodes with pods of gangs may be drained, too. An eviction stops the whole gang. "
      "By default, upstream evicts no pods of custom controllers.");
    v("unneeded_time", unneeded_time,
      "A ready node is removed after it was unneeded for this time.",
      Source{"cluster-autoscaler: --scale-down-unneeded-time"});
    v("unready_time", unready_time,
      "A node is removed after it was not ready and had no pods for this time.",
      Source{"cluster-autoscaler: --scale-down-unready-time"});
    v("delay_after_add", delay_after_add,
      "No node is removed for this time after nodes were requested.",
      Source{"cluster-autoscaler: --scale-down-delay-after-add"});
    v("delay_after_delete", delay_after_delete,
      "No node is removed for this time after nodes were removed.",
      Source{"cluster-autoscaler: --scale-down-delay-after-delete"});
    v("delay_after_failure", delay_after_failure,
      "No node is removed for this time after a drain failed.",
      Source{"cluster-autoscaler: --scale-down-delay-after-failure"});
    v("parallel", parallel, "Limit on the nodes removed in one loop, including drained ones.",
      Range{1, 1'000'000}, Unit{"nodes"},
      Source{"cluster-autoscaler: --max-scale-down-parallelism"});
    v("drain_parallel", drain_parallel, "Limit on the nodes that are drained at a time.",
      Range{1, 1'000'000}, Unit{"nodes"}, Source{"cluster-autoscaler: --max-drain-parallelism"});
    v("eviction_time", eviction_time,
      "An eviction that a disruption budget forbids is retried for this time. If the budget still "
      "forbids it then, the node stays.",
      Range{1_s, 240_h}, Source{"cluster-autoscaler: --max-pod-eviction-time"});
    v("termination_max", termination_max,
      "If evicted pods have not ended after this time, the node stays.", Range{1_s, 240_h},
      Source{"cluster-autoscaler: --max-graceful-termination-sec"});
    v("candidates_max", candidates_max,
      "Limit on the nodes with pods that one loop examines. Nodes that are already unneeded come "
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
      "One loop runs every `period` of policy.controllers, as with upstream's --scan-interval.";
  Duration time_per_node = 10_ms;
  int32_t nodes_per_scale_up = 1'000;
  int32_t expendable_below = -10;
  UnreadyGuardParams unready_guard = {};
  ScaleDownParams scale_down = {};

  template <class V>
  void fields(V& v) {
    v("time_per_node", time_per_node,
      "A loop takes this time for each node of the cluster. It decides at its start, acts at its "
      "end, and never overlaps the next loop.",
      Range{Duration{}, 1_min},
      Source{"calibrated: in cluster-autoscaler's scalability tests, a loop takes up to 10 s with "
             "1,000 nodes of 30 pods each"});
    v("nodes_per_scale_up", nodes_per_scale_up, "Limit on the nodes requested in one loop.",
      Range{1, 1'000'000}, Unit{"nodes"}, Source{"cluster-autoscaler: --max-nodes-per-scaleup"});
    v("expendable_below", expendable_below,
      "Pods with a lower priority than this do not count: no node is requested or kept for them.",
      Range{-2'000'000'000, 2'000'000'000},
      Source{"cluster-autoscaler: --expendable-pods-priority-cutoff"});
    v("unready_guard", unready_guard,
      "Limits on not-ready nodes, beyond which the autoscaler halts.");
    v("scale_down", scale_down, "Which nodes are removed, and when.");
  }
};

}  // namespace orrery
