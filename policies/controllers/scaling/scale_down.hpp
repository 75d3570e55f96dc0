// policies/controllers/scaling/scale_down.hpp -- which nodes the ClusterAutoscaler takes away.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/scheduling/contract/control/board.hpp"
#include "policies/controllers/scaling/cluster_autoscaler_params.hpp"

namespace orrery {

// A node is unneeded while it has no pods, or while its use is below the threshold and its pods fit
// on other nodes. Nodes that are unneeded for long enough go: empty ones several at a time, others
// one at a time, once they are drained.
class ScaleDown {
 public:
  struct Plan {
    std::vector<NodeId> empty, drained;  // to remove; to drain and then remove
  };
  struct Counters {
    int64_t drained = 0, failed = 0;
  };
  ScaleDown(const ControlBoard& board, const ClusterAutoscalerParams& params)
      : params_{params},
        nodes_{board.cluster().nodes()},
        idle_{board.cluster().nodes()},
        low_{board.cluster().nodes()} {}

  void look(const ControlBoard& board);  // since when nodes are unneeded, as loops see it
  Plan plan(const ControlBoard& board) const;
  // What still holds of the plan.
  void act(const ControlBoard& board, const Plan& plan, Actions& actions);
  // Removes nodes that are drained, and uncordons those that could not be; at every tick.
  void follow_drains(const ControlBoard& board, Actions& actions);
  void scaled_up(Time at) { scaled_up_ = at; }
  const Counters& counters() const { return counters_; }

 private:
  struct Node {
    Time unneeded{-1};       // since the loop that saw it so
    bool was_ready = false;  // in that loop
    Time next_look = {};     // its pods could not move
  };
  struct Draining {
    NodeId node;
    bool has_ended = false;  // the drain; the scheduler may observe the ends of pods later
  };
  bool has_pods(const ControlBoard& board, NodeId node) const;  // that count
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
  NodeSet idle_, low_;    // members without pods; with pods, and with little use
  uint64_t version_ = 0;  // of the cluster, when it was looked at last
  bool has_looked_ = false;
  std::vector<Draining> draining_;
  Time scaled_up_{-1}, taken_away_{-1}, failed_{-1};  // last
  Counters counters_;
};

}  // namespace orrery
