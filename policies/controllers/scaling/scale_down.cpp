#include "policies/controllers/scaling/scale_down.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "policies/controllers/scaling/move_simulation.hpp"

namespace orrery {
namespace {

constexpr Duration kDrainPoll = 5_s;  // upstream's interval of checks whether pods are gone

bool is_recent(Time then, Duration delay, Time now) { return then >= Time{} && now - then < delay; }

// The number of nodes that each pool may lose.
std::vector<uint32_t> nodes_to_spare(const ControlBoard& board) {
  std::vector<uint32_t> spare;
  for (const PoolView& pool : board.pools()) {
    spare.push_back(pool.size - std::min(pool.size, pool.size_min));
  }
  return spare;
}

}  // namespace

// ---- state of a node

bool ScaleDown::has_pods(const ControlBoard& board, NodeId node) const {
  const Placements& placements = board.placements();
  const std::optional<int32_t> lowest = placements.lowest_priority_on(node);
  if (!lowest || *lowest >= params_.expendable_below) return lowest.has_value();
  return std::ranges::any_of(placements.on_node(node), [&](PodId pod) {
    return placements.of(pod).priority >= params_.expendable_below;
  });
}

// The utilization of a node, as upstream computes it: the requested share of its GPUs or, without
// GPUs, the larger of the requested shares of CPU and memory.
double ScaleDown::use(const ControlBoard& board, NodeId node) const {
  const ClusterState& cluster = board.cluster();
  Resources taken;
  for (const PodId pod : board.placements().on_node(node)) {
    const Placed& at = board.placements().of(pod);
    if (at.priority < params_.expendable_below) continue;
    const Resources& each = board.specs().request(at.spec).resources;
    for (const Resource r : {Resource::Gpu, Resource::Cpu, Resource::Memory}) taken[r] += each[r];
  }
  const auto share = [&](Resource r) {
    const int64_t has = cluster.allocatable(node, r);
    return has == 0 ? 0.0 : static_cast<double>(taken[r]) / static_cast<double>(has);
  };
  if (cluster.allocatable(node, Resource::Gpu) > 0) return share(Resource::Gpu);
  return std::max(share(Resource::Cpu), share(Resource::Memory));
}

void ScaleDown::update(const ControlBoard& board, NodeId node) {
  const bool is_member = board.pool_state(node) == PoolNodeState::Member;
  const bool is_idle = is_member && !has_pods(board, node);
  const bool is_low =
      is_member && !is_idle && use(board, node) < params_.scale_down.utilization_threshold;
  idle_.assign(node, is_idle);
  low_.assign(node, is_low);
  if (!is_member) nodes_[node] = {};
  if (!is_idle && !is_low) nodes_[node].unneeded = Time{-1};
}

// Updates `idle_` and `low_` for the nodes that changed since the last call.
// ClusterState::touched_since() does not list a dead node that leaves its pool. So nodes in these
// two sets that are no longer members of a pool are updated, too.
void ScaleDown::refresh(const ControlBoard& board) {
  const ClusterState& cluster = board.cluster();
  if (has_looked_ && cluster.log_covers(version_)) {
    for (const NodeId node : cluster.touched_since(version_)) update(board, node);
  } else {
    for (const PoolView& pool : board.pools()) {
      for (const NodeId node : pool.nodes) update(board, node);
    }
  }
  version_ = cluster.version();
  has_looked_ = true;
  const auto is_gone = [&](NodeId node) { return board.pool_state(node) != PoolNodeState::Member; };
  NodeSet looked_at = idle_;
  looked_at |= low_;
  looked_at.for_each([&](NodeId node) {
    if (is_gone(node)) update(board, node);
  });
}

// ---- unneeded nodes

void ScaleDown::look(const ControlBoard& board) {
  refresh(board);
  look_at_idle(board);
  look_at_low(board);
}

void ScaleDown::look_at_idle(const ControlBoard& board) {
  idle_.for_each([&](NodeId node) {
    Node& n = nodes_[node];
    const bool is_ready = board.is_ready(node);
    if (n.unneeded >= Time{} && n.was_ready == is_ready) return;
    n.unneeded = board.now();
    n.was_ready = is_ready;
  });
}

// Nodes of low use to examine, at most candidates_max. A node of low use that is not examined
// counts as needed. So the nodes that are already unneeded come first: otherwise they would lose
// this state. Nodes that are not ready are left out. Once their pods are deleted, these nodes are
// idle, and look_at_idle() handles them.
std::vector<NodeId> ScaleDown::candidates(const ControlBoard& board) const {
  const std::vector<uint32_t> spare = nodes_to_spare(board);
  std::vector<std::pair<Time, NodeId>> sorted;
  low_.for_each([&](NodeId node) {
    const Node& n = nodes_[node];
    if (n.next_look > board.now() || !board.is_ready(node)) return;
    if (spare[board.pool_of(node)] == 0 || board.is_draining(node)) return;
    sorted.emplace_back(n.unneeded >= Time{} ? n.unneeded : Time::max(), node);
  });
  std::ranges::sort(sorted);
  const auto most = static_cast<size_t>(params_.scale_down.candidates_max);
  if (sorted.size() > most) sorted.resize(most);
  std::vector<NodeId> nodes;
  for (const auto& [since, node] : sorted) nodes.push_back(node);
  return nodes;
}

void ScaleDown::look_at_low(const ControlBoard& board) {
  const std::vector<NodeId> looked_at = candidates(board);
  NodeSet unneeded{board.cluster().nodes()};
  if (!looked_at.empty()) {
    MoveSimulation simulation{board, params_};
    const std::vector<uint32_t> spare = nodes_to_spare(board);
    idle_.for_each([&](NodeId node) {
      if (spare[board.pool_of(node)] > 0) simulation.leaves(node);
    });
    for (const NodeId node : looked_at) {
      const bool can_move = simulation.clear(node).empty();
      unneeded.assign(node, can_move);
      if (!can_move) nodes_[node].next_look = board.now() + params_.scale_down.recheck_after;
    }
  }
  low_.for_each([&](NodeId node) {
    Node& n = nodes_[node];
    if (!unneeded.contains(node)) {
      n.unneeded = Time{-1};
    } else if (n.unneeded < Time{}) {
      n.unneeded = board.now();
    }
    n.was_ready = true;
  });
}

// ---- removals

bool ScaleDown::is_cooling_down(Time now) const {
  const ScaleDownParams& down = params_.scale_down;
  return is_recent(scaled_up_, down.delay_after_add, now) ||
         is_recent(taken_away_, down.delay_after_delete, now) ||
         is_recent(failed_, down.delay_after_failure, now);
}

bool ScaleDown::is_draining(NodeId node) const {
  return std::ranges::find(draining_, node, &Draining::node) != draining_.end();
}

// Nodes that were unneeded for long enough, the longest unneeded first.
std::vector<NodeId> ScaleDown::due(const ControlBoard& board, const NodeSet& among) const {
  std::vector<std::pair<Time, NodeId>> sorted;
  among.for_each([&](NodeId node) {
    const Node& n = nodes_[node];
    const ScaleDownParams& down = params_.scale_down;
    const Duration limit = n.was_ready ? down.unneeded_time : down.unready_time;
    const bool is_due = n.unneeded >= Time{} && board.now() - n.unneeded >= limit;
    if (is_due && !is_draining(node)) sorted.emplace_back(n.unneeded, node);
  });
  std::ranges::sort(sorted);
  std::vector<NodeId> nodes;
  for (const auto& [since, node] : sorted) nodes.push_back(node);
  return nodes;
}

ScaleDown::Plan ScaleDown::plan(const ControlBoard& board) const {
  const ScaleDownParams& down = params_.scale_down;
  Plan plan;
  if (is_cooling_down(board.now())) return plan;
  std::vector<uint32_t> spare = nodes_to_spare(board);
  for (const Draining& d : draining_) {
    uint32_t& left = spare[board.pool_of(d.node)];
    left -= std::min(left, 1U);
  }
  const auto take = [&](const NodeSet& among, size_t most, std::vector<NodeId>& into) {
    for (const NodeId node : due(board, among)) {
      if (into.size() >= most) return;
      uint32_t& left = spare[board.pool_of(node)];
      if (left == 0) continue;
      --left;
      into.push_back(node);
    }
  };
  const size_t parallel = static_cast<size_t>(down.parallel), under_way = draining_.size();
  const size_t drains = static_cast<size_t>(down.drain_parallel);
  take(idle_, parallel - std::min(under_way, parallel), plan.empty);
  const size_t both = plan.empty.size() + under_way;
  const size_t left = parallel - std::min(both, parallel);
  take(low_, std::min(left, drains - std::min(under_way, drains)), plan.drained);
  return plan;
}

void ScaleDown::remove(const ControlBoard& board, const std::vector<NodeId>& nodes, const char* why,
                       Actions& actions) {
  for (uint32_t pool = 0; pool < board.pools().size(); ++pool) {
    RemoveNodes remove{.pool = pool, .nodes = {}, .lost_below = params_.expendable_below};
    for (const NodeId node : nodes) {
      if (board.pool_of(node) == pool) remove.nodes.push_back(node);
    }
    if (remove.nodes.empty()) continue;
    taken_away_ = board.now();
    actions.give(std::move(remove), why);
  }
}

void ScaleDown::act(const ControlBoard& board, const Plan& plan, Actions& actions) {
  refresh(board);
  std::vector<NodeId> empty = plan.empty;
  std::erase_if(empty, [&](NodeId node) { return !idle_.contains(node); });
  remove(board, empty, "idle", actions);
  const ScaleDownParams& down = params_.scale_down;
  for (const NodeId node : plan.drained) {
    if (!low_.contains(node) || board.is_draining(node)) continue;
    draining_.push_back({node});
    actions.give(DrainNode{.node = node,
                           .deadline = down.eviction_time + down.termination_max,
                           .evict_for = down.eviction_time},
                 "its pods fit on other nodes");
  }
  if (!draining_.empty()) actions.wake_at(board.now() + kDrainPoll);
}

void ScaleDown::follow_drains(const ControlBoard& board, Actions& actions) {
  std::erase_if(draining_, [&](Draining& d) {
    if (board.is_draining(d.node)) return false;
    if (!has_pods(board, d.node)) {
      ++counters_.drained;
      nodes_[d.node].unneeded = Time{-1};
      remove(board, {d.node}, "drained", actions);
      return true;
    }
    if (!std::exchange(d.has_ended, true)) return false;
    ++counters_.failed;
    failed_ = board.now();
    nodes_[d.node].unneeded = Time{-1};
    nodes_[d.node].next_look = board.now() + params_.scale_down.recheck_after;
    actions.give(UncordonNode{d.node}, "its pods did not leave");
    return true;
  });
  if (!draining_.empty()) actions.wake_at(board.now() + kDrainPoll);
}

}  // namespace orrery
