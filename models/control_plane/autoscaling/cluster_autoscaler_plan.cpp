// models/control_plane/autoscaling/cluster_autoscaler_plan.cpp -- which nodes one loop asks for or
// takes away.
#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "models/control_plane/autoscaling/cluster_autoscaler.hpp"

namespace orrery {

// Pods that hold a node in Permit need none, but may be turned away, and wait as long as before.
std::vector<ClusterAutoscaler::Waiting> ClusterAutoscaler::collect_waiting() {
  std::map<SpecId, Waiting> by_spec;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    bool is_waiting = false;
    scheduler_.for_each_unbound(at->first, [&](PodId pod, bool has_node) {
      is_waiting = true;
      if (has_node || !counts(pod)) return;
      Waiting& w = by_spec[jobs_.pod(pod).spec];
      ++w.pods;
      w.since.push_back(at->second);
    });
    at = is_waiting ? std::next(at) : waiting_.erase(at);
  }
  std::vector<Waiting> waiting;
  for (auto& [spec, w] : by_spec) {
    w.spec = spec;
    std::ranges::sort(w.since);
    waiting.push_back(std::move(w));
  }
  std::ranges::sort(waiting, std::greater{}, [this](const Waiting& w) {
    const Resources& r = jobs_.specs().request(w.spec).resources;
    return std::tuple{r[Resource::Gpu], r[Resource::Cpu], r[Resource::Memory], w.spec.index};
  });
  return waiting;
}

uint32_t ClusterAutoscaler::room_to_grow(const Scaled& scaled) const {
  if (scaled.backs_off_until > now()) return 0;
  const size_t most = scaled.group.params.nodes_max
                          ? static_cast<size_t>(*scaled.group.params.nodes_max)
                          : scaled.group.nodes.size();
  const auto size_max = static_cast<uint32_t>(most);
  const uint32_t room = size_max - std::min(scaled.size, size_max);
  return std::min(room, static_cast<uint32_t>(params_.nodes_per_scale_up));
}

// What fits on nodes that are there or on their way needs no others.
void ClusterAutoscaler::plan_up(Plan& plan) {
  if (waiting_.empty()) return;
  std::vector<Waiting> waiting = collect_waiting();
  const bool may_grow =
      std::ranges::any_of(groups_, [this](const Scaled& s) { return room_to_grow(s) > 0; });
  if (waiting.empty() || !may_grow) return;
  RoomTable rooms{cluster_, jobs_.specs(), true};
  // cluster-autoscaler has a watch of its own. Here the autoscaler observes the ends of pods when
  // the scheduler does: until then a pod that ended takes room in this plan.
  rooms.take_what_is_taken();
  NodeSet there = cluster_.up();
  for (const Scaled& scaled : groups_) {
    if (scaled.asked == 0) continue;
    for (const NodeId node : scaled.group.nodes) {
      const State state = nodes_[node].state;
      if (state == State::Asked || state == State::Joined) there.insert(node);
    }
  }
  for (Waiting& w : waiting) {
    w.seated = rooms.put_all({w.spec, w.pods}, there, [](NodeId) {});
    plan.helps_pods |= w.seated > 0;
  }
  for (const Scaled& scaled : groups_) {
    if (grow(scaled, waiting, rooms, plan)) break;
  }
}

// Of like pods those that wait longest have what is there already.
bool ClusterAutoscaler::grow(const Scaled& scaled, const std::vector<Waiting>& waiting,
                             RoomTable& rooms, Plan& plan) const {
  uint32_t left = room_to_grow(scaled);
  NodeSet could_come{cluster_.nodes()};
  for (const NodeId node : scaled.group.nodes) {
    if (left == 0) break;
    if (nodes_[node].state != State::Absent || presence_.has(node, NodeReason::Broken)) continue;
    could_come.insert(node);
    --left;
  }
  NodeSet used{cluster_.nodes()};
  double waited_s = 0;
  for (const Waiting& w : waiting) {
    const int64_t put =
        rooms.put_all({w.spec, w.pods - w.seated}, could_come, [&](NodeId n) { used.insert(n); });
    plan.pods += static_cast<uint64_t>(put);
    for (int64_t i = w.seated; i < w.seated + put; ++i) {
      const Duration waited = now() - w.since[static_cast<size_t>(i)];
      waited_s += waited.seconds();
      plan.waited_max = std::max(plan.waited_max, waited);
    }
  }
  if (plan.pods > 0) plan.waited_mean = nearest_ns(waited_s / static_cast<double>(plan.pods));
  used.for_each([&](NodeId n) { plan.up.push_back(n); });
  return !plan.up.empty();
}

// ---- down

// Since when nodes are idle in one and the same condition, as loops see it.
void ClusterAutoscaler::note_unneeded() {
  idle_.for_each([this](NodeId node) {
    Node& n = nodes_[node];
    const bool is_ready = lifecycle_.is_ready(node);
    if (n.unneeded >= Time{} && n.was_ready == is_ready) return;
    n.unneeded = now();
    n.was_ready = is_ready;
  });
}

void ClusterAutoscaler::plan_down(Plan& plan) {
  const ScaleDownParams& down = params_.scale_down;
  const auto is_recent = [&](Time then, Duration delay) {
    return then >= Time{} && now() - then < delay;
  };
  if (is_recent(scaled_up_, down.delay_after_add)) return;
  if (is_recent(taken_away_, down.delay_after_delete)) return;
  std::vector<uint32_t> may_go;
  for (const Scaled& scaled : groups_) {
    const auto least = static_cast<uint32_t>(scaled.group.params.nodes_min);
    may_go.push_back(scaled.size - std::min(scaled.size, least));
  }
  std::vector<std::pair<Time, NodeId>> due;
  idle_.for_each([&](NodeId node) {
    const Node& n = nodes_[node];
    const Duration limit = n.was_ready ? down.unneeded_time : down.unready_time;
    if (now() - n.unneeded >= limit && may_go[n.group] > 0) due.emplace_back(n.unneeded, node);
  });
  std::ranges::sort(due);
  for (const auto& [since, node] : due) {
    if (plan.down.size() == static_cast<size_t>(down.parallel)) return;
    uint32_t& left = may_go[nodes_[node].group];
    if (left == 0) continue;
    --left;
    plan.down.push_back(node);
  }
}

}  // namespace orrery
