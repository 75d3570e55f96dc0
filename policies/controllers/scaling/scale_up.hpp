// policies/controllers/scaling/scale_up.hpp -- the nodes that the ClusterAutoscaler requests.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/scheduling/contract/control/board.hpp"
#include "models/scheduling/feasibility/room_table.hpp"
#include "policies/controllers/scaling/cluster_autoscaler_params.hpp"

namespace orrery {

// Packs unplaced pods, the largest pod first, onto present and requested nodes. Pods that do not
// fit there are packed onto new nodes of one pool: the first pool that fits any of these pods. The
// plan requests the new nodes that got pods. Example: pods of 8, 8 and 4 GPUs, one present node
// with 4 free GPUs, new nodes of 8: the pod of 4 fits on the present node, and 2 nodes are
// requested.
class ScaleUp {
 public:
  struct Plan {
    std::optional<AddNodes> add;
    bool helps_pods = false;  // some pods fit on present or requested nodes
  };
  ScaleUp(const ControlBoard& board, const ClusterAutoscalerParams& params)
      : board_{board}, params_{params} {}
  Plan plan();

 private:
  struct Waiting {  // pods of one spec
    SpecId spec = {};
    int64_t pods = 0, seated = 0;  // seated: pods that fit on present or requested nodes
    std::vector<Time> since = {};  // since when each pod waits, sorted
  };
  std::vector<Waiting> collect_waiting() const;  // largest first
  uint32_t room_to_grow(const PoolView& pool) const;
  std::optional<AddNodes> grow(uint32_t number, const std::vector<Waiting>& waiting,
                               RoomTable& rooms) const;

  const ControlBoard& board_;
  const ClusterAutoscalerParams& params_;
};

}  // namespace orrery
