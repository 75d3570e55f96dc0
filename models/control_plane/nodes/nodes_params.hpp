// models/control_plane/nodes/nodes_params.hpp -- parameters of boots and failures of nodes.
#pragma once

#include "models/control_plane/kubelet/kubelet_params.hpp"
#include "models/control_plane/nodes/node_join_params.hpp"
#include "models/control_plane/nodes/node_lifecycle_params.hpp"

namespace orrery {

// These parameters come from several sections of a scenario.
struct BootParams {
  NodeJoinParams join = {};
  HeartbeatParams heartbeats = {};
  Bytes event_bytes = {};     // size of an Event that a node records
  bool has_services = false;  // services are modelled, and their watchers list the addresses
};
struct NodesParams {
  BootParams boot = {};
  NodeLifecycleParams lifecycle = {};
};

}  // namespace orrery
