// models/scheduling/toolbox/largest_node.hpp -- what scores of packing policies are relative to.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/hardware/cluster_state.hpp"

namespace orrery {

// The most of a resource that any one node has; at least 1, so that it can divide.
inline int64_t largest_allocatable(const ClusterState& cluster, Resource resource) {
  int64_t most = 1;
  for (uint32_t n = 0; n < cluster.nodes(); ++n) {
    most = std::max(most, cluster.allocatable({n}, resource));
  }
  return most;
}

}  // namespace orrery
