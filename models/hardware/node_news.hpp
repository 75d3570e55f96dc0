// models/hardware/node_news.hpp -- signals about nodes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/core/id.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// Why a node is not in the cluster.
enum class NodeReason : uint8_t {
  Broken,       // struck by a fault and not repaired
  Absent,       // not joined yet, or removed
  Booting,      // has yet to boot; the boot runs while there is no other reason
  Maintenance,  // taken out by an operator
  Repairing     // taken out by automatic repair
};
constexpr std::array<std::string_view, 5> enum_names(NodeReason) {
  return {"broken", "absent", "booting", "maintenance", "repairing"};
}

// NodePresence emits the first five signals, `Nodes` the next two, ActionExecutor the last.
// Cluster::connect_news() connects the observers in a fixed order.
struct NodeNews {
  // A node that was up is down now. ClusterState shows this already; the node's pods remain until
  // JobController has observed this signal.
  Signal<NodeId, NodeReason> node_down;
  Signal<NodeId> node_up;                  // no reason is left; ClusterState is updated
  Signal<NodeId> node_boots;               // only Booting is left: the boot begins
  Signal<NodeId, NodeReason> boot_broken;  // a reason was added while the node booted
  Signal<NodeId> node_taken_away;          // Absent was added; after node_down if the node was up
  Signal<NodeId> node_registered;          // a Node object was created
  Signal<NodeId> node_deregistered;        // the Node object of a removed node was deleted
  Signal<NodeId> node_updated;             // its cordon or a taint changed; ClusterState is updated
};

}  // namespace orrery
