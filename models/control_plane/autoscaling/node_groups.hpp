// models/control_plane/autoscaling/node_groups.hpp -- the cloud provider: adds nodes to pools, and
// removes nodes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/control_plane/autoscaling/node_group_params.hpp"
#include "models/control_plane/autoscaling/node_group_rows.hpp"
#include "models/control_plane/nodes/node_lifecycle.hpp"
#include "models/hardware/node_presence.hpp"
#include "models/scheduling/contract/control/board.hpp"
#include "sim/core/rng.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// Executes AddNodes and RemoveNodes of controllers. A requested node is provisioned, then joins. A
// node that has not registered after `provision_time_max` is given up, and its pool backs off.
// Requests to the provider cost the API servers nothing. Example: two nodes are requested at 0 s
// with a provisioning time of 3 min and boots of 1 min, so both are Ready at 4 min. If one of them
// had not registered by 15 min, it would be given up, and the pool not scaled up for 5 min.
class NodeGroups {
 public:
  struct Group {  // a pool, and its nodes in order of their ids
    NodeGroupParams params;
    std::vector<NodeId> nodes;
  };
  struct Context {
    Sim sim;
    const ClusterState& cluster;
    const Placements& placements;
    const NodeLifecycle& lifecycle;
    // A node that leaves gets NodeReason::Absent; a provisioned node loses this reason.
    NodePresence& presence;
  };
  NodeGroups(const Context& context, const NodeGroupsParams& params, std::vector<Group> groups);
  NodeGroups(const NodeGroups&) = delete;
  NodeGroups& operator=(const NodeGroups&) = delete;

  void connect(NodeNews& nodes);

  std::span<const PoolView> pools() const { return views_; }
  PoolNodeState state(NodeId node) const { return nodes_[node].state; }
  uint32_t pool_of(NodeId node) const { return nodes_[node].group; }

  // Called once all nodes of a request are ready or given up.
  using Came = std::function<void(uint32_t given_up)>;
  // Requests all of the nodes or none. Returns the reason why no node is requested, or an empty
  // text if all are requested.
  std::string add(const AddNodes& action, Came came);
  struct Removed {
    std::vector<NodeId> nodes;
    std::string why_not_all;  // empty if all of the nodes were removed
  };
  Removed remove(const RemoveNodes& action);

  // Whether nodes may still be added: some are on their way, or `pods_wait` is set and a group may
  // request nodes after its backoff. Groups whose backoff has reached its maximum are ignored.
  bool is_adding(bool pods_wait) const;

  void sample(Time now);
  void add_summary(Recorder& recorder) const;

 private:
  struct Counters {
    uint64_t scale_ups = 0, asked = 0, taken_away = 0, timed_out = 0;
  };
  struct Node {
    PoolNodeState state = PoolNodeState::Foreign;
    uint32_t group = 0;
    uint64_t request = 0;  // the request that added the node
    EventId provisioned = {};
  };
  struct Scaled {
    Group group;
    Rng rng;
    Duration backoff = {};  // length of the last backoff; 0 once a node has registered
  };
  struct Request {
    uint32_t group = 0;
    std::vector<NodeId> nodes;
    uint32_t left = 0, given_up = 0;
    Came came;
    EventId late = {};
  };

  void node_registered(NodeId node);
  void node_ready(NodeId node);
  Time now() const { return sim_.engine.now(); }
  std::string why_not_asked_for(const AddNodes& action) const;
  std::string why_not_removed(const RemoveNodes& action, NodeId node) const;
  void provision(NodeId node, uint64_t request);
  void give_up(uint64_t request);
  void leave(NodeId node);
  void settle(uint64_t request, uint32_t nodes, uint32_t given_up);
  void emit_removed(ScalingKind kind, uint32_t group, uint32_t nodes, uint32_t size);

  Sim sim_;
  const Placements& placements_;
  const NodeLifecycle& lifecycle_;
  NodePresence& presence_;
  NodeGroupsParams params_;
  std::vector<Scaled> groups_;
  std::vector<PoolView> views_;  // by group; controllers see these
  IdVector<NodeId, Node> nodes_;
  std::map<uint64_t, Request> requests_;
  uint64_t last_request_ = 0;
  Counters counters_;
  Channel<ScalingRow> rows_;
  Channel<AutoscalerSample> samples_;
};

}  // namespace orrery
