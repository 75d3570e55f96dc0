// models/hardware/node_presence.hpp -- whether a node is in the cluster, and the reasons why not.
#pragma once

#include <cstdint>
#include <span>

#include "models/hardware/cluster_state.hpp"
#include "models/hardware/node_news.hpp"
#include "sim/core/id.hpp"

namespace orrery {

// A node is up while it has no reason to be out. Faults, joins, boots and the autoscaler add and
// remove reasons; only this class calls ClusterState::set_up. With Setup::boots, a node that goes
// down gets Booting, too. Example: a fault makes {Broken, Booting}; the repair leaves {Booting} and
// emits node_boots; the end of the boot leaves {} and emits node_up. Health checks, cordons and
// taints do not concern this class.
class NodePresence : public NodeNews {
 public:
  struct Setup {
    bool boots = false;  // nodes boot, and a component removes Booting after a boot
    std::span<const NodeId> absent = {};  // nodes that start as Absent; they emit no signal
  };
  NodePresence(ClusterState& cluster, const Setup& setup);
  NodePresence(const NodePresence&) = delete;
  NodePresence& operator=(const NodePresence&) = delete;

  // Adding a reason that the node has, or removing a reason that the node lacks, has no effect.
  void add(NodeId node, NodeReason reason);
  void remove(NodeId node, NodeReason reason);

  bool is_up(NodeId node) const { return reasons_[node] == 0; }
  bool has(NodeId node, NodeReason reason) const { return (reasons_[node] & bit(reason)) != 0; }
  uint32_t nodes() const { return static_cast<uint32_t>(reasons_.size()); }
  uint32_t nodes_down() const { return nodes_down_; }

 private:
  using Reasons = uint8_t;  // one bit for each NodeReason
  static constexpr Reasons bit(NodeReason reason) {
    return static_cast<Reasons>(1U << static_cast<unsigned>(reason));
  }
  void take_down(NodeId node, NodeReason reason);

  ClusterState& cluster_;
  bool boots_;
  IdVector<NodeId, Reasons> reasons_;
  uint32_t nodes_down_ = 0;
};

}  // namespace orrery
