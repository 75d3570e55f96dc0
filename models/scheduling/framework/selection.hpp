// models/scheduling/framework/selection.hpp -- what looking for a node came to.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

// Why a pod has no node, or which one it gets.
struct Selection {
  NodeId node;  // invalid: none
  Code code = Code::Success;
  std::string_view reason;  // of a PreFilter that said no
  uint32_t plugins = 0;     // bit set of those that rejected
  uint32_t visited = 0;     // nodes the filters had to look at
  uint32_t feasible = 0;
};

// The answers of a cycle's PreFilters, and the nodes that they left.
struct Narrowing {
  PodId pod = {};        // of the latest cycle
  uint64_t version = 0;  // of the cluster then
  // Bit sets of plugins.
  uint32_t unasked = 0;  // an earlier PreFilter rejected the pod: their Filters must not run
  uint32_t skipped = 0;  // answered Skip
  uint32_t by = 0;       // removed nodes
  NodeSet nodes = {};    // the nodes that remain
};

struct Window {                                // what a cycle looks at of the circle of nodes
  uint32_t start = 0, visited = 0, count = 0;  // count: of the candidates in it
};

}  // namespace orrery
