// models/control_plane/autoscaling/cluster_autoscaler_params.hpp -- who adds nodes for pods that
// find none, and takes idle ones away.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/control_plane/autoscaling/unready_guard.hpp"
#include "sim/config/fields.hpp"
#include "sim/config/value_distributions.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct NodeGroupParams {
  static constexpr std::string_view kDoc =
      "A pool that grows and shrinks. Those of its nodes that are not there at the start are the "
      "last of the pool.";
  std::string pool = {};
  int32_t nodes_min = 0;
  std::optional<int32_t> nodes_max = {}, nodes_at_start = {};
  std::optional<DurationDistribution> provisioning = {};

  template <class V>
  void fields(V& v) {
    v("pool", pool, "Of cluster.pools, or of a node list.", Required{}, Example{"gpu"});
    v("nodes_min", nodes_min, "As many are kept when idle.", Range{0, 1'000'000}, Unit{"nodes"},
      Source{"0: all of it may go"});
    v("nodes_max", nodes_max, "No more are asked for; absent: all of the pool.",
      Range{1, 1'000'000}, Unit{"nodes"});
    v("nodes_at_start", nodes_at_start, "Absent: nodes_min.", Range{0, 1'000'000}, Unit{"nodes"});
    v("provisioning", provisioning,
      "From the request until a new machine runs its kubelet, which then joins (`node_join`); "
      "absent: uniform from 3 to 4 min, as the FAQ of cluster-autoscaler says of GCE.");
  }
  void check(Checker& c) const;
  int32_t at_start() const { return nodes_at_start.value_or(nodes_min); }
  DurationDistribution provisioning_time() const {
    return provisioning.value_or(UniformDuration{.low = 3_min, .high = 4_min});
  }
};

struct ScaleDownParams {
  static constexpr std::string_view kDoc =
      "Idle nodes are taken away. A node with any pod stays: ranks of a gang do not move, and to "
      "drain one stops its whole job. None goes while pods wait that would fit on what is there.";
  Duration unneeded_time = 10_min;
  Duration unready_time = 20_min;
  Duration delay_after_add = 10_min;
  Duration delay_after_delete = {};
  int32_t parallel = 10;

  template <class V>
  void fields(V& v) {
    v("unneeded_time", unneeded_time, "A node that is ready goes when idle for so long.",
      Source{"cluster-autoscaler: --scale-down-unneeded-time"});
    v("unready_time", unready_time, "One that is not ready, likewise.",
      Source{"cluster-autoscaler: --scale-down-unready-time"});
    v("delay_after_add", delay_after_add, "Nothing goes for so long after nodes were asked for.",
      Source{"cluster-autoscaler: --scale-down-delay-after-add"});
    v("delay_after_delete", delay_after_delete, "Likewise, after nodes went.",
      Source{"cluster-autoscaler: --scale-down-delay-after-delete"});
    v("parallel", parallel, "Nodes that go in one loop, at most.", Range{1, 1'000'000},
      Unit{"nodes"}, Source{"cluster-autoscaler: --max-scale-down-parallelism"});
  }
};

struct ClusterAutoscalerParams {
  static constexpr std::string_view kDoc =
      "Every so often it looks for pods that the scheduler could not place. It packs them onto "
      "what "
      "is there and what is on its way, and asks for nodes for the rest: of the first group, in "
      "the order of this list, that helps any. It does not know gangs: one that does not fit "
      "into a group gets what nodes there are, in vain. Else it takes idle nodes away.";
  std::vector<NodeGroupParams> groups = {};
  Duration scan_interval = 10_s;
  Duration time_per_node = 10_ms;
  int32_t nodes_per_scale_up = 1'000;
  Duration provision_time_max = 15_min;
  Duration backoff = 5_min, backoff_max = 30_min;
  int32_t expendable_below = -10;
  UnreadyGuardParams unready_guard = {};
  ScaleDownParams scale_down = {};

  template <class V>
  void fields(V& v) {
    v("groups", groups, "Pools it may scale.", Required{});
    v("scan_interval", scan_interval, "From the begin of a loop to that of the next.",
      Range{100_ms, 24_h}, Source{"cluster-autoscaler: --scan-interval"});
    v("time_per_node", time_per_node,
      "That a loop takes for each node there is: it acts at its end on what it saw at its begin, "
      "and the next begins no earlier.",
      Range{Duration{}, 1_min},
      Source{"calibrated: cluster-autoscaler, scalability tests: a loop takes up to 10 s with "
             "1,000 nodes of 30 pods"});
    v("nodes_per_scale_up", nodes_per_scale_up, "As many are asked for in one loop, at most.",
      Range{1, 1'000'000}, Unit{"nodes"}, Source{"cluster-autoscaler: --max-nodes-per-scaleup"});
    v("provision_time_max", provision_time_max,
      "One that did not register after so long is given up, and its group left alone for a while.",
      Range{1_s, 240_h}, Source{"cluster-autoscaler: --max-node-provision-time"});
    v("backoff", backoff, "For how long, the first time; then twice as long each time.",
      Range{1_s, 240_h}, Source{"cluster-autoscaler: --initial-node-group-backoff-duration"});
    v("backoff_max", backoff_max, "At most; a node that registers ends the series.",
      Range{1_s, 240_h}, Source{"cluster-autoscaler: --max-node-group-backoff-duration"});
    v("expendable_below", expendable_below,
      "Pods of a lower priority do not count: no node is asked for them, and none stays for them.",
      Range{-2'000'000'000, 2'000'000'000},
      Source{"cluster-autoscaler: --expendable-pods-priority-cutoff"});
    v("unready_guard", unready_guard, "When it halts.");
    v("scale_down", scale_down, "Which nodes go.");
  }
  void check(Checker& c) const;
};

}  // namespace orrery
