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
      "Nodes that are down count like nodes that are up: gangs that only wait for a repair are not "
      "deadlocked.");
  }
};

}  // namespace orrery
