#include "models/scheduling/toolbox/room_on.hpp"

#include <algorithm>
#include <numeric>

#include "sim/core/check.hpp"

namespace orrery {

Topology::Topology(std::vector<uint32_t> leaf_of, std::vector<uint32_t> block_of)
    : leaf_of_{std::move(leaf_of)},
      block_of_{std::move(block_of)},
      nodes_{children_of(leaf_of_)},
      leaves_{children_of(block_of_)} {
  // children_of() makes no entries for leaves after the last leaf that has a node.
  nodes_.begin.resize(block_of_.size() + 1, static_cast<uint32_t>(leaf_of_.size()));
}

Topology::Children Topology::children_of(const std::vector<uint32_t>& parents) {
  Children children;
  if (!parents.empty()) children.begin.resize(std::ranges::max(parents) + size_t{2});
  for (const uint32_t parent : parents) ++children.begin[parent + 1];
  std::partial_sum(children.begin.begin(), children.begin.end(), children.begin.begin());
  children.all.resize(parents.size());
  std::vector<uint32_t> next = children.begin;
  for (uint32_t i = 0; i < parents.size(); ++i) children.all[next[parents[i]]++] = i;
  return children;
}

RoomOn::RoomOn(const Topology& topology, Options options)
    : topology_{&topology},
      options_{options},
      by_node_(topology.nodes()),
      by_leaf_(topology.leaves()),
      by_block_(topology.blocks()) {}

RoomOn::RoomOn(const Topology& topology, Options options, std::span<const int64_t> by_node)
    : RoomOn{topology, options} {
  for (uint32_t n = 0; n < by_node.size(); ++n) set(n, by_node[n]);
}

void RoomOn::set(uint32_t node, int64_t pods) {
  const int64_t before = by_node_[node];
  if (pods == before) return;
  ORRERY_CHECK(pods >= 0 && pods <= INT32_MAX, "a node has room for 0 to INT32_MAX pods");
  by_node_[node] = static_cast<int32_t>(pods);
  const Sum change{pods - before, pods / options_.slice - before / options_.slice};
  const uint32_t leaf = topology_->leaf_of(node);
  by_leaf_[leaf] += change;
  by_block_[topology_->block_of(leaf)] += change;
  anywhere_ += change;
  if (!options_.keeps_order) return;
  if (before == 0) {
    order_.emplace(pods, node);
  } else if (auto place = order_.extract({before, node}); pods > 0) {
    place.value().first = pods;
    order_.insert(std::move(place));
  }
}

}  // namespace orrery
