// models/scheduling/selection.hpp -- what looking for a node came to.
#pragma once

#include <cstdint>
#include <string_view>

#include "models/scheduling/policy_types.hpp"

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

struct Window {                                // what a cycle looks at of the circle of nodes
  uint32_t start = 0, visited = 0, count = 0;  // count: of the candidates in it
};

}  // namespace orrery
