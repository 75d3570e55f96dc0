#include "models/control_plane/autoscaling/cluster_autoscaler.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "models/control_plane/base/backoff.hpp"
#include "sim/core/check.hpp"

namespace orrery {

ClusterAutoscaler::ClusterAutoscaler(Context context, const ClusterAutoscalerParams& params,
                                     std::vector<Group> groups)
    : sim_{context.sim},
      cluster_{context.cluster},
      jobs_{context.jobs},
      scheduler_{context.scheduler},
      lifecycle_{context.lifecycle},
      presence_{context.presence},
      params_{params},
      nodes_{context.cluster.nodes()},
      idle_{context.cluster.nodes()},
      rows_{sim_.recorder, "/events/scaling", "What the autoscaler did, in order."},
      samples_{sim_.recorder, "/timeline/autoscaler", "Pools that the autoscaler scales."} {
  for (Group& group : groups) {
    const auto at_start = static_cast<uint32_t>(group.params.at_start());
    const auto index = static_cast<uint32_t>(groups_.size());
    for (uint32_t i = 0; i < group.nodes.size(); ++i) {
      const bool is_there = i < at_start;
      Node& node = nodes_[group.nodes[i]];
      node.state = is_there ? State::Member : State::Absent;
      node.group = index;
      if (is_there) idle_.insert(group.nodes[i]);
      not_registered_ += is_there ? 0 : 1;
    }
    groups_.push_back({.group = std::move(group),
                       .rng = sim_.rng.stream("control_plane.autoscaler", index),
                       .size = at_start});
  }
}

void ClusterAutoscaler::start() {
  sim_.engine.after(
      params_.scan_interval, Label{"autoscaler.looked"}, [this] { loop(); }, Phase::Control);
}

// ---- news

void ClusterAutoscaler::connect(PodNews& pods, NodeNews& nodes) {
  pods.no_node_found.connect(*this, &ClusterAutoscaler::no_node_found);
  pods.pod_assigned.connect(*this, &ClusterAutoscaler::pod_assigned);
  pods.pod_unassigned.connect(*this, &ClusterAutoscaler::pod_unassigned);
  pods.pod_removed.connect(*this, &ClusterAutoscaler::pod_removed);
  nodes.node_registered.connect(*this, &ClusterAutoscaler::node_registered);
  nodes.node_up.connect(*this, &ClusterAutoscaler::node_ready);
}

bool ClusterAutoscaler::counts(PodId pod) const {
  return jobs_.spec(pod).priority >= params_.expendable_below;
}

void ClusterAutoscaler::pod_assigned(PodId pod, NodeId node) {
  if (!counts(pod)) return;
  Node& n = nodes_[node];
  n.unneeded = Time{-1};
  if (n.pods++ == 0) idle_.erase(node);
}

void ClusterAutoscaler::pod_unassigned(PodId pod, NodeId node) {
  if (!counts(pod)) return;
  Node& n = nodes_[node];
  if (--n.pods == 0 && n.state == State::Member) idle_.insert(node);
}

void ClusterAutoscaler::node_registered(NodeId node) {
  Node& n = nodes_[node];
  if (n.state != State::Asked) return;
  n.state = State::Joined;
  --not_registered_;
  groups_[n.group].backoff = {};
}

void ClusterAutoscaler::node_ready(NodeId node) {
  Node& n = nodes_[node];
  if (n.state != State::Joined) return;
  n.state = State::Member;
  --groups_[n.group].asked;
  if (n.pods == 0) idle_.insert(node);
}

// ---- one loop

int64_t ClusterAutoscaler::nodes_there() const {
  return static_cast<int64_t>(cluster_.nodes()) - not_registered_;
}

// It acts at the end of a loop on what it saw at the begin.
void ClusterAutoscaler::loop() {
  ++counters_.loops;
  const Time begin = now();
  const Duration length = params_.time_per_node * nodes_there();
  Plan plan{.begun = begin};
  if (may_delete_unready(lifecycle_.not_ready(), nodes_there(), params_.unready_guard)) {
    give_up_late();
    plan_up(plan);
    note_unneeded();
    if (plan.up.empty() && !plan.helps_pods) plan_down(plan);
  } else {
    ORRERY_MARK("autoscaler.halted");
    ++counters_.halted;
  }
  const auto next = [this, begin] {
    sim_.engine.at(
        std::max(begin + params_.scan_interval, now()), Label{"autoscaler.looked"},
        [this] { loop(); }, Phase::Control);
  };
  if (length == Duration{}) {
    act(plan);
    return next();
  }
  auto kept = std::make_unique<Plan>(std::move(plan));
  sim_.engine.after(
      length, Label{"autoscaler.acted"},
      [this, next, kept = std::move(kept)] {
        act(*kept);
        next();
      },
      Phase::Control);
}

void ClusterAutoscaler::act(const Plan& plan) {
  if (!plan.up.empty()) ask(plan);
  if (!plan.down.empty()) take_away(plan);
}

// Those that should have registered by now. Their group is left alone for a while.
void ClusterAutoscaler::give_up_late() {
  std::vector<NodeId> late;
  std::vector<uint32_t> by_group(groups_.size());
  for (const Scaled& scaled : groups_) {
    if (scaled.asked == 0) continue;
    for (const NodeId node : scaled.group.nodes) {
      const Node& n = nodes_[node];
      if (n.state != State::Asked || now() - n.asked < params_.provision_time_max) continue;
      late.push_back(node);
      ++by_group[n.group];
    }
  }
  for (const NodeId node : late) remove(node);
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    if (by_group[g] == 0) continue;
    ORRERY_MARK("autoscaler.gave_up_nodes");
    Scaled& scaled = groups_[g];
    scaled.backoff = Backoff{params_.backoff, params_.backoff_max}.next(scaled.backoff);
    scaled.backs_off_until = now() + scaled.backoff;
  }
  counters_.timed_out += late.size();
  emit_removed(ScalingKind::TimedOut, by_group);
}

void ClusterAutoscaler::ask(const Plan& plan) {
  const uint32_t group = nodes_[plan.up.front()].group;
  Scaled& scaled = groups_[group];
  const Duration passed = now() - plan.begun;
  const DurationDistribution provisioning = scaled.group.params.provisioning_time();
  for (const NodeId node : plan.up) {
    Node& n = nodes_[node];
    ORRERY_CHECK(n.state == State::Absent, "nobody else asks for nodes");
    n.state = State::Asked;
    n.asked = now();
    n.provisioned = sim_.engine.after(
        draw(provisioning, scaled.rng), Label{"autoscaler.provisioned"},
        [this, node] { presence_.remove(node, NodeReason::Absent); }, Phase::Fault);
  }
  const auto nodes = static_cast<uint32_t>(plan.up.size());
  scaled.size += nodes;
  scaled.asked += nodes;
  scaled_up_ = now();
  ++counters_.scale_ups;
  counters_.asked += nodes;
  rows_.emit({.time = now(),
              .pool = std::string_view{scaled.group.params.pool},
              .kind = ScalingKind::Up,
              .nodes = nodes,
              .size = scaled.size,
              .pods = plan.pods,
              .waited_mean = plan.waited_mean + passed,
              .waited_max = plan.waited_max + passed});
}

// Those to which pods came meanwhile stay.
void ClusterAutoscaler::take_away(const Plan& plan) {
  for (const bool is_ready : {true, false}) {
    std::vector<uint32_t> by_group(groups_.size());
    for (const NodeId node : plan.down) {
      if (!idle_.contains(node) || nodes_[node].was_ready != is_ready) continue;
      ++by_group[nodes_[node].group];
      ++counters_.taken_away;
      taken_away_ = now();
      remove(node);
    }
    emit_removed(is_ready ? ScalingKind::Down : ScalingKind::DownUnready, by_group);
  }
}

void ClusterAutoscaler::remove(NodeId node) {
  Node& n = nodes_[node];
  Scaled& scaled = groups_[n.group];
  const State before = std::exchange(n.state, State::Absent);
  const bool has_come = before != State::Asked || !sim_.engine.is_pending(n.provisioned);
  sim_.engine.cancel(n.provisioned);
  idle_.erase(node);
  n.unneeded = Time{-1};
  --scaled.size;
  if (before != State::Member) --scaled.asked;
  if (before != State::Asked) ++not_registered_;
  if (has_come) presence_.add(node, NodeReason::Absent);
}

void ClusterAutoscaler::emit_removed(ScalingKind kind, const std::vector<uint32_t>& by_group) {
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    if (by_group[g] == 0) continue;
    rows_.emit({.time = now(),
                .pool = std::string_view{groups_[g].group.params.pool},
                .kind = kind,
                .nodes = by_group[g],
                .size = groups_[g].size});
  }
}

// ---- what is told of it

bool ClusterAutoscaler::is_adding() const {
  return std::ranges::any_of(groups_, [this](const Scaled& s) {
    const bool never_come = s.backoff > Duration{} && s.backoff >= params_.backoff_max;
    return !never_come && (s.asked > 0 || (s.backs_off_until > now() && !waiting_.empty()));
  });
}

void ClusterAutoscaler::sample(Time now) {
  std::vector<uint32_t> idle(groups_.size());
  idle_.for_each([&](NodeId node) { ++idle[nodes_[node].group]; });
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    const Scaled& scaled = groups_[g];
    samples_.emit({.time = now,
                   .pool = std::string_view{scaled.group.params.pool},
                   .size = scaled.size,
                   .asked = scaled.asked,
                   .idle = idle[g],
                   .backs_off = scaled.backs_off_until > now});
  }
}

void ClusterAutoscaler::add_summary(Recorder& recorder) const {
  const auto count = [&](std::string_view name, uint64_t n, std::string_view unit,
                         std::string_view doc) {
    recorder.add_summary(name, static_cast<int64_t>(n), unit, doc);
  };
  count("scale_ups", counters_.scale_ups, "", "times the autoscaler asked for nodes");
  count("nodes_asked", counters_.asked, "nodes", "that it asked for");
  count("nodes_taken_away", counters_.taken_away, "nodes", "idle ones that it took away");
  count("nodes_timed_out", counters_.timed_out, "nodes", "that never registered");
  count("autoscaler_loops", counters_.loops, "", "of the autoscaler");
  count("autoscaler_halted", counters_.halted, "",
        "of these, with too many nodes not ready to do anything");
}

}  // namespace orrery
