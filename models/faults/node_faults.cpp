#include "models/faults/node_faults.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

uint64_t stream_index(uint32_t source, NodeId node) { return uint64_t{source} << 32U | node.index; }

}  // namespace

NodeFaults::NodeFaults(Sim sim, ClusterState& cluster, JobController& jobs, const JobTable& table,
                       const FaultParams& params)
    : sim_{sim},
      cluster_{cluster},
      jobs_{jobs},
      params_{params},
      awaiting_repair_(cluster.nodes()),
      rows_{sim.recorder, "/events/faults", "Faults of nodes: one row each, in order of repair."} {
  for (uint32_t s = 0; s < params_.nodes.size(); ++s) {
    if (params_.nodes[s].rate == 0) continue;
    selected_nodes(cluster, params_.nodes[s].node_selector).for_each([&](NodeId node) {
      processes_.push_back(
          {.rng = sim.rng.stream("faults.node", stream_index(s, node)), .source = s, .node = node});
    });
  }
  for (size_t i = 0; i < params_.list.size(); ++i) {
    const NodeId node = find_node(cluster, params_.list[i].node);
    ORRERY_CHECK(node.is_valid(), "FaultParams::check refuses unknown nodes");
    const auto source = static_cast<uint32_t>(params_.nodes.size() + i);
    processes_.push_back({.source = source, .node = node});
  }
  jobs.pod_removed.connect([this, &table](PodId pod) {
    if (!is_striking_) return;
    hits_.push_back({table.pod(pod).job, table.request(pod).resources[Resource::Gpu]});
  });
}

void NodeFaults::start() {
  for (uint32_t i = 0; i < processes_.size(); ++i) wait_for_failure(i);
}

void NodeFaults::wait_for_failure(uint32_t process) {
  Process& p = processes_[process];
  const Time when = is_listed(p)
                        ? Time{} + listed(p).at
                        : sim_.engine.now() + params_.nodes[p.source].draw_time_to_failure(p.rng);
  if (when == Time::max()) return;  // not in three centuries
  sim_.engine.at(
      when, Label{"faults.node_failed"}, [this, process] { fail(process); }, Phase::Fault);
}

void NodeFaults::fail(uint32_t process) {
  Process& p = processes_[process];
  p.is_failed = true;
  p.failed_at = sim_.engine.now();
  p.jobs_hit = 0;
  p.gpu_milli_hit = 0;
  ++counters_.faults;
  const Duration repair_time =
      is_listed(p) ? listed(p).repair : params_.nodes[p.source].draw_repair(p.rng);
  const Time repaired = sim_.engine.now() + repair_time;
  if (repaired != Time::max()) {
    sim_.engine.at(
        repaired, Label{"faults.node_repaired"}, [this, process] { repair(process); },
        Phase::Fault);
  }
  if (awaiting_repair_[p.node.index]++ == 0) {
    take_down(p);
  } else {
    ORRERY_MARK("faults.node_was_down_already");
  }
}

void NodeFaults::take_down(Process& p) {
  cluster_.set_up(p.node, false);
  ++nodes_down_;
  ++counters_.nodes_failed;
  hits_.clear();
  is_striking_ = true;
  jobs_.node_failed(p.node);
  is_striking_ = false;
  for (const Hit& hit : hits_) p.gpu_milli_hit += hit.gpu_milli;
  std::ranges::sort(hits_, {}, &Hit::job);
  const auto is_same_job = [](const Hit& a, const Hit& b) { return a.job == b.job; };
  const auto end = std::unique(hits_.begin(), hits_.end(), is_same_job);
  p.jobs_hit = static_cast<int32_t>(end - hits_.begin());
  node_down.emit(p.node);
}

void NodeFaults::repair(uint32_t process) {
  Process& p = processes_[process];
  p.is_failed = false;
  write_row(p, sim_.engine.now());
  if (--awaiting_repair_[p.node.index] == 0) {
    cluster_.set_up(p.node, true);
    --nodes_down_;
    ++counters_.nodes_back;
    node_up.emit(p.node);
  }
  if (!is_listed(p)) wait_for_failure(process);
}

void NodeFaults::write_row(const Process& p, Time repaired_at) {
  rows_.emit({.node = p.node,
              .at = p.failed_at,
              .kind = is_listed(p) ? FaultKind::Listed : FaultKind::Random,
              .cause = is_listed(p) ? std::string_view{"list"}
                                    : std::string_view{params_.nodes[p.source].name},
              .repaired_at = repaired_at,
              .jobs_hit = p.jobs_hit,
              .gpus_hit = static_cast<double>(p.gpu_milli_hit) / kMilli});
}

void NodeFaults::finish() {
  for (const Process& p : processes_) {
    if (p.is_failed) write_row(p, Time{-1});
  }
}

}  // namespace orrery
