// models/hardware/node_news.hpp -- the news hub of nodes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/core/id.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// Why a node is not in the cluster.
enum class NodeReason : uint8_t {
  Broken,       // a fault struck it, and is not repaired
  Absent,       // it has not joined yet, or was taken away
  Booting,      // its boot is not over; it goes on while there is no other reason
  Maintenance,  // an operator took it out
  Repairing     // automatic repair took it out
};
constexpr std::array<std::string_view, 5> enum_names(NodeReason) {
  return {"broken", "absent", "booting", "maintenance", "repairing"};
}

// NodePresence emits the first five, `Nodes` the last two. Observers connect in the order of the
// table in models/cluster/news_order.cpp.
struct NodeNews {
  Signal<NodeId, NodeReason> node_down;    // it was up; ClusterState knows, its pods do not yet
  Signal<NodeId> node_up;                  // no reason is left; ClusterState knows
  Signal<NodeId> node_boots;               // Booting alone is left: the boot begins
  Signal<NodeId, NodeReason> boot_broken;  // a reason came while the node booted
  Signal<NodeId> node_taken_away;          // Absent came; after node_down if the node was up
  Signal<NodeId> node_registered;          // a Node object was created
  Signal<NodeId> node_deregistered;        // the Node object of a node taken away was deleted
};

}  // namespace orrery
