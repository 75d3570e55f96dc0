// models/network/fabric/fat_tree.hpp -- sizes a fat tree: switches and cables from radix and NICs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/network/fabric/fabric_params.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// A node in the fabric: its group of leaf switches and its compute NICs.
struct FabricNode {
  uint32_t group = 0;  // ClusterState::leaf() of the node
  uint32_t nics = 1;
  Bandwidth nic_rate = {};
};

// Which NIC is connected to which leaf. Groups of leaves are never split between blocks.
struct FabricLayout {
  std::vector<uint32_t> nic_begin = {0};    // first NIC of each node, and the end
  std::vector<Bandwidth> node_rates;        // rate of each NIC of a node, by node
  std::vector<uint32_t> leaf_of;            // leaf of each NIC
  std::vector<uint32_t> group_begin = {0};  // first leaf of each group, and the end
  std::vector<uint32_t> block_of_group;     // ascending; empty: size_tree() makes blocks
  std::vector<std::string> leaf_names;      // empty: leaf-0, leaf-1, ...
  uint32_t leaves() const { return group_begin.back(); }
};

// A tree of at most three levels. Every leaf has `leaf_up` cables to spines, split evenly over the
// spines of its block. With three levels every spine has `spine_up` cables to cores, split evenly
// over the cores of its core group. With two levels all leaves are one block.
struct FatTree {
  uint32_t levels = 0;  // 1: a single leaf
  uint32_t radix = 0;
  uint32_t leaves = 0;
  uint32_t leaf_down = 0;             // down-ports in use at the fullest leaf
  uint32_t leaf_up = 0;               // up-ports of every leaf
  std::vector<uint32_t> block_begin;  // first leaf of each block, and the end
  uint32_t spines_per_block = 0, spine_up = 0;
  uint32_t cores_per_group = 0;  // core group j joins spine j of every block
  Bandwidth port_rate = {};      // rate of cables between switches

  uint32_t blocks() const {
    return block_begin.empty() ? 0 : static_cast<uint32_t>(block_begin.size() - 1);
  }
  uint32_t spines() const { return blocks() * spines_per_block; }
  uint32_t cores() const { return spines_per_block * cores_per_group; }
  uint32_t leaf_cables() const { return leaves * leaf_up; }
  uint32_t spine_cables() const { return spines() * spine_up; }
};

// A reason why the fabric cannot be built. `field`: the field of network.fabric that should change;
// empty if no single field can help.
struct FabricMistake {
  std::string_view field;
  std::string message;
};
struct SizedTree {
  FatTree tree;
  std::vector<FabricMistake> mistakes;
};

// A group with n leaves connects NIC k of each of its nodes to leaf k modulo n. n is the largest
// number of NICs on a node of the group. If `rails` is above 0, n is at most `rails`.
FabricLayout lay_out(const FabricParams& params, std::span<const FabricNode> nodes);
SizedTree size_tree(const FabricParams& params, const FabricLayout& layout);

}  // namespace orrery
