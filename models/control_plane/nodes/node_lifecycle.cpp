#include "models/control_plane/nodes/node_lifecycle.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

NodeLifecycle::NodeLifecycle(Engine& engine, const NodeLifecycleParams& params,
                             std::span<const uint32_t> zone_of_node)
    : engine_{engine}, params_{params} {
  for (const uint32_t zone : zone_of_node) {
    if (zone >= zones_.size()) zones_.resize(zone + size_t{1});
    ++zones_[zone].nodes;
    nodes_.push_back({.zone = zone});
  }
  for (Zone& zone : zones_) zone.rate = params_.taint_rate;
  registered_ = nodes_.size();
}

Time NodeLifecycle::look_after(Time t) const {
  return Time{} + params_.monitor_period * ((t - Time{}) / params_.monitor_period + 1);
}

void NodeLifecycle::plan_look(Time when) {
  if (when >= planned_look_) return;
  engine_.cancel(look_);
  planned_look_ = when;
  look_ = engine_.at(
      when, Label{"node_lifecycle.looked"}, [this] { look(); }, Phase::Control);
}

void NodeLifecycle::node_silent(NodeId id, Time last_heartbeat) {
  Node& node = nodes_[id];
  ORRERY_CHECK(node.is_registered, "a deleted node sends no heartbeats");
  node.is_alive_again = false;
  if (node.state != State::Alive) return;
  node.state = State::Silent;
  ++node.silence;
  const Time look = std::max(look_after(last_heartbeat + params_.grace), look_after(engine_.now()));
  deadlines_.push({look, id, node.silence});
  plan_look(look);
}

void NodeLifecycle::node_alive(NodeId id) {
  Node& node = nodes_[id];
  if (node.state == State::Silent) node.state = State::Alive;
  if (node.state != State::NotReady || node.is_alive_again) return;
  node.is_alive_again = true;
  alive_again_.push_back(id);
  plan_look(look_after(engine_.now()));
}

void NodeLifecycle::node_deleted(NodeId id) {
  Node& node = nodes_[id];
  ORRERY_CHECK(node.is_registered, "a node is deleted once");
  node.is_registered = false;
  node.is_alive_again = false;
  if (std::exchange(node.state, State::Alive) == State::NotReady) {
    --zones_[node.zone].not_ready;
    --not_ready_;
    lift_taint(id);
  }
  --zones_[node.zone].nodes;
  --registered_;
  plan_look(look_after(engine_.now()));
}

void NodeLifecycle::node_registered(NodeId id) {
  Node& node = nodes_[id];
  ORRERY_CHECK(!node.is_registered, "a node registers once");
  node.is_registered = true;
  ++zones_[node.zone].nodes;
  ++registered_;
  plan_look(look_after(engine_.now()));
}

void NodeLifecycle::restart_toleration(NodeId id) {
  const Node& node = nodes_[id];
  if (node.taint != Taint::Set || engine_.is_pending(node.eviction)) return;
  ORRERY_MARK("node_lifecycle.evicted_again");
  plan_eviction(id, params_.toleration);
}

void NodeLifecycle::look() {
  planned_look_ = Time::max();
  for (const NodeId id : std::exchange(alive_again_, {})) {
    if (nodes_[id].is_alive_again && nodes_[id].state == State::NotReady) mark_ready(id);
  }
  while (!deadlines_.empty() && deadlines_.top().look <= engine_.now()) {
    const Deadline due = deadlines_.top();
    deadlines_.pop();
    const Node& node = nodes_[due.node];
    if (node.state == State::Silent && node.silence == due.silence) mark_not_ready(due.node);
  }
  update_zones();
  if (!deadlines_.empty()) plan_look(deadlines_.top().look);
}

void NodeLifecycle::mark_not_ready(NodeId id) {
  Node& node = nodes_[id];
  node.state = State::NotReady;
  ++zones_[node.zone].not_ready;
  ++not_ready_;
  ++counters_.not_ready;
  if (!is_cut_off_) queue_taint(id);
  became_not_ready.emit(id);
}

void NodeLifecycle::mark_ready(NodeId id) {
  Node& node = nodes_[id];
  node.is_alive_again = false;
  node.state = State::Alive;
  --zones_[node.zone].not_ready;
  --not_ready_;
  ++counters_.ready;
  lift_taint(id);
  became_ready.emit(id);
}

ZoneState NodeLifecycle::state_of(const Zone& zone) const {
  if (zone.nodes > 0 && zone.not_ready == zone.nodes) return ZoneState::FullDisruption;
  const double share = zone.nodes == 0 ? 0 : static_cast<double>(zone.not_ready) / zone.nodes;
  if (zone.not_ready > 2 && share >= params_.unhealthy_share) return ZoneState::PartialDisruption;
  return ZoneState::Normal;
}

void NodeLifecycle::update_zones() {
  const bool all_silent = not_ready_ == registered_ && registered_ > 0;
  for (uint32_t z = 0; z < zones_.size(); ++z) {
    Zone& zone = zones_[z];
    const ZoneState state = state_of(zone);
    const bool has_changed = std::exchange(zone.state, state) != state;
    if (has_changed && !all_silent && !is_cut_off_) set_pace(zone);
  }
  if (all_silent && !is_cut_off_) enter_full_disruption();
  if (!all_silent && is_cut_off_) leave_full_disruption();
  for (uint32_t z = 0; z < zones_.size(); ++z) plan_taint(z);
}

// Sets the pace of taints by a new token bucket, which starts empty if the old one was empty. In a
// partial disruption, a large zone gets the secondary rate and a small one no taints. Otherwise the
// usual rate applies, even if the whole zone is lost while other zones live.
void NodeLifecycle::set_pace(Zone& zone) {
  const bool had_token = zone.rate > 0 && zone.next_taint <= engine_.now();
  const bool is_partial = zone.state == ZoneState::PartialDisruption;
  const bool is_large = zone.nodes > static_cast<uint32_t>(params_.large_zone);
  if (!is_partial)
    zone.rate = params_.taint_rate;
  else
    zone.rate = is_large ? params_.secondary_taint_rate : 0;
  engine_.cancel(zone.taint);
  zone.next_taint = engine_.now();
  if (!had_token && zone.rate > 0) zone.next_taint = engine_.now() + nearest_ns(1 / zone.rate);
}

void NodeLifecycle::enter_full_disruption() {
  ORRERY_MARK("node_lifecycle.cut_off");
  is_cut_off_ = true;
  ++counters_.full_disruptions;
  for (Zone& zone : zones_) {
    zone.rate = 0;
    engine_.cancel(zone.taint);
    for (const NodeId id : std::exchange(zone.queue, {})) nodes_[id].taint = Taint::None;
  }
  for (uint32_t i = 0; i < nodes_.size(); ++i) lift_taint(NodeId{i});
}

void NodeLifecycle::leave_full_disruption() {
  ORRERY_MARK("node_lifecycle.reconnected");
  is_cut_off_ = false;
  for (Zone& zone : zones_) set_pace(zone);
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[NodeId{i}].state == State::NotReady) queue_taint(NodeId{i});
  }
}

void NodeLifecycle::queue_taint(NodeId id) {
  Node& node = nodes_[id];
  if (node.taint != Taint::None) return;
  node.taint = Taint::Queued;
  zones_[node.zone].queue.push_back(id);
}

void NodeLifecycle::lift_taint(NodeId id) {
  Node& node = nodes_[id];
  const Taint before = std::exchange(node.taint, Taint::None);
  if (before == Taint::Queued) std::erase(zones_[node.zone].queue, id);
  if (before != Taint::Set) return;
  engine_.cancel(node.eviction);
  untainted.emit(id);
}

void NodeLifecycle::plan_taint(uint32_t z) {
  Zone& zone = zones_[z];
  if (engine_.is_pending(zone.taint) || zone.queue.empty() || zone.rate <= 0) return;
  zone.taint = engine_.at(
      std::max(engine_.now(), zone.next_taint), Label{"node_lifecycle.tainted"},
      [this, z] { hand_out_taint(z); }, Phase::Control);
}

void NodeLifecycle::hand_out_taint(uint32_t z) {
  Zone& zone = zones_[z];
  // A check of all nodes that is planned for this instant must come first. The check plans this
  // taint again.
  if (zone.queue.empty() || planned_look_ == engine_.now()) return;
  const NodeId id = zone.queue.front();
  zone.queue.pop_front();
  zone.next_taint = engine_.now() + nearest_ns(1 / zone.rate);
  Node& node = nodes_[id];
  ORRERY_CHECK(node.taint == Taint::Queued, "only a node that waits for a taint gets one");
  node.taint = Taint::Set;
  ++counters_.tainted;
  plan_eviction(id, params_.toleration);
  plan_taint(z);
  tainted.emit(id);
}

void NodeLifecycle::plan_eviction(NodeId id, Duration delay) {
  nodes_[id].eviction = engine_.after(
      delay, Label{"node_lifecycle.evicted"}, [this, id] { evict(id); }, Phase::Control);
}

void NodeLifecycle::evict(NodeId id) {
  // If a check of all nodes is planned for this instant, the check must come first: it may remove
  // the taint.
  if (planned_look_ == engine_.now()) return plan_eviction(id, {});
  ++counters_.evicted;
  evicted.emit(id);
}

}  // namespace orrery
