// models/control_plane/autoscaling/node_group_params.hpp -- pools that grow and shrink, and the
// provisioning times of their nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/fields.hpp"
#include "sim/config/value_distributions.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct NodeGroupParams {
  static constexpr std::string_view kDoc =
      "A pool that grows and shrinks. Nodes that are absent at the start are the last of the pool.";
  std::string pool = {};
  int32_t nodes_min = 0;
  std::optional<int32_t> nodes_max = {}, nodes_at_start = {};
  std::optional<DurationDistribution> provisioning = {};

  template <class V>
  void fields(V& v) {
    v("pool", pool, "Name of a pool in cluster.pools, or of a node list.", Required{},
      Example{"gpu"});
    v("nodes_min", nodes_min, "Minimum number of nodes. They are kept even if idle.",
      Range{0, 1'000'000}, Unit{"nodes"}, Source{"all may be removed"});
    v("nodes_max", nodes_max, "Limit on the number of nodes; absent: all nodes of the pool.",
      Range{1, 1'000'000}, Unit{"nodes"});
    v("nodes_at_start", nodes_at_start, "Number of nodes at the start; absent: nodes_min.",
      Range{0, 1'000'000}, Unit{"nodes"});
    v("provisioning", provisioning,
      "Time from the request for a node until its kubelet runs and begins to join (see "
      "`node_join`). Absent: uniform from 3 to 4 min, the time on GCE in the FAQ of "
      "cluster-autoscaler.");
  }
  void check(Checker& c) const;
  int32_t at_start() const { return nodes_at_start.value_or(nodes_min); }
  DurationDistribution provisioning_time() const {
    return provisioning.value_or(UniformDuration{.low = 3_min, .high = 4_min});
  }
};

struct NodeGroupsParams {
  static constexpr std::string_view kDoc =
      "Pools that grow and shrink, and their provider. A controller of policy.controllers decides "
      "when nodes are added and removed. If no controller of the list scales pools, "
      "ClusterAutoscaler runs with its defaults. To set its arguments, name it in "
      "policy.controllers.";
  std::vector<NodeGroupParams> groups = {};
  Duration provision_time_max = 15_min;
  Duration backoff = 5_min, backoff_max = 30_min;

  template <class V>
  void fields(V& v) {
    v("groups", groups, "Pools that may be scaled, in order of preference.", Required{});
    v("provision_time_max", provision_time_max,
      "A requested node that has not registered after this time is given up, and its pool backs "
      "off.",
      Range{1_s, 240_h}, Source{"cluster-autoscaler: --max-node-provision-time"});
    v("backoff", backoff, "Length of the first backoff. It doubles with each further failure.",
      Range{1_s, 240_h}, Source{"cluster-autoscaler: --initial-node-group-backoff-duration"});
    v("backoff_max", backoff_max,
      "Limit on the backoff. Once a node has registered, the next backoff has length `backoff`.",
      Range{1_s, 240_h}, Source{"cluster-autoscaler: --max-node-group-backoff-duration"});
  }
  void check(Checker& c) const;
};

}  // namespace orrery
