#include "models/control_plane/autoscaling/node_groups.hpp"

#include <algorithm>
#include <utility>

#include "models/control_plane/base/backoff.hpp"
#include "sim/core/check.hpp"

namespace orrery {

NodeGroups::NodeGroups(const Context& context, const NodeGroupsParams& params,
                       std::vector<Group> groups)
    : sim_{context.sim},
      placements_{context.placements},
      lifecycle_{context.lifecycle},
      presence_{context.presence},
      params_{params},
      nodes_{context.cluster.nodes()},
      rows_{sim_.recorder, "/events/scaling", "Changes of the sizes of pools, in order of time."},
      samples_{sim_.recorder, "/timeline/autoscaler", "Pools that the autoscaler scales."} {
  for (Group& group : groups) {
    const auto index = static_cast<uint32_t>(groups_.size());
    groups_.push_back(
        {.group = std::move(group), .rng = sim_.rng.stream("control_plane.autoscaler", index)});
  }
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    const Group& group = groups_[g].group;
    const auto all = static_cast<uint32_t>(group.nodes.size());
    const auto at_start = std::min(static_cast<uint32_t>(group.params.at_start()), all);
    for (uint32_t i = 0; i < all; ++i) {
      nodes_[group.nodes[i]] = {
          .state = i < at_start ? PoolNodeState::Member : PoolNodeState::Absent, .group = g};
    }
    views_.push_back({.name = group.params.pool,
                      .nodes = group.nodes,
                      .size = at_start,
                      .size_min = static_cast<uint32_t>(group.params.nodes_min),
                      .size_max = static_cast<uint32_t>(
                          group.params.nodes_max.value_or(static_cast<int32_t>(all))),
                      .unregistered = all - at_start});
  }
}

void NodeGroups::connect(NodeNews& nodes) {
  nodes.node_registered.connect(*this, &NodeGroups::node_registered);
  nodes.node_up.connect(*this, &NodeGroups::node_ready);
}

// ---- adding nodes

std::string NodeGroups::why_not_asked_for(const AddNodes& action) const {
  if (action.pool >= groups_.size()) return "there is no such pool";
  const PoolView& view = views_[action.pool];
  for (const NodeId node : action.nodes) {
    const Node& n = nodes_[node];
    if (n.state == PoolNodeState::Foreign || n.group != action.pool) {
      return "node " + std::to_string(node.index) + " is not of the pool";
    }
    if (n.state != PoolNodeState::Absent) {
      return "node " + std::to_string(node.index) + " is there or on its way";
    }
  }
  std::vector<NodeId> sorted = action.nodes;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return "a node is named twice";
  if (view.size + action.nodes.size() > view.size_max) {
    return "the pool may have at most " + std::to_string(view.size_max) + " nodes";
  }
  if (view.backs_off_until > now()) return "the pool backs off, as nodes did not come";
  return action.nodes.empty() ? "no node is named" : "";
}

std::string NodeGroups::add(const AddNodes& action, Came came) {
  std::string why_not = why_not_asked_for(action);
  if (!why_not.empty()) return why_not;
  const uint64_t request = ++last_request_;
  const auto nodes = static_cast<uint32_t>(action.nodes.size());
  const EventId late = sim_.engine.after(
      params_.provision_time_max, Label{"autoscaler.gave_up"},
      [this, request] { give_up(request); }, Phase::Fault);
  requests_[request] = {.group = action.pool,
                        .nodes = action.nodes,
                        .left = nodes,
                        .came = std::move(came),
                        .late = late};
  for (const NodeId node : action.nodes) provision(node, request);
  PoolView& view = views_[action.pool];
  view.size += nodes;
  view.asked += nodes;
  ++counters_.scale_ups;
  counters_.asked += nodes;
  rows_.emit({.time = now(),
              .pool = view.name,
              .kind = ScalingKind::Up,
              .nodes = nodes,
              .size = view.size,
              .pods = action.pods,
              .waited_mean = action.waited_mean,
              .waited_max = action.waited_max});
  return {};
}

void NodeGroups::provision(NodeId node, uint64_t request) {
  Node& n = nodes_[node];
  Scaled& scaled = groups_[n.group];
  n.state = PoolNodeState::Asked;
  n.request = request;
  n.provisioned = sim_.engine.after(
      draw(scaled.group.params.provisioning_time(), scaled.rng), Label{"autoscaler.provisioned"},
      [this, node] { presence_.remove(node, NodeReason::Absent); }, Phase::Fault);
}

void NodeGroups::node_registered(NodeId node) {
  Node& n = nodes_[node];
  if (n.state != PoolNodeState::Asked) return;
  n.state = PoolNodeState::Joined;
  --views_[n.group].unregistered;
  groups_[n.group].backoff = {};
}

void NodeGroups::node_ready(NodeId node) {
  Node& n = nodes_[node];
  if (n.state != PoolNodeState::Joined) return;
  n.state = PoolNodeState::Member;
  --views_[n.group].asked;
  settle(n.request, 1, 0);
}

void NodeGroups::settle(uint64_t number, uint32_t nodes, uint32_t given_up) {
  Request& request = requests_.at(number);
  request.left -= nodes;
  request.given_up += given_up;
  if (request.left > 0) return;
  const Came came = std::move(request.came);
  const uint32_t lost = request.given_up;
  sim_.engine.cancel(request.late);
  requests_.erase(number);
  came(lost);
}

// Gives up the nodes of a request that have not registered yet.
void NodeGroups::give_up(uint64_t request) {
  const uint32_t group = requests_.at(request).group;
  uint32_t late = 0;
  for (const NodeId node : requests_.at(request).nodes) {
    const Node& n = nodes_[node];
    if (n.state != PoolNodeState::Asked || n.request != request) continue;
    leave(node);
    ++late;
  }
  if (late == 0) return;
  ORRERY_MARK("autoscaler.gave_up_nodes");
  Scaled& scaled = groups_[group];
  scaled.backoff = Backoff{params_.backoff, params_.backoff_max}.next(scaled.backoff);
  views_[group].backs_off_until = now() + scaled.backoff;
  counters_.timed_out += late;
  emit_removed(ScalingKind::TimedOut, group, late, views_[group].size);
  settle(request, late, late);
}

// ---- removing nodes

std::string NodeGroups::why_not_removed(const RemoveNodes& action, NodeId node) const {
  const Node& n = nodes_[node];
  const PoolView& view = views_[action.pool];
  const auto holds = [&](PodId pod) { return placements_.of(pod).priority >= action.lost_below; };
  if (n.state == PoolNodeState::Foreign || n.group != action.pool) return "is not of the pool";
  if (n.state == PoolNodeState::Absent) return "is not there";
  if (n.state != PoolNodeState::Member) return "is on its way";
  if (view.size <= view.size_min) {
    return "stays: the pool keeps " + std::to_string(view.size_min) + " nodes";
  }
  return std::ranges::any_of(placements_.on_node(node), holds) ? "has pods" : "";
}

NodeGroups::Removed NodeGroups::remove(const RemoveNodes& action) {
  if (action.pool >= groups_.size()) return {{}, "there is no such pool"};
  Removed removed;
  uint32_t ready = 0;
  for (const NodeId node : action.nodes) {
    const std::string why_not = why_not_removed(action, node);
    if (why_not.empty()) {
      ready += lifecycle_.is_ready(node) ? 1 : 0;
      removed.nodes.push_back(node);
      leave(node);
    } else if (removed.why_not_all.empty()) {
      removed.why_not_all = "node " + std::to_string(node.index) + " " + why_not;
    }
  }
  const auto nodes = static_cast<uint32_t>(removed.nodes.size());
  counters_.taken_away += nodes;
  const uint32_t size = views_[action.pool].size, unready = nodes - ready;
  if (ready > 0) emit_removed(ScalingKind::Down, action.pool, ready, size + unready);
  if (unready > 0) emit_removed(ScalingKind::DownUnready, action.pool, unready, size);
  return removed;
}

void NodeGroups::leave(NodeId node) {
  Node& n = nodes_[node];
  PoolView& view = views_[n.group];
  const PoolNodeState before = std::exchange(n.state, PoolNodeState::Absent);
  const bool has_come = before != PoolNodeState::Asked || !sim_.engine.is_pending(n.provisioned);
  sim_.engine.cancel(n.provisioned);
  --view.size;
  if (before == PoolNodeState::Asked) --view.asked;
  if (before == PoolNodeState::Member) ++view.unregistered;
  if (has_come) presence_.add(node, NodeReason::Absent);
}

void NodeGroups::emit_removed(ScalingKind kind, uint32_t group, uint32_t nodes, uint32_t size) {
  rows_.emit(
      {.time = now(), .pool = views_[group].name, .kind = kind, .nodes = nodes, .size = size});
}

// ---- state and tables

bool NodeGroups::is_adding(bool pods_wait) const {
  for (uint32_t g = 0; g < groups_.size(); ++g) {
    const Duration backoff = groups_[g].backoff;
    const bool never_come = backoff > Duration{} && backoff >= params_.backoff_max;
    const bool will_ask = views_[g].backs_off_until > now() && pods_wait;
    if (!never_come && (views_[g].asked > 0 || will_ask)) return true;
  }
  return false;
}

void NodeGroups::sample(Time now) {
  for (const PoolView& view : views_) {
    const auto is_idle = [&](NodeId node) {
      return nodes_[node].state == PoolNodeState::Member && !placements_.lowest_priority_on(node);
    };
    samples_.emit({.time = now,
                   .pool = view.name,
                   .size = view.size,
                   .asked = view.asked,
                   .idle = static_cast<uint32_t>(std::ranges::count_if(view.nodes, is_idle)),
                   .backs_off = view.backs_off_until > now});
  }
}

void NodeGroups::add_summary(Recorder& recorder) const {
  const auto count = [&](std::string_view name, uint64_t n, std::string_view unit,
                         std::string_view doc) {
    recorder.add_summary(name, static_cast<int64_t>(n), unit, doc);
  };
  count("scale_ups", counters_.scale_ups, "", "times that the autoscaler requested nodes");
  count("nodes_asked", counters_.asked, "nodes", "nodes that the autoscaler requested");
  count("nodes_taken_away", counters_.taken_away, "nodes",
        "nodes that the autoscaler removed, drained nodes included");
  count("nodes_timed_out", counters_.timed_out, "nodes",
        "requested nodes that were given up, because they had not registered in time");
}

}  // namespace orrery
