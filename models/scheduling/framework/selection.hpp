// models/scheduling/framework/selection.hpp -- results of the points of an attempt.
#pragma once

#include <cstdint>
#include <string>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

// Why a pod has no node, or which one it gets.
struct Selection {
  NodeId node;  // invalid: none
  Code code = Code::Success;
  std::string reason = {};  // of a plugin that rejected the pod itself
  uint32_t plugins = 0;     // bit set of the plugins that rejected
  uint32_t visited = 0;     // nodes the filters had to look at
  uint32_t feasible = 0;
};

// What Reserve or Permit answered.
struct Verdict {
  Code code = Code::Success;  // of Permit, Wait if some plugin waits
  std::string reason = {};
  uint32_t plugins = 0;  // that rejected or wait; empty for an Error
  Duration timeout = Duration::max();
  bool ok() const { return code == Code::Success; }
};

}  // namespace orrery
