#include "models/hardware/node_presence.hpp"

#include "sim/core/check.hpp"

namespace orrery {

NodePresence::NodePresence(ClusterState& cluster, const Setup& setup)
    : cluster_{cluster}, boots_{setup.boots}, reasons_{cluster.nodes()} {
  for (const NodeId node : setup.absent) take_down(node, NodeReason::Absent);
}

void NodePresence::take_down(NodeId node, NodeReason reason) {
  reasons_[node] = bit(reason);
  if (boots_) reasons_[node] |= bit(NodeReason::Booting);
  cluster_.set_up(node, false);
  ++nodes_down_;
}

void NodePresence::add(NodeId node, NodeReason reason) {
  if (has(node, reason)) return;
  if (is_up(node)) {
    take_down(node, reason);
    node_down.emit(node, reason);
  } else {
    const bool booted = reasons_[node] == bit(NodeReason::Booting);
    reasons_[node] |= bit(reason);
    if (booted) {
      ORRERY_MARK("nodes.boot_broken");
      boot_broken.emit(node, reason);
    }
  }
  if (reason == NodeReason::Absent) node_taken_away.emit(node);
}

void NodePresence::remove(NodeId node, NodeReason reason) {
  if (!has(node, reason)) return;
  reasons_[node] = static_cast<Reasons>(reasons_[node] & ~bit(reason));
  if (reasons_[node] == bit(NodeReason::Booting)) return node_boots.emit(node);
  if (!is_up(node)) return;
  cluster_.set_up(node, true);
  --nodes_down_;
  node_up.emit(node);
}

}  // namespace orrery
