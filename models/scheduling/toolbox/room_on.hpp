// models/scheduling/toolbox/room_on.hpp -- how many pods of one spec fit on each node, and on all
// nodes below each switch.
#pragma once

#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace orrery {

// Nodes are connected to leaves, leaves to blocks, and all blocks to one root. Nodes, leaves and
// blocks are numbered from 0.
class Topology {
 public:
  Topology() = default;
  // `leaf_of` is the leaf of each node, `block_of` the block of each leaf.
  Topology(std::vector<uint32_t> leaf_of, std::vector<uint32_t> block_of);

  uint32_t nodes() const { return static_cast<uint32_t>(leaf_of_.size()); }
  uint32_t leaves() const { return static_cast<uint32_t>(block_of_.size()); }
  uint32_t blocks() const { return static_cast<uint32_t>(leaves_.begin.size()) - 1; }
  uint32_t leaf_of(uint32_t node) const { return leaf_of_[node]; }
  uint32_t block_of(uint32_t leaf) const { return block_of_[leaf]; }
  // The nodes below a leaf and the leaves below a block, in ascending order.
  std::span<const uint32_t> nodes_of(uint32_t leaf) const { return nodes_.below(leaf); }
  std::span<const uint32_t> leaves_of(uint32_t block) const { return leaves_.below(block); }

 private:
  struct Children {
    // begin[p] is where the children of parent p begin in `all`. The last entry is all.size().
    std::vector<uint32_t> begin{0};
    std::vector<uint32_t> all;
    std::span<const uint32_t> below(uint32_t parent) const {
      return std::span{all}.subspan(begin[parent], begin[parent + 1] - begin[parent]);
    }
  };
  static Children children_of(const std::vector<uint32_t>& parents);

  std::vector<uint32_t> leaf_of_, block_of_;
  Children nodes_, leaves_;
};

// Room for pods on each node, and its sums over leaves and blocks. set() changes a node and updates
// the sums, so no caller has to visit all nodes. Example: nodes 0 and 1 of leaf 0 have room for 3
// and 5 pods, so the leaf has room for 8. When the room of node 1 falls to 2, the leaf has room
// for 5.
class RoomOn {
 public:
  struct Options {
    int64_t slice = 1;         // number of pods that must share a node; at least 1
    bool keeps_order = false;  // sorts nodes by room, which costs O(log nodes) for each change
  };
  struct Sum {
    int64_t pods = 0, slices = 0;
    Sum& operator+=(const Sum& other) {
      pods += other.pods;
      slices += other.slices;
      return *this;
    }
  };
  using Order = std::set<std::pair<int64_t, uint32_t>>;

  // Without `by_node`, no node has room at first. With it, node n has room for by_node[n] pods. The
  // topology must outlive this object.
  RoomOn(const Topology& topology, Options options);
  RoomOn(const Topology& topology, Options options, std::span<const int64_t> by_node);

  void set(uint32_t node, int64_t pods);

  const Topology& topology() const { return *topology_; }
  int64_t slice() const { return options_.slice; }
  int64_t on_node(uint32_t node) const { return by_node_[node]; }
  Sum in_leaf(uint32_t leaf) const { return by_leaf_[leaf]; }
  Sum in_block(uint32_t block) const { return by_block_[block]; }
  Sum anywhere() const { return anywhere_; }
  // Pairs of room and node for all nodes with room, ascending. Needs keeps_order.
  const Order& order() const { return order_; }
  // Calls take(node, pods) for each node with room, most slices first. Nodes with equally many
  // slices are in ascending order of their room and then of their number. Stops when take() returns
  // false. Needs keeps_order.
  template <class Take>
  void for_each_fullest_first(Take&& take) const {
    for (auto end = order_.end(); end != order_.begin();) {
      const int64_t least = std::prev(end)->first / options_.slice * options_.slice;
      const auto begin = order_.lower_bound({least, 0});
      for (auto at = begin; at != end; ++at) {
        if (!take(at->second, at->first)) return;
      }
      end = begin;
    }
  }

 private:
  const Topology* topology_;
  Options options_;
  std::vector<int32_t> by_node_;
  std::vector<Sum> by_leaf_, by_block_;
  Sum anywhere_;
  Order order_;
};

}  // namespace orrery
