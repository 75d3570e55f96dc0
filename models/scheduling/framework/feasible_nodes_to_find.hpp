// models/scheduling/framework/feasible_nodes_to_find.hpp -- when a search for nodes may stop.
#pragma once

#include <algorithm>
#include <cstdint>

namespace orrery {

// How many feasible nodes a cycle looks for in a cluster of `nodes` nodes: `percentage` percent of
// the nodes. A `percentage` of 0 is adaptive, as in kube-scheduler's numFeasibleNodesToFind
// (v1.36): 50 % for a few nodes, less one percentage point for each 125 nodes, but at least 5 %. In
// any case a cycle looks for at least 100 nodes, or for all nodes if there are fewer than 100.
// Example: of 5,000 nodes a search stops at 10 %, that is at 500 nodes.
[[nodiscard]] constexpr int64_t feasible_nodes_to_find(int64_t nodes, int32_t percentage) {
  constexpr int64_t kNodesMin = 100, kPercentageMin = 5;
  if (nodes < kNodesMin) return nodes;
  const int64_t share = percentage != 0 ? percentage : std::max(kPercentageMin, 50 - nodes / 125);
  if (share >= 100) return nodes;
  return std::max(kNodesMin, nodes * share / 100);
}

}  // namespace orrery
