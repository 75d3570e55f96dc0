#include "models/telemetry/node_usage.hpp"

namespace orrery {

NodeUsage::NodeUsage(Sim sim, const ClusterState& cluster, NodeNames names)
    : sim_{sim},
      cluster_{cluster},
      names_{std::move(names)},
      uses_(cluster.nodes()),
      rows_{sim.recorder, "/nodes",
            "Nodes: identity, failures, use; written at the end of the run."} {
  for (uint32_t n = 0; n < uses_.size(); ++n) {
    if (!cluster_.up().contains({n})) uses_[n].down_since = sim_.engine.now();
  }
}

void NodeUsage::connect(GpuUsage& usage, NodeNews& nodes) {
  usage.node_allocation_changed.connect(*this, &NodeUsage::allocation_changed);
  nodes.node_down.connect(*this, &NodeUsage::node_down);
  nodes.node_up.connect(*this, &NodeUsage::node_up);
}

void NodeUsage::allocation_changed(NodeId node, int64_t gpu_milli) {
  Use& use = uses_[node.index];
  const Time now = sim_.engine.now();
  use.allocated += static_cast<int128_t>(use.milli) * (now - use.since).ns;
  use.milli += gpu_milli;
  use.since = now;
}

void NodeUsage::node_down(NodeId node, NodeReason why) {
  uses_[node.index].down_since = sim_.engine.now();
  if (why == NodeReason::Broken) ++uses_[node.index].failures;
}

void NodeUsage::node_up(NodeId node) {
  Use& use = uses_[node.index];
  use.downtime += sim_.engine.now() - use.down_since;
  use.down_since = Time{-1};
}

double NodeUsage::allocated_gpu_s(NodeId node, Time now) const {
  const Use& use = uses_[node.index];
  const int128_t sum = use.allocated + static_cast<int128_t>(use.milli) * (now - use.since).ns;
  return static_cast<double>(sum) * 1e-12;
}

Duration NodeUsage::downtime(NodeId node, Time now) const {
  const Use& use = uses_[node.index];
  return use.downtime + (use.down_since >= Time{} ? now - use.down_since : Duration{});
}

void NodeUsage::finish(Time end) {
  for (uint32_t i = 0; i < uses_.size(); ++i) {
    const NodeId node{i};
    const uint16_t machine = cluster_.machine(node);
    NodeRow row{.node = node,
                .name = cluster_.name(node),
                .leaf = cluster_.leaf(node),
                .gpus = cluster_.gpus(node),
                .failures = uses_[i].failures,
                .downtime = downtime(node, end),
                .gpu_s_allocated = allocated_gpu_s(node, end)};
    if (machine < names_.machines.size()) row.machine = std::string_view{names_.machines[machine]};
    if (i < names_.pool_of.size()) row.pool = std::string_view{names_.pools[names_.pool_of[i]]};
    rows_.emit(row);
  }
}

}  // namespace orrery
