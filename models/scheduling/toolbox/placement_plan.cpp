#include "models/scheduling/toolbox/placement_plan.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace orrery {
namespace {

std::vector<int64_t> pods_by_leaf(const RoomOn& room) {
  std::vector<int64_t> pods(room.topology().leaves());
  for (uint32_t l = 0; l < pods.size(); ++l) pods[l] = room.in_leaf(l).pods;
  return pods;
}

// Plans up to `wanted` pods on nodes of the leaf, in order of the nodes. Returns the number of pods
// planned.
int64_t take_leaf(const RoomOn& room, uint32_t leaf, int64_t wanted, PlacementPlan& plan) {
  int64_t taken = 0;
  for (const uint32_t n : room.topology().nodes_of(leaf)) {
    const int64_t here = std::min(room.on_node(n), wanted - taken);
    if (here > 0) plan.push_back({n, here});
    taken += here;
    if (taken == wanted) break;
  }
  return taken;
}

// The search of Slurm's topology/tree. It takes leaves one by one.
class TreeWalk {
 public:
  explicit TreeWalk(const RoomOn& room)
      : topology_{room.topology()},
        free_{pods_by_leaf(room)},
        distance_(free_.size()),
        block_free_(topology_.blocks()) {
    for (uint32_t b = 0; b < block_free_.size(); ++b) block_free_[b] = room.in_block(b).pods;
  }

  // The leaf to take next; free_.size() if no leaf has room. A leaf with room for all wanted
  // pods replaces the best leaf so far if it is nearer to the leaves in use. A leaf at equal
  // distance replaces the best leaf if is_preferred(). A farther leaf never does.
  uint32_t best(int64_t wanted) const {
    const auto none = static_cast<uint32_t>(free_.size());
    uint32_t best = none;
    for (uint32_t i = 0; i < none; ++i) {
      if (free_[i] == 0) continue;
      const bool is_nearer = best != none && distance_[i] < distance_[best] && free_[i] >= wanted;
      const bool is_better =
          best != none && distance_[i] == distance_[best] && is_preferred(i, best, wanted);
      if (best == none || is_nearer || is_better) best = i;
    }
    return best;
  }
  void use(uint32_t leaf) {
    const uint32_t block = topology_.block_of(leaf);
    block_free_[block] -= free_[leaf];
    free_[leaf] = 0;
    for (int64_t& distance : distance_) distance += 4;
    for (const uint32_t l : topology_.leaves_of(block)) distance_[l] -= 2;
  }

 private:
  // Prefers a leaf on which all wanted pods fit. If they fit on both leaves, prefers the leaf with
  // less free room. If they fit on neither, compares the blocks of the leaves in the same way. If
  // the blocks decide nothing, prefers the leaf with more free room.
  bool is_preferred(uint32_t i, uint32_t j, int64_t wanted) const {
    const auto verdict = [&](int64_t a, int64_t b) {
      if (a >= wanted && b >= wanted) return a < b ? 1 : a > b ? -1 : 0;
      return (a >= wanted ? 1 : 0) - (b >= wanted ? 1 : 0);
    };
    int result = verdict(free_[i], free_[j]);
    const uint32_t block_i = topology_.block_of(i), block_j = topology_.block_of(j);
    if (result == 0 && free_[i] < wanted && block_i != block_j) {
      result = verdict(block_free_[block_i], block_free_[block_j]);
    }
    return result != 0 ? result > 0 : free_[i] > free_[j];
  }

  const Topology& topology_;
  // free_: room by leaf. distance_: by leaf, the sum of its distances to all leaves in use.
  std::vector<int64_t> free_, distance_;
  std::vector<int64_t> block_free_;
};

// Returns the fullest domain that has room for `pods`, or `domains` if there is none. at(d) returns
// the present room of domain d and its room when idle. The fullest domain is the one with the least
// ratio of present room to idle room; of equally full domains, it is the first.
template <class At>
uint32_t fullest(uint32_t domains, int64_t pods, At&& at) {
  uint32_t best = domains;
  RoomOn::Sum free_best, idle_best;
  for (uint32_t d = 0; d < domains; ++d) {
    const auto [free, idle] = at(d);
    if (free.pods < pods) continue;
    // Keeps `best` unless free / idle < free_best / idle_best; multiplied, to avoid divisions.
    if (best != domains && free.pods * idle_best.pods >= free_best.pods * idle.pods) continue;
    best = d;
    free_best = free;
    idle_best = idle;
  }
  return best;
}

}  // namespace

PlacementPlan plan_slurm_tree(const RoomOn& room, int64_t pods) {
  TreeWalk walk{room};
  PlacementPlan plan;
  while (pods > 0) {
    const uint32_t leaf = walk.best(pods);
    if (leaf == room.topology().leaves()) return {};
    pods -= take_leaf(room, leaf, pods, plan);
    walk.use(leaf);
  }
  return plan;
}

PlacementPlan plan_slurm_block(const RoomOn& room, int64_t pods, int64_t leaf_pods,
                               std::span<const uint32_t> levels) {
  const int64_t leaves_wanted = (pods + leaf_pods - 1) / leaf_pods;
  const auto level =
      std::ranges::find_if(levels, [&](uint32_t k) { return (int64_t{1} << k) >= leaves_wanted; });
  if (level == levels.end()) return {};
  std::vector<int64_t> free = pods_by_leaf(room);
  const auto sum_of = [&](size_t first, size_t end) {
    return std::accumulate(free.begin() + static_cast<std::ptrdiff_t>(first),
                           free.begin() + static_cast<std::ptrdiff_t>(std::min(end, free.size())),
                           int64_t{0});
  };
  const size_t width = size_t{1} << *level;
  size_t best = free.size();
  int64_t best_free = 0;
  for (size_t first = 0; first < free.size(); first += width) {
    const int64_t sum = sum_of(first, first + width);
    if (sum < pods || (best != free.size() && sum >= best_free)) continue;
    best = first;
    best_free = sum;
  }
  if (best == free.size()) return {};
  // A part of the chosen aggregate: an aggregate of the next smaller level, or a leaf if no level
  // is smaller.
  struct Aggregate {
    int64_t free = 0;
    bool is_used = false;
  };
  const size_t inner = level == levels.begin() ? 1 : size_t{1} << *(level - 1);
  const size_t last = std::min(best + width, free.size());
  std::vector<Aggregate> parts;
  for (size_t l = best; l < last; l += inner) parts.push_back({sum_of(l, l + inner), false});
  const auto part_of = [&](size_t leaf) -> Aggregate& { return parts[(leaf - best) / inner]; };
  // Whether leaf `a` is taken before leaf `b`. Leaves of aggregates in use come first. Otherwise
  // the free space of the two aggregates is compared and, if it is equal, that of the two leaves.
  // If only one has space for all remaining pods, that one is preferred. If both have, the one with
  // less space is preferred; if neither has, the one with more.
  const auto is_preferred = [&](size_t a, size_t b) {
    const Aggregate &in_a = part_of(a), &in_b = part_of(b);
    if (in_a.is_used != in_b.is_used) return in_a.is_used;
    for (const auto& [x, y] : {std::pair{in_a.free, in_b.free}, std::pair{free[a], free[b]}}) {
      if (x == y) continue;
      if ((x >= pods) != (y >= pods)) return x >= pods;
      return x >= pods ? x < y : x > y;
    }
    return false;
  };
  PlacementPlan plan;
  while (pods > 0) {
    size_t next = last;
    for (size_t l = best; l < last; ++l) {
      if (free[l] > 0 && (next == last || is_preferred(l, next))) next = l;
    }
    pods -= take_leaf(room, static_cast<uint32_t>(next), pods, plan);
    part_of(next).free -= free[next];
    part_of(next).is_used = true;
    free[next] = 0;
  }
  return plan;
}

int64_t block_fragmentation(std::span<const int64_t> free_by_leaf, int64_t leaf_nodes,
                            std::span<const uint32_t> levels) {
  int64_t broken = 0, taken = 0;
  for (const uint32_t k : levels) {
    const size_t width = size_t{1} << k;
    for (size_t first = 0; first + width <= free_by_leaf.size(); first += width) {
      const auto part = free_by_leaf.subspan(first, width);
      const bool is_whole = std::ranges::all_of(part, [&](int64_t f) { return f == leaf_nodes; });
      broken += is_whole ? 0 : static_cast<int64_t>(width);
    }
  }
  for (const int64_t f : free_by_leaf) taken += leaf_nodes - f;
  return broken * leaf_nodes + taken;
}

PlacementPlan plan_hypernode(const RoomOn& room, const RoomOn& idle, int64_t pods,
                             int32_t highest_tier) {
  const Topology& topology = room.topology();
  PlacementPlan plan;
  const auto take_all = [&](uint32_t leaf) { take_leaf(room, leaf, INT64_MAX, plan); };
  const uint32_t leaf = fullest(topology.leaves(), pods, [&](uint32_t l) {
    return std::pair{room.in_leaf(l), idle.in_leaf(l)};
  });
  if (leaf < topology.leaves()) {
    take_all(leaf);
    return plan;
  }
  const uint32_t block = fullest(topology.blocks(), pods, [&](uint32_t b) {
    return std::pair{room.in_block(b), idle.in_block(b)};
  });
  if (highest_tier >= 2 && block < topology.blocks()) {
    std::ranges::for_each(topology.leaves_of(block), take_all);
  } else if (highest_tier >= 3 && room.anywhere().pods >= pods) {
    for (uint32_t l = 0; l < topology.leaves(); ++l) take_all(l);
  }
  return plan;
}

double hypernode_score(const Topology& topology, uint32_t node, std::optional<uint32_t> placed) {
  constexpr int kTiers = 3;
  if (!placed) return 0;
  const uint32_t a = topology.leaf_of(node), b = topology.leaf_of(*placed);
  const int common = a == b ? 1 : topology.block_of(a) == topology.block_of(b) ? 2 : 3;
  return 100.0 * (kTiers - common + 1) / kTiers;
}

PlacementPlan plan_consolidated(const Consolidation& room, int64_t pods) {
  if (pods <= room.node_pods) {
    const RoomOn::Order& order = room.pod_gpus > 0 ? room.gpus.order() : room.pods.order();
    const int64_t least = room.pod_gpus > 0 ? pods * room.pod_gpus : pods;
    for (auto at = order.lower_bound({least, 0}); at != order.end(); ++at) {
      if (room.pods.on_node(at->second) >= pods) return {{at->second, pods}};
    }
    return {};
  }
  PlacementPlan plan;
  room.pods.for_each_fullest_first([&](uint32_t node, int64_t pods_here) {
    const int64_t wanted = std::min(pods, room.node_pods);
    if (pods_here < wanted) return false;
    plan.push_back({node, wanted});
    pods -= wanted;
    return pods > 0;
  });
  return pods == 0 ? plan : PlacementPlan{};
}

}  // namespace orrery
