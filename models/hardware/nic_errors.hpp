// models/hardware/nic_errors.hpp -- symbol errors counted by the NICs of a node.
#pragma once

#include <cstdint>

#include "sim/core/id.hpp"

namespace orrery {

struct NicErrors {
  NodeId node;
  int64_t symbol_errors = 0;  // counted so far by all NICs of the node
  double per_hour = 0;        // current rate of symbol errors
};

}  // namespace orrery
