// models/control_plane/nodes/nodes.hpp -- nodes as the control plane sees them: who joins, who is
// heard.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/control_plane/nodes/node_api.hpp"
#include "models/control_plane/nodes/node_boots.hpp"
#include "models/control_plane/nodes/node_health.hpp"
#include "models/control_plane/nodes/node_rows.hpp"
#include "models/control_plane/nodes/nodes_params.hpp"
#include "sim/engine/signal.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// With control_plane.level: delays or full. Nodes that join or were repaired boot; pods of nodes
// that died are gone when the lifecycle controller evicts them, or their node is back.
class Nodes {
 public:
  struct Joining {
    NodeId node;
    Time at;  // Time::max(): when the autoscaler asks for it
  };

  Nodes(Sim sim, const NodesParams& params, NodeApi& api, std::span<const uint32_t> zone_of_node,
        std::vector<Joining> joining);
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  const std::vector<Joining>& joining() const { return joining_; }
  bool has_more_to_come() const {
    return come_ < joining_.size() && joining_[come_].at < Time::max();
  }
  void start();
  void boot(NodeId node) { boots_.boot(node); }
  void died(NodeId node);  // up or not
  // It is absent again, until it joins anew; whether it was registered. Whoever removes it tells
  // the others, and then of its pods.
  bool removed(NodeId node);
  void pods_removed(NodeId node) { give_up(node, false); }
  void set_cut_off(bool is_cut_off) { health_.set_cut_off(is_cut_off); }

  Signal<NodeId> comes;       // one that joins is there, and may boot
  Signal<NodeId> registered;  // for the first time
  Signal<NodeId> ready;
  Signal<NodeId, Time> pods_gone;  // those it had lost by then; their controllers have heard of it

  const NodeHealth& health() const { return health_; }

  void sample(Time now);
  void finish() { boots_.finish(); }
  void add_summary(Recorder& recorder) const;

 private:
  void come_next();
  void give_up(NodeId node, bool is_back);

  Sim sim_;
  NodeApi& api_;
  NodeHealth health_;
  NodeBoots boots_;
  std::vector<Joining> joining_;  // in order of time
  size_t come_ = 0;               // as many of them
  uint32_t ready_;
  std::vector<bool> is_ready_;  // by node
  uint64_t given_up_ = 0;
  Channel<NodesSample> samples_;
};

}  // namespace orrery
