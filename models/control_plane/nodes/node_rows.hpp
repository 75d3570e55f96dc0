// models/control_plane/nodes/node_rows.hpp -- rows of /events/boots and /timeline/nodes.
#pragma once

#include <cstdint>

#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/record/column.hpp"

namespace orrery {

struct BootRow {  // one boot of a node; -1: stage not reached
  NodeId node;
  bool joins = false;
  Time asked{-1}, entered{-1}, registered{-1}, ready{-1}, settled{-1};
  int32_t again = 0;

  static void columns(auto&& c) {
    c("node", &BootRow::node, "the node");
    c("joins", &BootRow::joins, "the node's Node object did not exist when the boot began");
    c("asked", &BootRow::asked, "when the boot began");
    c("entered", &BootRow::entered, "when the gate admitted it; -1: never");
    c("registered", &BootRow::registered, "when its Node was stored; -1: never");
    c("ready", &BootRow::ready, "when its kubelet was reported ready: it takes pods; -1: never");
    c("settled", &BootRow::settled,
      "when kube-proxy and daemons watched, and all Events were stored; -1: never");
    c("again", &BootRow::again, "requests that the client gave up, and the boot retried",
      "requests");
  }
};

struct NodesSample {
  Time time;
  uint32_t ready = 0, waiting = 0, booting = 0, not_ready = 0, tainted = 0;

  static void columns(auto&& c) {
    c("time", &NodesSample::time, "end of the interval; all columns are of that instant");
    c("ready", &NodesSample::ready, "nodes that take pods", "nodes");
    c("waiting", &NodesSample::waiting, "waiting at the gate", "nodes");
    c("booting", &NodesSample::booting, "booting, and not Ready", "nodes");
    c("not_ready", &NodesSample::not_ready, "registered, and NotReady by the lifecycle controller",
      "nodes");
    c("tainted", &NodesSample::tainted, "of these, tainted: pods leave them", "nodes");
  }
};

}  // namespace orrery
