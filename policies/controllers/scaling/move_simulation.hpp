// policies/controllers/scaling/move_simulation.hpp -- whether the pods of nodes fit on others.
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

// Clears one node after the other of its pods, each time with what earlier ones moved. Pods go to
// ready nodes that are not cordoned and that do not leave themselves. Example: nodes A, B and C
// have one pod each and room for three. A's pod fits on B; B's two then fit on C; C stays.
class MoveSimulation {
 public:
  MoveSimulation(const ControlBoard& board, const ClusterAutoscalerParams& params);

  void leaves(NodeId node) { others_.erase(node); }  // no pod goes there
  // Why the node cannot be cleared; empty: it can, and leaves.
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
  NodeSet others_;                             // where pods may go
  std::map<NodeId, std::vector<Move>> moved_;  // pods of cleared nodes, by where they went
  std::map<uint32_t, int32_t> allowed_;        // evictions that disruption budgets have left
};

}  // namespace orrery
