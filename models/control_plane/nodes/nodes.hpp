// models/control_plane/nodes/nodes.hpp -- nodes as the control plane sees them: joining, alive or
// silent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/control_plane/nodes/node_api.hpp"
#include "models/control_plane/nodes/node_boots.hpp"
#include "models/control_plane/nodes/node_health.hpp"
#include "models/control_plane/nodes/node_rows.hpp"
#include "models/control_plane/nodes/nodes_params.hpp"
#include "models/hardware/node_presence.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Exists if control_plane.level is `delays` or `full`. Nodes that join or were repaired boot before
// they take pods. Pods of a dead node are deleted when the node lifecycle controller evicts them,
// or when the node is Ready again. Pods of a removed node are deleted at once.
class Nodes {
 public:
  struct Joining {
    NodeId node;
    Time at;  // Time::max(): when the autoscaler requests it
  };

  // All nodes in `joining` must be absent (NodeReason::Absent).
  Nodes(Sim sim, const NodesParams& params, NodeApi& api, NodePresence& presence,
        std::span<const uint32_t> zone_of_node, std::vector<Joining> joining);
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  void connect(NodeNews& nodes);
  bool has_more_to_come() const {
    return come_ < joining_.size() && joining_[come_].at < Time::max();
  }
  void start();

  const NodeHealth& health() const { return health_; }

  void sample(Time now);
  void finish() { boots_.finish(); }
  void add_summary(Recorder& recorder) const;

 private:
  void come_next();
  void died(NodeId node, NodeReason why);
  void taken_away(NodeId node);

  Sim sim_;
  NodeApi& api_;
  NodePresence& presence_;
  NodeHealth health_;
  NodeBoots boots_;
  std::vector<Joining> joining_;  // in order of time
  size_t come_ = 0;               // how many of joining_ have begun to join
  uint64_t given_up_ = 0;
  Channel<NodesSample> samples_;
};

}  // namespace orrery
