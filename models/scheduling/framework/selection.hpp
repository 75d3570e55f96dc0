// models/scheduling/framework/selection.hpp -- results of an attempt's extension points.
#pragma once

#include <cstdint>
#include <string>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

// The node of a pod, or why the pod has no node.
struct Selection {
  NodeId node;  // invalid: no node was found
  Code code = Code::Success;
  std::string reason = {};  // why the pod was rejected; empty if only Filters rejected nodes
  uint32_t plugins = 0;     // set of the plugins that rejected the pod or nodes
  uint32_t visited = 0;     // nodes that the filters examined
  uint32_t feasible = 0;
};

// The result of Reserve, Permit, PreBind or Bind.
struct Verdict {
  Code code = Code::Success;  // from Permit: Wait if a plugin waits and no plugin rejects
  std::string reason = {};
  uint32_t plugins = 0;  // set of the plugins that rejected or wait; empty for an Error
  Duration timeout = Duration::max();
  bool ok() const { return code == Code::Success; }
};

}  // namespace orrery
