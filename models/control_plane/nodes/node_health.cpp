#include "models/control_plane/nodes/node_health.hpp"

#include <algorithm>

#include "models/control_plane/kubelet/kubelet.hpp"

namespace orrery {

NodeHealth::NodeHealth(Engine& engine, const NodeLifecycleParams& params,
                       const HeartbeatParams& heartbeats, std::span<const uint32_t> zone_of_node)
    : engine_{engine},
      heartbeats_{heartbeats},
      lifecycle_{engine, params, zone_of_node},
      is_alive_(zone_of_node.size(), true),
      is_registered_(zone_of_node.size(), true),
      counts_from_(zone_of_node.size()) {
  lifecycle_.tainted.connect([this](NodeId) { ++tainted_; });
  lifecycle_.untainted.connect([this](NodeId) { --tainted_; });
}

void NodeHealth::absent(NodeId node) {
  is_alive_[node.index] = is_registered_[node.index] = false;
  lifecycle_.node_deleted(node);
}

void NodeHealth::registered(NodeId node) {
  is_alive_[node.index] = is_registered_[node.index] = true;
  counts_from_[node.index] = engine_.now();
  lifecycle_.node_registered(node);
  if (is_cut_off_) fall_silent(node);
}

void NodeHealth::fall_silent(NodeId node) {
  const Time last = last_heartbeat(node, engine_.now(), heartbeats_);
  lifecycle_.node_silent(node, std::max(last, counts_from_[node.index]));
}

void NodeHealth::died(NodeId node) {
  if (!is_registered_[node.index]) return;
  const bool was_alive = is_alive_[node.index];
  is_alive_[node.index] = false;
  fall_silent(node);
  if (was_alive) lifecycle_.restart_toleration(node);
}

void NodeHealth::came_back(NodeId node) {
  is_alive_[node.index] = true;
  counts_from_[node.index] = engine_.now();
  if (is_cut_off_) return;  // its heartbeats return with those of the other nodes
  lifecycle_.node_alive(node);
}

void NodeHealth::set_cut_off(bool is_cut_off) {
  if (is_cut_off_ == is_cut_off) return;
  is_cut_off_ = is_cut_off;
  for (uint32_t n = 0; n < is_alive_.size(); ++n) {
    if (!is_alive_[n]) continue;
    is_cut_off ? fall_silent({n}) : lifecycle_.node_alive({n});
  }
}

}  // namespace orrery
