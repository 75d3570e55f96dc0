// models/scheduling/toolbox/largest_node.hpp -- the largest amount of a resource on any node.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/hardware/cluster_state.hpp"

namespace orrery {

// The largest allocatable amount of the resource on any node. At least 1, because packing scores
// divide by this amount.
inline int64_t largest_allocatable(const ClusterState& cluster, Resource resource) {
  int64_t most = 1;
  for (uint32_t n = 0; n < cluster.nodes(); ++n) {
    most = std::max(most, cluster.allocatable({n}, resource));
  }
  return most;
}

}  // namespace orrery
