// policies/controllers/scaling/scale_down.hpp -- the nodes that the ClusterAutoscaler removes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/scheduling/contract/control/board.hpp"
#include "policies/controllers/scaling/cluster_autoscaler_params.hpp"

namespace orrery {

// A node is unneeded while it has no pods, or while its use is below the threshold and its pods fit
// on other nodes. Nodes that are unneeded for long enough are removed. Several empty nodes may be
// removed at a time. Nodes with pods are drained first, by default one at a time. Example: the
// threshold is 50 %, and a node must be unneeded for 10 min. From 0 s a node has one pod, which
// uses 2 of 8 GPUs and fits on another node. At 10 min the node is drained, and then removed.
class ScaleDown {
 public:
  struct Plan {
    std::vector<NodeId> empty, drained;  // nodes to remove at once; nodes to drain first
  };
  struct Counters {
    int64_t drained = 0, failed = 0;
  };
  ScaleDown(const ControlBoard& board, const ClusterAutoscalerParams& params)
      : params_{params},
        nodes_{board.cluster().nodes()},
        idle_{board.cluster().nodes()},
        low_{board.cluster().nodes()} {}

  void look(const ControlBoard& board);  // updates which nodes are unneeded, and since when
  Plan plan(const ControlBoard& board) const;
  // Executes the part of the plan that is still valid.
  void act(const ControlBoard& board, const Plan& plan, Actions& actions);
  // Removes drained nodes, and uncordons nodes whose drain failed; called at every tick.
  void follow_drains(const ControlBoard& board, Actions& actions);
  void scaled_up(Time at) { scaled_up_ = at; }
  const Counters& counters() const { return counters_; }

 private:
  struct Node {
    // When the node became unneeded; negative: the node is needed. Set to the current time when the
    // readiness of an idle node changes.
    Time unneeded{-1};
    bool was_ready = false;  // whether the unneeded node was ready at the last look()
    Time next_look = {};     // when to examine the node again after its pods could not move
  };
  struct Draining {
    NodeId node;
    // Set if the node still has pods at the first tick after the end of the drain. The drain has
    // failed only if the node also has pods at the second tick, because the scheduler may observe
    // ends of pods one tick late.
    bool has_ended = false;
  };
  bool has_pods(const ControlBoard& board, NodeId node) const;  // pods that are not expendable
  double use(const ControlBoard& board, NodeId node) const;
  void refresh(const ControlBoard& board);
  void update(const ControlBoard& board, NodeId node);
  void look_at_idle(const ControlBoard& board);
  void look_at_low(const ControlBoard& board);
  std::vector<NodeId> candidates(const ControlBoard& board) const;
  bool is_cooling_down(Time now) const;
  bool is_draining(NodeId node) const;
  std::vector<NodeId> due(const ControlBoard& board, const NodeSet& among) const;
  void remove(const ControlBoard& board, const std::vector<NodeId>& nodes, const char* why,
              Actions& actions);

  const ClusterAutoscalerParams& params_;
  IdVector<NodeId, Node> nodes_;
  NodeSet idle_, low_;    // pool members without pods; pool members with pods and a low use
  uint64_t version_ = 0;  // ClusterState::version() at the last refresh()
  bool has_looked_ = false;
  std::vector<Draining> draining_;
  // Times of the last request for nodes, of the last removal and of the last failed drain.
  Time scaled_up_{-1}, taken_away_{-1}, failed_{-1};
  Counters counters_;
};

}  // namespace orrery
