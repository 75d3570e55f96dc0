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
    c("joins", &BootRow::joins,
      "whether the node joins: its Node object did not exist when the boot began");
    c("asked", &BootRow::asked, "when the boot began");
    c("entered", &BootRow::entered,
      "when control_plane.node_join.rate_max admitted the node; -1: never");
    c("registered", &BootRow::registered, "when its Node object was stored; -1: never");
    c("ready", &BootRow::ready,
      "when its kubelet had reported Ready, so that the node takes pods; -1: never");
    c("settled", &BootRow::settled,
      "when the boot was over: kube-proxy and the daemons had opened their watches, and all Events "
      "of the boot were stored; -1: never");
    c("again", &BootRow::again,
      "requests of the boot that were sent again because the API client's own retries failed",
      "requests");
  }
};

struct NodesSample {
  Time time;
  uint32_t ready = 0, waiting = 0, booting = 0, not_ready = 0, tainted = 0;

  static void columns(auto&& c) {
    c("time", &NodesSample::time, "end of the interval; all columns are of that instant");
    c("ready", &NodesSample::ready,
      "nodes that are up; nodes that are broken, absent, booting, in maintenance or under repair "
      "do "
      "not count; cordons and taints do not matter",
      "nodes");
    c("waiting", &NodesSample::waiting,
      "booting nodes that control_plane.node_join.rate_max has not admitted yet", "nodes");
    c("booting", &NodesSample::booting,
      "nodes that boot and are not Ready yet, without those in `waiting`", "nodes");
    c("not_ready", &NodesSample::not_ready,
      "registered nodes that the node lifecycle controller marked NotReady", "nodes");
    c("tainted", &NodesSample::tainted,
      "nodes with a NoExecute taint from the node lifecycle controller; a pod on such a node is "
      "evicted when the pod's toleration ends",
      "nodes");
  }
};

}  // namespace orrery
