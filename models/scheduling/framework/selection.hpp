// models/scheduling/framework/selection.hpp -- results of the points of an attempt.
#pragma once

#include <cstdint>
#include <string>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

// The node of a pod, or why it has none.
struct Selection {
  NodeId node;  // invalid: none
  Code code = Code::Success;
  std::string reason = {};  // of a plugin that rejected the whole pod
  uint32_t plugins = 0;     // bit set of the plugins that rejected
  uint32_t visited = 0;     // nodes that the filters examined
  uint32_t feasible = 0;
};

// The result of Reserve or Permit.
struct Verdict {
  Code code = Code::Success;  // of Permit: Wait if any plugin waits
  std::string reason = {};
  uint32_t plugins = 0;  // plugins that rejected or wait; empty for an Error
  Duration timeout = Duration::max();
  bool ok() const { return code == Code::Success; }
};

}  // namespace orrery
