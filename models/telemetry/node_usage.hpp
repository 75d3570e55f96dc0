// models/telemetry/node_usage.hpp -- use and faults of each node: rows of /nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/hardware/node_news.hpp"
#include "models/telemetry/gpu_usage.hpp"
#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

struct NodeRow {
  NodeId node;
  FixedText<40> name;
  FixedText<24> machine = {}, pool = {};
  uint32_t leaf = 0;
  uint32_t gpus = 0;
  uint32_t failures = 0;
  Duration downtime;
  double gpu_s_allocated = 0;

  static void columns(auto&& c) {
    c("node", &NodeRow::node, "the node");
    c("name", &NodeRow::name, "its name");
    c("machine", &NodeRow::machine, "name of its machine type");
    c("pool", &NodeRow::pool, "name of its pool");
    c("leaf", &NodeRow::leaf,
      "number of its leaf group, the nodes that share leaf switches (see nodes_per_leaf and "
      "network.fabric.file); names such as leaf-3 in /links number single switches, not groups");
    c("gpus", &NodeRow::gpus, "number of its GPUs", "GPU");
    c("failures", &NodeRow::failures,
      "how often it failed while it was up; other reasons to be down do not count");
    c("downtime", &NodeRow::downtime,
      "how long it was down for any reason, for example failed, booting or not joined yet");
    c("allocated_gpu_s", &NodeRow::gpu_s_allocated, "GPU time allocated to pods", "GPU s");
  }
};

struct NodeNames {
  std::vector<std::string> machines;  // indexed by ClusterState::machine()
  std::vector<std::string> pools;
  std::vector<uint16_t> pool_of;  // index into `pools` of each node; empty: no pools
};

class NodeUsage {
 public:
  NodeUsage(Sim sim, const ClusterState& cluster, NodeNames names);

  void connect(GpuUsage& usage, NodeNews& nodes);
  void allocation_changed(NodeId node, int64_t gpu_milli);
  void node_down(NodeId node, NodeReason why);
  void node_up(NodeId node);
  void finish(Time end);  // writes the rows of /nodes

  double allocated_gpu_s(NodeId node, Time now) const;
  Duration downtime(NodeId node, Time now) const;
  uint32_t failures(NodeId node) const { return uses_[node.index].failures; }

 private:
  struct Use {
    int128_t allocated = 0;  // milli-GPUs times nanoseconds
    int64_t milli = 0;
    Time since;  // when `milli` last changed
    Time down_since = Time{-1};
    Duration downtime;
    uint32_t failures = 0;
  };
  Sim sim_;
  const ClusterState& cluster_;
  NodeNames names_;
  std::vector<Use> uses_;
  Channel<NodeRow> rows_;
};

}  // namespace orrery
