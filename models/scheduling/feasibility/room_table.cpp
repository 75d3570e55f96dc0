#include "models/scheduling/feasibility/room_table.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "models/scheduling/contract/eligible_nodes.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr std::array kCounted = {Resource::Cpu, Resource::Memory, Resource::Nic, Resource::Pods};

}  // namespace

RoomTable::RoomTable(const ClusterState& cluster, const SpecTable& specs, bool counts_down_nodes)
    : cluster_{cluster},
      specs_{specs},
      counts_down_nodes_{counts_down_nodes},
      rooms_(cluster.nodes()) {
  for (uint32_t n = 0; n < rooms_.size(); ++n) {
    for (const Resource r : kCounted) rooms_[n].left[r] = cluster.allocatable({n}, r);
    std::fill_n(rooms_[n].gpu_left.begin(), cluster.gpus({n}), static_cast<int16_t>(kMilli));
  }
}

int64_t RoomTable::pods_that_fit(const Room& room, SpecId id) const {
  const PodSpec& spec = specs_[id];
  const Resources& need = specs_.request(id).resources;
  int64_t pods = INT32_MAX;
  for (const Resource r : kCounted) {
    if (need[r] > 0) pods = std::min(pods, std::max<int64_t>(0, room.left[r]) / need[r]);
  }
  if (spec.gpus == 0 || pods == 0) return pods;
  int32_t shares = 0;
  const int32_t milli = spec.gpu_milli;
  for (const int16_t left : room.gpu_left) {
    shares += milli == kMilli ? left >= kMilli : std::max(int32_t{left}, 0) / milli;
  }
  return std::min<int64_t>(pods, shares / spec.gpus);
}

// Chooses for each requested GPU the fullest device that has enough left. If no device has enough,
// because the scheduler packed shares better than this table, chooses the emptiest device.
GpuMask RoomTable::choose_gpus(const Room& room, const PodSpec& spec) const {
  GpuMask chosen = 0;
  for (int32_t i = 0; i < spec.gpus; ++i) {
    size_t best = kGpusPerNodeMax;
    const auto rank = [&](size_t gpu) {
      const int32_t left = room.gpu_left[gpu];
      return left >= spec.gpu_milli ? std::pair{0, left} : std::pair{1, -left};
    };
    for (size_t gpu = 0; gpu < kGpusPerNodeMax; ++gpu) {
      if ((chosen >> gpu & 1) != 0) continue;
      if (best == kGpusPerNodeMax || rank(gpu) < rank(best)) best = gpu;
    }
    chosen = static_cast<GpuMask>(chosen | 1U << best);
  }
  return chosen;
}

void RoomTable::apply(Room& room, SpecId id, GpuMask gpus, int sign) const {
  const Resources& need = specs_.request(id).resources;
  for (const Resource r : kCounted) room.left[r] += sign * need[r];
  const int32_t milli = sign * specs_[id].gpu_milli;
  for (size_t gpu = 0; gpus != 0; ++gpu, gpus = static_cast<GpuMask>(gpus >> 1)) {
    if ((gpus & 1) != 0) room.gpu_left[gpu] = static_cast<int16_t>(room.gpu_left[gpu] + milli);
  }
}

void RoomTable::change(NodeId node, SpecId spec, GpuMask gpus, int sign) {
  Room& room = rooms_[node.index];
  const Room before = room;
  apply(room, spec, gpus, sign);
  for (Kind& k : kinds_) {
    if (!k.eligible.contains(node)) continue;
    k.slots += pods_that_fit(room, k.spec) - pods_that_fit(before, k.spec);
  }
}

GpuMask RoomTable::put(NodeId node, SpecId spec) {
  const GpuMask gpus = choose_gpus(rooms_[node.index], specs_[spec]);
  put_again(node, spec, gpus);
  return gpus;
}

NodeSet RoomTable::find_eligible(const PodSpec& spec) const {
  NodeSet nodes = eligible_nodes(cluster_, spec);
  if (!counts_down_nodes_) nodes &= cluster_.up();
  return nodes;
}

RoomTable::Kind& RoomTable::kind(SpecId spec) {
  ++asked_;
  for (Kind& k : kinds_) {
    if (k.spec != spec) continue;
    k.asked = asked_;
    return k;
  }
  Kind made{.spec = spec, .eligible = find_eligible(specs_[spec]), .asked = asked_};
  made.eligible.for_each([&](NodeId n) { made.slots += pods_that_fit(rooms_[n.index], spec); });
  if (kinds_.size() < kKindsMax) return kinds_.emplace_back(std::move(made));
  Kind& oldest = *std::ranges::min_element(kinds_, {}, &Kind::asked);
  oldest = std::move(made);
  return oldest;
}

int64_t RoomTable::slots_up_to(SpecId spec, int64_t most) const {
  const NodeSet eligible = find_eligible(specs_[spec]);
  int64_t found = 0;
  for (NodeId n = eligible.next({0}); n.is_valid() && found < most;
       n = eligible.next({n.index + 1})) {
    found += pods_that_fit(rooms_[n.index], spec);
  }
  return found;
}

void RoomTable::forget_eligibility() { kinds_.clear(); }

void RoomTable::take_what_is_taken() {
  kinds_.clear();
  for (uint32_t n = 0; n < rooms_.size(); ++n) {
    for (const Resource r : kCounted) rooms_[n].left[r] = cluster_.free({n}, r);
    for (uint32_t gpu = 0; gpu < cluster_.gpus({n}); ++gpu) {
      rooms_[n].gpu_left[gpu] = static_cast<int16_t>(cluster_.gpu_left_milli({n}, gpu));
    }
  }
}

int64_t RoomTable::put_all(const PodNeed& need, const NodeSet& nodes,
                           const std::function<void(NodeId)>& used) {
  NodeSet among = find_eligible(specs_[need.spec]);
  among &= nodes;
  int64_t put = 0;
  for (NodeId n = among.next({0}); n.is_valid() && put < need.pods; n = among.next({n.index + 1})) {
    const int64_t pods = fill(n, need.spec, need.pods - put);
    if (pods > 0) used(n);
    put += pods;
  }
  if (put > 0) kinds_.clear();
  return put;
}

NodeId RoomTable::first_with_room(SpecId spec, const NodeSet& nodes) const {
  NodeSet among = find_eligible(specs_[spec]);
  among &= nodes;
  NodeId node = among.next({0});
  while (node.is_valid() && pods_that_fit(rooms_[node.index], spec) == 0) {
    node = among.next({node.index + 1});
  }
  return node;
}

// Puts as many of the pods on the node as fit. Does not update the slots in kinds_.
int64_t RoomTable::fill(NodeId node, SpecId spec, int64_t pods) {
  Room& room = rooms_[node.index];
  const int64_t filled = std::min(pods, pods_that_fit(room, spec));
  for (int64_t i = 0; i < filled; ++i) {
    apply(room, spec, choose_gpus(room, specs_[spec]), -1);
  }
  return filled;
}

bool RoomTable::fits(std::span<const PodNeed> needs) {
  for (const PodNeed& need : needs) {
    if (slots(need.spec) < need.pods) return false;
  }
  if (needs.size() <= 1) return true;
  Search search{.needs = {needs.begin(), needs.end()}, .eligible = {}, .looks_left = kLooksMax};
  std::ranges::sort(search.needs, std::greater{}, [this](const PodNeed& need) {
    const Resources& r = specs_.request(need.spec).resources;
    return std::tuple{r[Resource::Gpu], r[Resource::Cpu], r[Resource::Memory], need.spec.index};
  });
  for (const PodNeed& need : search.needs) search.eligible.push_back(eligible(need.spec));
  return places_greedily(search) || finds_places(search, 0, 0, {0});
}

bool RoomTable::places_greedily(const Search& search) {
  std::vector<std::pair<NodeId, Room>> undo;
  bool all_fit = true;
  for (size_t i = 0; i < search.needs.size() && all_fit; ++i) {
    const PodNeed& need = search.needs[i];
    const NodeSet& nodes = search.eligible[i];
    int64_t left = need.pods;
    for (NodeId n = nodes.next({0}); n.is_valid() && left > 0; n = nodes.next({n.index + 1})) {
      const Room before = rooms_[n.index];
      const int64_t pods = fill(n, need.spec, left);
      if (pods > 0) undo.emplace_back(n, before);
      left -= pods;
    }
    all_fit = left == 0;
  }
  for (size_t i = undo.size(); i-- > 0;) rooms_[undo[i].first.index] = undo[i].second;
  return all_fit;
}

// Searches depth first, and places one pod at each level. Equal pods go to nodes in ascending order
// of ids. All rooms are restored at the end.
bool RoomTable::finds_places(Search& search, size_t need, int64_t placed, NodeId from) {
  if (placed == search.needs[need].pods) {
    return need + 1 == search.needs.size() || finds_places(search, need + 1, 0, {0});
  }
  const SpecId spec = search.needs[need].spec;
  const NodeSet& nodes = search.eligible[need];
  NodeId failed;
  for (NodeId n = nodes.next(from); n.is_valid(); n = nodes.next({n.index + 1})) {
    if (--search.looks_left < 0) {
      ORRERY_MARK("scheduling.room_search_cut_off");
      return false;
    }
    Room& room = rooms_[n.index];
    if (pods_that_fit(room, spec) == 0) continue;
    if (failed.is_valid() && is_as_good(search, failed, n)) continue;
    const Room before = room;
    apply(room, spec, choose_gpus(room, specs_[spec]), -1);
    const bool found = finds_places(search, need, placed + 1, n);
    room = before;
    if (found) return true;
    failed = n;
  }
  return false;
}

bool RoomTable::is_as_good(const Search& search, NodeId a, NodeId b) const {
  return rooms_[a.index] == rooms_[b.index] &&
         std::ranges::all_of(search.eligible, [&](const NodeSet& nodes) {
           return nodes.contains(a) == nodes.contains(b);
         });
}

}  // namespace orrery
