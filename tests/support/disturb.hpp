// tests/support/disturb.hpp -- takes a node down or up, or changes its cordon or its taints.
#pragma once

#include "models/hardware/cluster_state.hpp"

namespace orrery {

// Changes the node in one of four ways. 0: up or down. 1: cordoned or uncordoned. 2 and 3: adds the
// taint `busy` (NoSchedule) or `old` (PreferNoSchedule) if `is_tainted`, else removes it.
inline void disturb(ClusterState& state, NodeId node, int which, bool is_tainted) {
  if (which == 0) state.set_up(node, !state.up().contains(node));
  if (which == 1) state.set_cordoned(node, !state.cordoned().contains(node));
  if (which == 2) state.set_taint(node, {"busy", "", TaintEffect::NoSchedule}, is_tainted);
  if (which == 3) state.set_taint(node, {"old", "", TaintEffect::PreferNoSchedule}, is_tainted);
}

}  // namespace orrery
