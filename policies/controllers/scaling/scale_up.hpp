// policies/controllers/scaling/scale_up.hpp -- which nodes the ClusterAutoscaler asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/scheduling/contract/control/board.hpp"
#include "models/scheduling/feasibility/room_table.hpp"
#include "policies/controllers/scaling/cluster_autoscaler_params.hpp"

namespace orrery {

// Packs the pods that found no node onto nodes that are there or on their way, largest first. What
// is left goes onto nodes of the first pool that holds any of it: those are asked for.
class ScaleUp {
 public:
  struct Plan {
    std::optional<AddNodes> add;
    bool helps_pods = false;  // some fit on what is there or on its way
  };
  ScaleUp(const ControlBoard& board, const ClusterAutoscalerParams& params)
      : board_{board}, params_{params} {}
  Plan plan();

 private:
  struct Waiting {  // alike pods
    SpecId spec = {};
    int64_t pods = 0, seated = 0;  // seated: on what is there or on its way
    std::vector<Time> since = {};  // of each pod, in order
  };
  std::vector<Waiting> collect_waiting() const;  // largest first
  uint32_t room_to_grow(const PoolView& pool) const;
  std::optional<AddNodes> grow(uint32_t number, const std::vector<Waiting>& waiting,
                               RoomTable& rooms) const;

  const ControlBoard& board_;
  const ClusterAutoscalerParams& params_;
};

}  // namespace orrery
