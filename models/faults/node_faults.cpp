#include "models/faults/node_faults.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

uint64_t stream_index(uint32_t source, NodeId node) { return uint64_t{source} << 32U | node.index; }

}  // namespace

NodeFaults::NodeFaults(Sim sim, const ClusterState& cluster, NodePresence& presence, PodNews& pods,
                       const JobTable& jobs, const FaultParams& params)
    : sim_{sim},
      cluster_{cluster},
      presence_{presence},
      params_{params},
      broken_until_(cluster.nodes()),
      rows_{sim.recorder, "/events/faults",
            "Faults of nodes: one row per fault, in order of repair."} {
  for (uint32_t s = 0; s < params_.nodes.size(); ++s) {
    if (params_.nodes[s].rate == 0) continue;
    selected_nodes(cluster, params_.nodes[s].node_selector).for_each([&](NodeId node) {
      processes_.push_back({.kind = FaultKind::Random,
                            .rng = sim.rng.stream("faults.node", stream_index(s, node)),
                            .source = s,
                            .node = node});
    });
  }
  for (size_t i = 0; i < params_.list.size(); ++i) {
    const NodeId node = find_node(cluster, params_.list[i].node);
    ORRERY_CHECK(node.is_valid(), "FaultParams::check refuses unknown nodes");
    processes_.push_back(
        {.kind = FaultKind::Listed, .source = static_cast<uint32_t>(i), .node = node});
  }
  if (params_.chaos) {
    killer_.emplace(sim.engine, *params_.chaos, static_cast<uint32_t>(cluster.nodes()),
                    sim.rng.stream("faults.chaos"));
    killer_->killed.connect([this](NodeId node) {
      strike({.kind = FaultKind::Chaos, .node = node, .length = params_.chaos->downtime});
    });
  }
  pods.pod_removed.connect([this, &jobs](PodId pod) {
    if (!is_striking_) return;
    hits_.push_back({jobs.pod(pod).job, jobs.request(pod).resources[Resource::Gpu]});
  });
}

void NodeFaults::start() {
  for (uint32_t i = 0; i < processes_.size(); ++i) wait_for_failure(i);
  for (uint32_t i = 0; i < replays_.size(); ++i) wait_for_outage(i);
  if (killer_) killer_->start();
}

void NodeFaults::wait_for_failure(uint32_t process) {
  Process& p = processes_[process];
  const Time when = p.kind == FaultKind::Listed
                        ? Time{} + params_.list[p.source].at
                        : sim_.engine.now() + params_.nodes[p.source].draw_time_to_failure(p.rng);
  if (when == Time::max()) return;  // the fault lies beyond the range of Time
  sim_.engine.at(
      when, Label{"faults.node_failed"}, [this, process] { fail(process); }, Phase::Fault);
}

std::vector<std::string> NodeFaults::replay(FailureLog log, const FailureLogParams& params) {
  const auto index = static_cast<uint32_t>(replays_.size());
  Replay replay{.log = std::move(log),
                .repair = params.repair,
                .rng = sim_.rng.stream("faults.log.repair", index),
                .nodes = {},
                .repeats = params.repeat};
  selected_nodes(cluster_, params.node_selector).for_each([&](NodeId node) {
    replay.nodes.push_back(node);
  });
  if (params.nodes == LogNodes::Shuffled) {
    Rng order = sim_.rng.stream("faults.log.nodes", index);
    for (size_t i = replay.nodes.size(); i > 1; --i) {
      std::swap(replay.nodes[i - 1], replay.nodes[order.below(i)]);
    }
  }
  std::vector<std::string> notes;
  for (const TraceNote& note : replay.log.notes) {
    notes.push_back(params.file + ": " + std::to_string(note.rows) + " rows " + note.what);
  }
  const size_t logged = replay.log.nodes.size();
  const size_t ours = replay.nodes.size();
  if (logged > ours || (logged < ours && !replay.repeats)) {
    notes.push_back(params.file + ": " + std::to_string(logged) +
                    " nodes in the log are replayed on " + std::to_string(ours) +
                    (logged > ours ? ": failures of the others are left out"
                                   : ": the other nodes have no failures from this log"));
  }
  replays_.push_back(std::move(replay));
  return notes;
}

void NodeFaults::wait_for_outage(uint32_t replay) {
  const Replay& r = replays_[replay];
  if (r.next == r.log.outages.size()) return;
  sim_.engine.at(
      r.log.outages[r.next].start, Label{"faults.log_outage"},
      [this, replay] { play_outages(replay); }, Phase::Fault);
}

void NodeFaults::play_outages(uint32_t replay) {
  Replay& r = replays_[replay];
  for (; r.next < r.log.outages.size(); ++r.next) {
    const Outage& outage = r.log.outages[r.next];
    if (outage.start > sim_.engine.now()) break;
    const size_t step = r.repeats ? r.log.nodes.size() : r.nodes.size();
    for (size_t i = outage.node; i < r.nodes.size(); i += step) {
      strike({.kind = FaultKind::Logged,
              .source = replay,
              .node = r.nodes[i],
              .length = outage.length,
              .cause = outage.cause});
    }
  }
  wait_for_outage(replay);
}

void NodeFaults::strike(const Process& process) {
  auto at = static_cast<uint32_t>(processes_.size());
  if (free_.empty()) {
    processes_.push_back(process);
  } else {
    at = free_.back();
    free_.pop_back();
    processes_[at] = process;
  }
  fail(at);
}

std::string_view NodeFaults::cause_of(const Process& p) const {
  switch (p.kind) {
    case FaultKind::Random:
      return params_.nodes[p.source].name;
    case FaultKind::Listed:
      return "list";
    case FaultKind::Chaos:
      return "chaos";
    case FaultKind::Logged:
      break;
  }
  return replays_[p.source].log.causes[p.cause];
}

Duration NodeFaults::repair_time(Process& p) {
  if (p.kind == FaultKind::Random) return params_.nodes[p.source].draw_repair(p.rng);
  if (p.kind == FaultKind::Listed) return params_.list[p.source].repair;
  if (p.length != Outage::kUnknown) return p.length;
  Replay& r = replays_[p.source];
  return std::visit([&](const auto& d) { return d.draw(r.rng); }, r.repair);
}

void NodeFaults::fail(uint32_t process) {
  Process& p = processes_[process];
  p.is_failed = true;
  p.failed_at = sim_.engine.now();
  p.jobs_hit = 0;
  p.gpu_milli_hit = 0;
  ++counters_.faults;
  const Time repaired = sim_.engine.now() + repair_time(p);
  if (repaired != Time::max()) {
    sim_.engine.at(
        repaired, Label{"faults.node_repaired"}, [this, process] { repair(process); },
        Phase::Fault);
  }
  broken_until_[p.node] = std::max(broken_until_[p.node], repaired);
  if (presence_.is_up(p.node)) return take_down(p);
  ORRERY_MARK("faults.node_was_down_already");
  presence_.add(p.node, NodeReason::Broken);
}

void NodeFaults::take_down(Process& p) {
  ++counters_.nodes_failed;
  hits_.clear();
  is_striking_ = true;
  presence_.add(p.node, NodeReason::Broken);
  is_striking_ = false;
  for (const Hit& hit : hits_) p.gpu_milli_hit += hit.gpu_milli;
  std::ranges::sort(hits_, {}, &Hit::job);
  const auto is_same_job = [](const Hit& a, const Hit& b) { return a.job == b.job; };
  const auto end = std::unique(hits_.begin(), hits_.end(), is_same_job);
  p.jobs_hit = static_cast<int32_t>(end - hits_.begin());
}

void NodeFaults::repair(uint32_t process) {
  Process& p = processes_[process];
  p.is_failed = false;
  write_row(p, sim_.engine.now());
  const FaultKind kind = p.kind;
  const NodeId node = p.node;
  if (sim_.engine.now() >= broken_until_[node]) presence_.remove(node, NodeReason::Broken);
  if (kind == FaultKind::Random) wait_for_failure(process);
  if (kind == FaultKind::Logged || kind == FaultKind::Chaos) free_.push_back(process);
}

void NodeFaults::write_row(const Process& p, Time repaired_at) {
  rows_.emit({.node = p.node,
              .at = p.failed_at,
              .kind = p.kind,
              .cause = cause_of(p),
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
