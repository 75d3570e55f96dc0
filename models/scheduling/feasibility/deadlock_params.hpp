// models/scheduling/feasibility/deadlock_params.hpp -- what counts as a deadlock.
#pragma once

#include <string_view>

#include "sim/config/options.hpp"

namespace orrery {

struct DeadlockParams {
  static constexpr std::string_view kDoc = "Definition of a deadlock of gangs.";

  bool counts_down_nodes = true;

  template <class V>
  void fields(V& v) {
    v("counts_down_nodes", counts_down_nodes,
      "Whether nodes that are down count as if they were up. If so, a gang that only waits for a "
      "repair is not deadlocked.");
  }
};

}  // namespace orrery
