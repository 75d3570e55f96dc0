// models/control_plane/nodes/node_lifecycle_params.hpp -- when silent nodes are tainted.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class NodeZones : uint8_t { One, Pools };
constexpr std::array<std::string_view, 2> enum_names(NodeZones) { return {"one", "pools"}; }

struct NodeLifecycleParams {
  static constexpr std::string_view kDoc =
      "The node lifecycle controller: nodes without heartbeats are tainted, one after the other, "
      "and lose their pods.";
  Duration monitor_period = 5_s;
  Duration grace = 40_s;
  Duration toleration = 300_s;
  double taint_rate = 0.1;
  double secondary_taint_rate = 0.01;
  double unhealthy_share = 0.55;
  int32_t large_zone = 50;
  NodeZones zones = NodeZones::One;

  template <class V>
  void fields(V& v) {
    v("monitor_period", monitor_period, "Time between checks of all nodes.", Range{1_ms, 1_h},
      Source{"kube-controller-manager: --node-monitor-period"});
    v("grace", grace, "A node that is silent for longer becomes NotReady.", Range{1_s, 24_h},
      Source{"kube-controller-manager: --node-monitor-grace-period before 1.32, then 50 s"});
    v("toleration", toleration, "How long pods stay on a node that is tainted.",
      Range{Duration{}, 168_h}, Source{"admission DefaultTolerationSeconds"});
    v("taint_rate", taint_rate,
      "Rate at which NotReady nodes of a zone are tainted. No node is tainted while all nodes of "
      "the cluster are NotReady.",
      Range{0.0, 1e6}, Unit{"nodes/s"}, Source{"kube-controller-manager: --node-eviction-rate"});
    v("secondary_taint_rate", secondary_taint_rate,
      "Replaces taint_rate in a large zone whose share of NotReady nodes reaches unhealthy_share. "
      "In a small zone with such a share, no node is tainted.",
      Range{0.0, 1e6}, Unit{"nodes/s"},
      Source{"kube-controller-manager: --secondary-node-eviction-rate"});
    v("unhealthy_share", unhealthy_share,
      "Share of a zone's nodes that must be NotReady before secondary_taint_rate applies. "
      "Besides, at least 3 nodes of the zone must be NotReady, and at least one must be Ready.",
      Range{0.0, 1.0}, Unit{"share"},
      Source{"kube-controller-manager: --unhealthy-zone-threshold"});
    v("large_zone", large_zone,
      "A zone with more nodes than this is large; any other zone is small.", Range{0, 1'000'000},
      Unit{"nodes"}, Source{"kube-controller-manager: --large-cluster-size-threshold"});
    v("zones", zones, "one: all nodes are one zone; pools: each pool is a zone.",
      Source{"the cluster is in one room"});
  }
  void check(Checker& c) const {
    if (grace < monitor_period) c.error("grace", "must not be less than monitor_period");
    if (secondary_taint_rate > taint_rate)
      c.error("secondary_taint_rate", "must not be more than taint_rate");
  }
};

}  // namespace orrery
