#include "models/scheduling/toolbox/planned_placement.hpp"

#include <algorithm>
#include <utility>

#include "models/scheduling/contract/eligible_nodes.hpp"

namespace orrery {
namespace {

// Resources of one node that are kept free for nominated pods.
struct Kept {
  Resources amounts;
  int64_t whole_gpus = 0;  // GPUs of nominated pods that request whole GPUs
};

// How many pods of `spec` fit on the node beside `kept`. With is_idle, the node is treated as if it
// had no pods.
int64_t room_on(const ClusterState& cluster, const PodSpec& spec, NodeId n, bool is_idle,
                const Kept& kept = {}) {
  const Resources asked = spec.requests();
  int64_t room = INT32_MAX;
  for (size_t i = 0; i < kResources; ++i) {
    const auto r = static_cast<Resource>(i);
    if (asked[r] == 0 || (r == Resource::Gpu && kept.amounts[r] == 0)) continue;
    const int64_t left = is_idle ? cluster.allocatable(n, r) : cluster.free(n, r);
    room = std::min(room, std::max<int64_t>(left - kept.amounts[r], 0) / asked[r]);
  }
  if (spec.gpus == 0) return room;
  int64_t shares = 0;
  for (uint32_t g = 0; g < cluster.gpus(n); ++g) {
    shares += (is_idle ? kMilli : cluster.gpu_left_milli(n, g)) / spec.gpu_milli;
  }
  if (spec.gpu_milli == kMilli) shares = std::max<int64_t>(shares - kept.whole_gpus, 0);
  return std::min(room, shares / spec.gpus);
}

Topology topology_of(const ClusterState& cluster, const TopologyParams& params) {
  const uint32_t leaves = cluster.leaves();
  const uint32_t width = params.leaves_per_block == 0
                             ? std::max<uint32_t>(leaves, 1)
                             : static_cast<uint32_t>(params.leaves_per_block);
  std::vector<uint32_t> leaf_of, block_of;
  for (uint32_t n = 0; n < cluster.nodes(); ++n) leaf_of.push_back(cluster.leaf({n}));
  for (uint32_t l = 0; l < leaves; ++l) block_of.push_back(l / width);
  return {std::move(leaf_of), std::move(block_of)};
}

constexpr Status kNoPlan{Code::Unschedulable, "node(s) allow no placement of the whole gang"};
constexpr Status kPlanIsFull{Code::Unschedulable,
                             "node(s) have all the gang's pods that the plan puts there"};

}  // namespace

PlannedPlacement::PlannedPlacement(Handle& handle, const TopologyParams& params,
                                   RoomOn::Options options)
    : handle_{handle}, topology_{topology_of(handle.cluster(), params)}, options_{options} {}

std::unique_ptr<PlannedPlacement::Remembered> PlannedPlacement::first_look(
    const Cycle& cycle) const {
  const PodSpec& spec = *cycle.pod.spec;
  auto known = std::make_unique<Remembered>(
      Remembered{.spec = cycle.pod.spec_id,
                 .accepted = matching_nodes(cycle.cluster, spec),
                 .rooms = {.now = {topology_, options_},
                           .idle = {topology_, {.slice = options_.slice}},
                           .gpus = {topology_, {.keeps_order = options_.keeps_order}},
                           .pod_gpus = spec.requests()[Resource::Gpu]}});
  Rooms& rooms = known->rooms;
  for (uint32_t n = 0; n < cycle.cluster.nodes(); ++n) {
    const int64_t idle = room_on(cycle.cluster, spec, {n}, true);
    rooms.idle.set(n, idle);
    rooms.on_largest_node = std::max(rooms.on_largest_node, idle);
  }
  return known;
}

void PlannedPlacement::look(const Cycle& cycle, Remembered& known, NodeId n) const {
  const ClusterState& cluster = cycle.cluster;
  const PodSpec& spec = *cycle.pod.spec;
  const bool is_open =
      known.accepted.contains(n) && cluster.up().contains(n) && is_open_to(cluster, spec, n);
  const int64_t room = is_open ? room_on(cluster, spec, n, false) : 0;
  known.rooms.now.set(n.index, room);
  if (options_.keeps_order) {
    known.rooms.gpus.set(n.index, room > 0 ? cluster.free(n, Resource::Gpu) : 0);
  }
}

// Returns the current room for the pod's spec on all nodes. Examines only nodes that changed since
// the last call for this spec, or all nodes if the changed nodes are not known.
PlannedPlacement::Remembered& PlannedPlacement::rooms_now(const Cycle& cycle) {
  const ClusterState& cluster = cycle.cluster;
  const size_t at = cycle.pod.spec_id.index % kRoomsMax;
  if (at >= rooms_.size()) rooms_.resize(at + 1);
  const bool is_known = rooms_[at] && rooms_[at]->spec == cycle.pod.spec_id;
  if (!is_known) rooms_[at] = first_look(cycle);
  Remembered& known = *rooms_[at];
  if (is_known && cluster.log_covers(known.version)) {
    for (const NodeId n : cluster.touched_since(known.version)) look(cycle, known, n);
  } else {
    for (uint32_t n = 0; n < cluster.nodes(); ++n) look(cycle, known, {n});
  }
  known.version = cluster.version();
  return known;
}

// How many pods like the cycle's pod fit on the node beside the nominated pods of equal or higher
// priority. Nominated members of the pod's own gang do not count, because the gang is planned as a
// whole.
int64_t PlannedPlacement::room_beside_nominated(const Cycle& cycle, NodeId node) const {
  std::vector<PodId> nominated;
  handle_.preemption()->nominated_on(node, nominated);
  Kept kept;
  for (const PodId id : nominated) {
    const PodView other = handle_.pod(id);
    const bool is_own =
        id == cycle.pod.id || (other.gang.is_valid() && other.gang == cycle.pod.gang);
    if (is_own || other.spec->priority < cycle.pod.spec->priority) continue;
    kept.amounts += other.spec->requests();
    kept.whole_gpus += other.spec->gpu_milli == kMilli ? other.spec->gpus : 0;
  }
  return room_on(cycle.cluster, *cycle.pod.spec, node, false, kept);
}

// If a plan uses room that is kept for nominated pods, this room is removed and the gang is planned
// again. Only nodes of plans are examined. Example: two pods fit on node 0 and two on node 1, but
// the room on node 0 is kept for another gang. The first plan is node 0, and the second plan is
// node 1.
PlacementPlan PlannedPlacement::plan_beside_nominated(const Cycle& cycle, Remembered& known,
                                                      int64_t pods) const {
  PlacementPlan found = plan(known.rooms, pods);
  if (handle_.preemption() == nullptr) return found;
  std::vector<NodeId> kept;
  for (bool is_any = true; std::exchange(is_any, false);) {
    for (const NodeShare& share : found) {
      const int64_t room = room_beside_nominated(cycle, {share.node});
      if (room >= share.pods) continue;
      known.rooms.now.set(share.node, room);
      if (options_.keeps_order && room == 0) known.rooms.gpus.set(share.node, 0);
      kept.push_back({share.node});
      is_any = true;
    }
    if (is_any) found = plan(known.rooms, pods);
  }
  for (const NodeId node : kept) look(cycle, known, node);
  return found;
}

void PlannedPlacement::domains(const Cycle& cycle, const GangView& gang,
                               std::vector<GangDomain>& out) {
  Remembered& known = rooms_now(cycle);
  PlacementPlan found =
      plan_beside_nominated(cycle, known, std::max(1, gang.pods - gang.assigned()));
  if (found.empty() && gang.min_available < gang.pods) {
    found = plan_beside_nominated(cycle, known, std::max(1, gang.missing()));
  }
  Planned& planned = cycle.state.of<Planned>(*this);
  planned.pods_max.clear();
  NodeSet nodes{cycle.cluster.nodes()};
  for (const auto& [node, pods] : found) {
    planned.pods_max[{node}] = cycle.cluster.requested({node}, Resource::Pods) + pods;
    nodes.insert({node});
  }
  out.emplace_back(std::move(nodes));
}

void PlannedPlacement::filter(const Cycle& cycle, Candidates& nodes) const {
  const auto* const planned = cycle.state.find<Planned>(*this);
  if (planned == nullptr) return;
  const auto has_room = [&](NodeId n) {
    const auto most = planned->pods_max.find(n);
    return most != planned->pods_max.end() &&
           cycle.cluster.requested(n, Resource::Pods) < most->second;
  };
  nodes.keep_if(has_room, planned->pods_max.empty() ? kNoPlan : kPlanIsFull);
}

}  // namespace orrery
