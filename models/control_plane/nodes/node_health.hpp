// models/control_plane/nodes/node_health.hpp -- whose heartbeats arrive, and what becomes of the
// others.
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

// Tells the lifecycle controller who falls silent: nodes that die, and all of them while nobody
// stores their leases. Heartbeats are no events: of a node that falls silent it is known when it
// sent the last.
class NodeHealth {
 public:
  NodeHealth(Engine& engine, const NodeLifecycleParams& params, const HeartbeatParams& heartbeats,
             std::span<const uint32_t> zone_of_node);

  void absent(NodeId node);      // it is registered later
  void registered(NodeId node);  // of one that was absent
  void died(NodeId node);
  void came_back(NodeId node);  // ready, as a node that joins or was repaired
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
  std::vector<Time> heard_from_;                // by node: none is older
  bool is_cut_off_ = false;
  uint32_t tainted_ = 0;
};

}  // namespace orrery
