#include "models/scheduling/planned_placement.hpp"

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

// How many pods like `spec` the node could take, now or if it were idle.
int64_t room_on(const ClusterState& cluster, const PodSpec& spec, NodeId n, bool is_idle) {
  const Resources asked = spec.requests();
  int64_t room = INT32_MAX;
  for (size_t i = 0; i < kResources; ++i) {
    const auto r = static_cast<Resource>(i);
    if (r == Resource::Gpu || asked[r] == 0) continue;
    room = std::min(room, (is_idle ? cluster.allocatable(n, r) : cluster.free(n, r)) / asked[r]);
  }
  if (spec.gpus == 0) return room;
  int64_t shares = 0;
  for (uint32_t g = 0; g < cluster.gpus(n); ++g) {
    shares += (is_idle ? kMilli : cluster.gpu_left_milli(n, g)) / spec.gpu_milli;
  }
  return std::min(room, shares / spec.gpus);
}

// Whether the pod accepts the node, and the node the pod.
bool is_usable(const ClusterState& cluster, const PodSpec& spec, NodeId n) {
  if (!cluster.up().contains(n) || cluster.cordoned().contains(n)) return false;
  const auto accepts = [&](const SelectorTerm& term) { return cluster.matching(term).contains(n); };
  if (!spec.required_terms.empty() && std::ranges::none_of(spec.required_terms, accepts)) {
    return false;
  }
  for (size_t i = 0; i < cluster.taints().size(); ++i) {
    const Taint& taint = cluster.taints()[i];
    const auto tolerates = [&](const Toleration& t) { return t.tolerates(taint); };
    if (taint.effect == TaintEffect::PreferNoSchedule || !cluster.with_taint(i).contains(n)) {
      continue;
    }
    if (std::ranges::none_of(spec.tolerations, tolerates)) return false;
  }
  return true;
}

}  // namespace

PlannedPlacement::PlannedPlacement(Handle& handle, const TopologyParams& params) {
  const ClusterState& cluster = handle.cluster();
  const uint32_t leaves = cluster.leaves();
  const uint32_t width = params.leaves_per_block == 0
                             ? std::max<uint32_t>(leaves, 1)
                             : static_cast<uint32_t>(params.leaves_per_block);
  for (uint32_t n = 0; n < cluster.nodes(); ++n) topology_.leaf_of.push_back(cluster.leaf({n}));
  for (uint32_t l = 0; l < leaves; ++l) topology_.block_of.push_back(l / width);
  topology_.blocks = leaves == 0 ? 0 : (leaves - 1) / width + 1;
}

std::vector<int64_t> PlannedPlacement::room_if_idle(const Cycle& cycle) {
  std::vector<int64_t> room;
  for (uint32_t n = 0; n < cycle.cluster.nodes(); ++n) {
    room.push_back(room_on(cycle.cluster, *cycle.pod.spec, {n}, true));
  }
  return room;
}

// Looks only at nodes that changed since the last gang of alike pods.
Room PlannedPlacement::room_now(const Cycle& cycle) {
  const ClusterState& cluster = cycle.cluster;
  const PodSpec& spec = *cycle.pod.spec;
  const SpecId id = cycle.pod.spec_id;
  const size_t at = id.index % kRoomsMax;
  if (at >= rooms_.size()) rooms_.resize(at + 1);
  Remembered& known = rooms_[at];
  const auto look = [&](NodeId n) {
    known.room[n.index] = is_usable(cluster, spec, n) ? room_on(cluster, spec, n, false) : 0;
  };
  if (known.spec == id && cluster.log_covers(known.version)) {
    for (const NodeId n : cluster.touched_since(known.version)) look(n);
  } else {
    known.room.resize(cluster.nodes());
    for (uint32_t n = 0; n < cluster.nodes(); ++n) look({n});
  }
  known.spec = id;
  known.version = cluster.version();
  return known.room;
}

void PlannedPlacement::domains(const Cycle& cycle, const GangView& gang,
                               std::vector<NodeSet>& out) {
  const ClusterState& cluster = cycle.cluster;
  const Room room = room_now(cycle);
  planned_ = gang.id;
  plan_ = plan(cycle, room, std::max(1, gang.pods - gang.assigned()));
  if (plan_.empty() && gang.min_available < gang.pods) {
    plan_ = plan(cycle, room, std::max(1, gang.min_available - gang.assigned()));
  }
  if (plan_.empty()) plan_.resize(cluster.nodes());
  before_.resize(cluster.nodes());
  NodeSet nodes{cluster.nodes()};
  for (uint32_t n = 0; n < cluster.nodes(); ++n) {
    before_[n] = cluster.requested({n}, Resource::Pods);
    if (plan_[n] > 0) nodes.insert({n});
  }
  out.push_back(std::move(nodes));
}

void PlannedPlacement::filter(const Cycle& cycle, Candidates& nodes) const {
  if (!cycle.pod.gang.is_valid() || cycle.pod.gang != planned_) return;
  const auto has_share = [&](NodeId n) {
    const int64_t placed = cycle.cluster.requested(n, Resource::Pods) - before_[n.index];
    return placed < plan_[n.index];
  };
  nodes.keep_if(has_share, {Code::Unschedulable, "node(s) have their share of the gang"});
}

}  // namespace orrery
