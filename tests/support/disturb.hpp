// tests/support/disturb.hpp -- what happens to nodes, apart from pods that come and go.
#pragma once

#include "models/hardware/cluster_state.hpp"

namespace orrery {

// Of four things one: the node goes down or comes up; is cordoned or no longer; has or loses a
// taint that keeps pods off; or one that does not.
inline void disturb(ClusterState& state, NodeId node, int which, bool is_tainted) {
  if (which == 0) state.set_up(node, !state.up().contains(node));
  if (which == 1) state.set_cordoned(node, !state.cordoned().contains(node));
  if (which == 2) state.set_taint(node, {"busy", "", TaintEffect::NoSchedule}, is_tainted);
  if (which == 3) state.set_taint(node, {"old", "", TaintEffect::PreferNoSchedule}, is_tainted);
}

}  // namespace orrery
