// policies/controllers/scaling/move_simulation.hpp -- simulated moves of pods to other nodes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "models/scheduling/contract/control/board.hpp"
#include "models/scheduling/feasibility/room_table.hpp"
#include "policies/controllers/scaling/cluster_autoscaler_params.hpp"

namespace orrery {

// Clears nodes in turn: moves the pods of a node to other nodes. Earlier moves stay in effect.
// Targets are ready nodes that are neither cordoned nor cleared. Example: nodes A, B and C can
// hold three pods each and have one pod each. A's pod moves to B; B's two pods then move to C; C's
// pods cannot move, because A and B are cleared.
class MoveSimulation {
 public:
  MoveSimulation(const ControlBoard& board, const ClusterAutoscalerParams& params);

  void leaves(NodeId node) { others_.erase(node); }  // excludes the node as a target
  // Moves the node's pods away and excludes the node as a target. If a pod cannot move, nothing
  // changes, and the result is the reason; otherwise the result is empty.
  std::string_view clear(NodeId node);

 private:
  struct Move {
    NodeId to;
    SpecId spec;
    GpuMask gpus = 0;
  };
  bool counts(PodId pod) const;
  void free_expendable();
  std::string_view why_held(const std::vector<PodId>& pods);
  std::string_view why_forbidden(const std::vector<PodId>& pods);

  const ControlBoard& board_;
  const ClusterAutoscalerParams& params_;
  RoomTable rooms_;
  NodeSet others_;                             // possible targets
  std::map<NodeId, std::vector<Move>> moved_;  // moved pods by target
  std::map<uint32_t, int32_t> allowed_;        // evictions that disruption budgets still allow
};

}  // namespace orrery
