#include "models/scheduling/placement_plan.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace orrery {
namespace {

std::vector<int64_t> room_of_leaves(const Topology& topology, Room room) {
  std::vector<int64_t> sums(topology.block_of.size());
  for (size_t n = 0; n < room.size(); ++n) sums[topology.leaf_of[n]] += room[n];
  return sums;
}

// Takes the nodes of a leaf in order.
int64_t take_leaf(const Topology& topology, Room room, uint32_t leaf, int64_t wanted,
                  PlacementPlan& plan) {
  int64_t taken = 0;
  for (size_t n = 0; n < room.size() && taken < wanted; ++n) {
    if (topology.leaf_of[n] != leaf) continue;
    const int64_t here = std::min(room[n] - plan[n], wanted - taken);
    plan[n] += here;
    taken += here;
  }
  return taken;
}

// The tree as Slurm walks it while it fills leaf after leaf.
class TreeWalk {
 public:
  TreeWalk(const Topology& topology, Room room)
      : topology_{topology},
        free_{room_of_leaves(topology, room)},
        distance_(free_.size()),
        block_free_(topology.blocks) {
    for (size_t l = 0; l < free_.size(); ++l) block_free_[topology.block_of[l]] += free_[l];
  }

  // The leaf to take next; none: free_.size().
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
    const uint32_t block = topology_.block_of[leaf];
    block_free_[block] -= free_[leaf];
    free_[leaf] = 0;
    for (size_t l = 0; l < free_.size(); ++l)
      distance_[l] += topology_.block_of[l] == block ? 2 : 4;
  }

 private:
  // Both fit: the tighter one. One fits: that one. Else the one whose block does better, or which
  // has more.
  bool is_preferred(uint32_t i, uint32_t j, int64_t wanted) const {
    const auto verdict = [&](int64_t a, int64_t b) {
      if (a >= wanted && b >= wanted) return a < b ? 1 : a > b ? -1 : 0;
      return (a >= wanted ? 1 : 0) - (b >= wanted ? 1 : 0);
    };
    int result = verdict(free_[i], free_[j]);
    const uint32_t block_i = topology_.block_of[i], block_j = topology_.block_of[j];
    if (result == 0 && free_[i] < wanted && block_i != block_j) {
      result = verdict(block_free_[block_i], block_free_[block_j]);
    }
    return result != 0 ? result > 0 : free_[i] > free_[j];
  }

  const Topology& topology_;
  std::vector<int64_t> free_, distance_;  // by leaf; the distance to all leaves used
  std::vector<int64_t> block_free_;
};

struct Domain {
  uint32_t id = 0;
  int64_t slices = 0, rest = 0;  // what does not make a slice
  int64_t given = 0;
};

// What Kueue does with the domains of one level.
class TasSearch {
 public:
  TasSearch(const Topology& topology, Room room, const TasRequest& request)
      : topology_{topology}, request_{request} {
    auto& nodes = levels_[2];
    auto& leaves = levels_[1];
    auto& blocks = levels_[0];
    leaves.resize(topology.block_of.size());
    blocks.resize(topology.blocks);
    for (size_t n = 0; n < room.size(); ++n) {
      nodes.push_back({.id = static_cast<uint32_t>(n),
                       .slices = room[n] / request.slice,
                       .rest = room[n] % request.slice});
      add(leaves[topology.leaf_of[n]], nodes.back(), topology.leaf_of[n]);
    }
    for (uint32_t l = 0; l < leaves.size(); ++l) {
      add(blocks[topology.block_of[l]], leaves[l], topology.block_of[l]);
    }
  }

  TasPlan run() {
    const int64_t wanted = request_.pods / request_.slice;
    auto level = static_cast<size_t>(request_.level);
    std::vector<Domain> chosen;
    int64_t fits = 0;
    while (true) {
      std::vector<Domain> sorted = in_order(levels_[level]);
      if (const auto one = smallest(sorted, wanted); one != sorted.end()) {
        chosen = {*one};
        break;
      }
      for (const Domain& d : sorted) fits = std::max(fits, d.slices);
      if (request_.mode == TasMode::Required) return {{}, fits * request_.slice};
      if (level == 0 || request_.mode == TasMode::Unconstrained) {
        fits = 0;
        for (const Domain& d : sorted) fits += d.slices;
        if (fits < wanted) return {{}, fits * request_.slice};
        chosen = spread(std::move(sorted), wanted);
        break;
      }
      --level;
    }
    for (; level < 2; ++level) chosen = spread(in_order(below(level, chosen)), wanted);
    if (chosen.size() == 1) chosen[0].given = wanted;
    TasPlan result{PlacementPlan(levels_[2].size()), request_.pods};
    for (const Domain& d : chosen) result.plan[d.id] = d.given * request_.slice;
    return result;
  }

 private:
  static void add(Domain& sum, const Domain& part, uint32_t id) {
    sum.id = id;
    sum.slices += part.slices;
    sum.rest += part.rest;
  }
  std::vector<Domain> in_order(std::vector<Domain> domains) const {
    const bool is_ascending = request_.order == TasOrder::LeastFreeCapacity;
    std::ranges::stable_sort(domains, [&](const Domain& a, const Domain& b) {
      if (a.slices != b.slices) return is_ascending ? a.slices < b.slices : a.slices > b.slices;
      return a.rest < b.rest;
    });
    return domains;
  }
  // The one with the least room that suffices, the first of several.
  static std::vector<Domain>::iterator smallest(std::vector<Domain>& sorted, int64_t wanted) {
    auto best = sorted.end();
    for (auto d = sorted.begin(); d != sorted.end(); ++d) {
      if (d->slices >= wanted && (best == sorted.end() || d->slices < best->slices)) best = d;
    }
    return best;
  }
  // One after the other, and what is left goes where it fits tightest.
  static std::vector<Domain> spread(std::vector<Domain> sorted, int64_t wanted) {
    std::vector<Domain> chosen;
    while (wanted > 0 && !sorted.empty()) {
      auto next = sorted.begin();
      if (next->slices >= wanted) next = smallest(sorted, wanted);
      chosen.push_back(*next);
      chosen.back().given = std::min(next->slices, wanted);
      wanted -= chosen.back().given;
      sorted.erase(next);
    }
    return chosen;
  }
  std::vector<Domain> below(size_t level, const std::vector<Domain>& chosen) const {
    std::vector<Domain> children;
    for (const Domain& child : levels_[level + 1]) {
      const uint32_t parent =
          level == 0 ? topology_.block_of[child.id] : topology_.leaf_of[child.id];
      if (std::ranges::find(chosen, parent, &Domain::id) != chosen.end()) children.push_back(child);
    }
    return children;
  }

  const Topology& topology_;
  const TasRequest& request_;
  std::array<std::vector<Domain>, 3> levels_;  // blocks, leaves, nodes
};

}  // namespace

PlacementPlan plan_slurm_tree(const Topology& topology, Room room, int64_t pods) {
  TreeWalk walk{topology, room};
  PlacementPlan plan(room.size());
  while (pods > 0) {
    const uint32_t leaf = walk.best(pods);
    if (leaf == topology.block_of.size()) return {};
    pods -= take_leaf(topology, room, leaf, pods, plan);
    walk.use(leaf);
  }
  return plan;
}

PlacementPlan plan_slurm_block(const Topology& topology, Room room, int64_t pods, int64_t leaf_pods,
                               std::span<const uint32_t> levels) {
  const int64_t leaves_wanted = (pods + leaf_pods - 1) / leaf_pods;
  const auto level =
      std::ranges::find_if(levels, [&](uint32_t k) { return (int64_t{1} << k) >= leaves_wanted; });
  if (level == levels.end()) return {};
  std::vector<int64_t> free = room_of_leaves(topology, room);
  const size_t width = size_t{1} << *level;
  size_t best = free.size();
  int64_t best_free = 0;
  for (size_t first = 0; first < free.size(); first += width) {
    const auto end =
        free.begin() + static_cast<std::ptrdiff_t>(std::min(first + width, free.size()));
    const auto sum =
        std::accumulate(free.begin() + static_cast<std::ptrdiff_t>(first), end, int64_t{0});
    if (sum < pods || (best != free.size() && sum >= best_free)) continue;
    best = first;
    best_free = sum;
  }
  if (best == free.size()) return {};
  // The next smaller aggregates within it, and which of them are in use.
  const size_t inner = level == levels.begin() ? 1 : size_t{1} << *(level - 1);
  std::vector<bool> is_used(free.size());
  PlacementPlan plan(room.size());
  const size_t last = std::min(best + width, free.size());
  while (pods > 0) {
    const auto sum_of = [&](size_t leaf) {
      int64_t sum = 0;
      const size_t first = leaf / inner * inner;
      for (size_t l = first; l < std::min(first + inner, last); ++l) sum += free[l];
      return sum;
    };
    // Aggregates in use first; then what fits, tightest; else what has most.
    const auto is_preferred = [&](size_t a, size_t b) {
      const bool used_a = is_used[a / inner * inner], used_b = is_used[b / inner * inner];
      if (used_a != used_b) return used_a;
      for (const auto& [x, y] : {std::pair{sum_of(a), sum_of(b)}, std::pair{free[a], free[b]}}) {
        if (x == y) continue;
        if ((x >= pods) != (y >= pods)) return x >= pods;
        return x >= pods ? x < y : x > y;
      }
      return false;
    };
    size_t next = last;
    for (size_t l = best; l < last; ++l) {
      if (free[l] > 0 && (next == last || is_preferred(l, next))) next = l;
    }
    pods -= take_leaf(topology, room, static_cast<uint32_t>(next), pods, plan);
    free[next] = 0;
    is_used[next / inner * inner] = true;
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

TasPlan plan_kueue(const Topology& topology, Room room, const TasRequest& request) {
  return TasSearch{topology, room, request}.run();
}

PlacementPlan plan_hypernode(const Topology& topology, Room room, Room idle_room, int64_t pods,
                             int32_t highest_tier) {
  const auto domain_of = [&](size_t node, int32_t tier) -> uint32_t {
    if (tier >= 3) return 0;
    const uint32_t leaf = topology.leaf_of[node];
    return tier == 1 ? leaf : topology.block_of[leaf];
  };
  for (int32_t tier = 1; tier <= highest_tier; ++tier) {
    std::vector<int64_t> free(tier == 1 ? topology.block_of.size() : topology.blocks + size_t{1});
    std::vector<int64_t> idle(free.size());
    for (size_t n = 0; n < room.size(); ++n) {
      free[domain_of(n, tier)] += room[n];
      idle[domain_of(n, tier)] += idle_room[n];
    }
    size_t best = free.size();
    for (size_t d = 0; d < free.size(); ++d) {
      if (free[d] < pods) continue;
      // The share that is free, a / b < c / d as a * d < c * b.
      if (best == free.size() || free[d] * idle[best] < free[best] * idle[d]) best = d;
    }
    if (best == free.size()) continue;
    PlacementPlan plan(room.size());
    for (size_t n = 0; n < room.size(); ++n) plan[n] = domain_of(n, tier) == best ? room[n] : 0;
    return plan;
  }
  return {};
}

double hypernode_score(const Topology& topology, uint32_t node, std::optional<uint32_t> placed) {
  constexpr int kTiers = 3;
  if (!placed) return 0;
  const uint32_t a = topology.leaf_of[node], b = topology.leaf_of[*placed];
  const int common = a == b ? 1 : topology.block_of[a] == topology.block_of[b] ? 2 : 3;
  return 100.0 * (kTiers - common + 1) / kTiers;
}

PlacementPlan plan_consolidated(Room room, int64_t node_pods, int64_t pods) {
  PlacementPlan plan(room.size());
  if (pods <= node_pods) {
    size_t best = room.size();
    for (size_t n = 0; n < room.size(); ++n) {
      if (room[n] >= pods && (best == room.size() || room[n] < room[best])) best = n;
    }
    if (best == room.size()) return {};
    plan[best] = pods;
    return plan;
  }
  std::vector<size_t> order(room.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return room[a] > room[b]; });
  for (const size_t n : order) {
    const int64_t wanted = std::min(pods, node_pods);
    if (room[n] < wanted) return {};
    plan[n] = wanted;
    pods -= wanted;
    if (pods == 0) return plan;
  }
  return {};
}

}  // namespace orrery
