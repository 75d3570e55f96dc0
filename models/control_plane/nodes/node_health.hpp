// models/control_plane/nodes/node_health.hpp -- which nodes send heartbeats, and which fall silent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/control_plane/kubelet/kubelet_params.hpp"
#include "models/control_plane/nodes/node_lifecycle.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// Reports silent nodes to the lifecycle controller: dead nodes, and all nodes while Leases cannot
// be stored. Heartbeats are not simulated as events: when a node falls silent, the time of its last
// heartbeat is computed.
class NodeHealth {
 public:
  NodeHealth(Engine& engine, const NodeLifecycleParams& params, const HeartbeatParams& heartbeats,
             std::span<const uint32_t> zone_of_node);

  void absent(NodeId node);      // it has no Node object
  void registered(NodeId node);  // the node was absent
  void died(NodeId node);
  void came_back(NodeId node);  // Ready after it joined or was repaired
  void set_cut_off(bool is_cut_off);

  bool is_registered(NodeId node) const { return is_registered_[node.index]; }
  bool is_alive(NodeId node) const { return is_alive_[node.index]; }
  const NodeLifecycle& lifecycle() const { return lifecycle_; }
  NodeLifecycle& lifecycle() { return lifecycle_; }
  uint32_t tainted() const { return tainted_; }

 private:
  void fall_silent(NodeId node);

  Engine& engine_;
  HeartbeatParams heartbeats_;
  NodeLifecycle lifecycle_;
  std::vector<bool> is_alive_, is_registered_;  // by node
  // By node: when the node last registered or became Ready. Earlier heartbeats are ignored.
  std::vector<Time> counts_from_;
  bool is_cut_off_ = false;
  uint32_t tainted_ = 0;
};

}  // namespace orrery
