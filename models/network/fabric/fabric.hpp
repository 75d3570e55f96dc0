// models/network/fabric/fabric.hpp -- switches, cables and directed links of a fat tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/network/fabric/fat_tree.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

using SwitchId = Id<struct SwitchTag>;
using CableId = Id<struct CableTag>;

enum class SwitchTier : uint8_t { Leaf, Spine, Core };
constexpr std::array<std::string_view, 3> enum_names(SwitchTier) {
  return {"leaf", "spine", "core"};
}

// A cable joins a NIC or a switch with a switch one tier higher. It has two links: one that leads
// up, away from the NICs, and one that leads down.
constexpr LinkId up_link(CableId cable) { return {2 * cable.index}; }
constexpr LinkId down_link(CableId cable) { return {2 * cable.index + 1}; }
constexpr CableId cable_of(LinkId link) { return {link.index / 2}; }
constexpr LinkId opposite(LinkId link) { return {link.index ^ 1U}; }
constexpr bool leads_up(LinkId link) { return link.index % 2 == 0; }

// The ends of a cable. The lower end is a NIC if `nic` is valid, else the switch `lower`.
struct CableEnds {
  NicId nic{};
  SwitchId lower{};
  SwitchId upper{};
};

// Ids are computed, so an id is the same in every run of a scenario. The ids of switches begin with
// the leaves. Then come the spines, block by block, and then the cores, group by group. The ids of
// cables begin with the NIC cables: cable i is that of NIC i. Then come the cables from leaf to
// spine, leaf by leaf, and then those from spine to core, spine by spine. The cables above one
// switch are in the order of its up-ports. Example with 8 NICs and 2 leaves of 2 up-ports
// each: cables 0-7 lead to the NICs, 8-9 lead up from leaf 0, and 10-11 from leaf 1.
class Fabric {
 public:
  Fabric() = default;
  // Layout and tree must be without mistakes, see build_fabric().
  Fabric(FabricLayout layout, const FatTree& tree);

  const FatTree& tree() const { return tree_; }
  size_t nics() const { return slot_of_.size(); }
  size_t nodes() const { return layout_.node_rates.size(); }
  uint32_t switches() const { return tree_.leaves + tree_.spines() + tree_.cores(); }
  uint32_t cables() const { return spine_cables_ + tree_.spine_cables(); }
  uint32_t links() const { return 2 * cables(); }

  // ---- NICs
  NicId nic(NodeId node, uint32_t index) const { return {layout_.nic_begin[node.index] + index}; }
  uint32_t nics_of(NodeId node) const {
    return layout_.nic_begin[node.index + 1] - layout_.nic_begin[node.index];
  }
  NodeId node_of(NicId nic) const;
  SwitchId leaf_of(NicId nic) const { return {layout_.leaf_of[nic.index]}; }
  uint32_t slot_of(NicId nic) const { return slot_of_[nic.index]; }  // down-port of the NIC's leaf
  // Numbers the NICs leaf by leaf, and in a leaf by down-port. If a leaf has fewer NICs than the
  // fullest leaf, the numbers of its free down-ports stay unused. D-mod-K uses this number in place
  // of the LID.
  uint32_t rank_of(NicId nic) const {
    return layout_.leaf_of[nic.index] * tree_.leaf_down + slot_of_[nic.index];
  }

  // ---- switches. A block is the set of leaves below the same spines. Spines are numbered from 0
  // in their block. Core group j connects spine j of every block.
  SwitchTier tier(SwitchId s) const {
    return s.index < tree_.leaves                    ? SwitchTier::Leaf
           : s.index < tree_.leaves + tree_.spines() ? SwitchTier::Spine
                                                     : SwitchTier::Core;
  }
  uint32_t block_of_leaf(SwitchId leaf) const { return block_of_[leaf.index]; }
  SwitchId spine(uint32_t block, uint32_t j) const {
    return {tree_.leaves + block * tree_.spines_per_block + j};
  }
  SwitchId core(uint32_t group, uint32_t i) const {
    return {tree_.leaves + tree_.spines() + group * tree_.cores_per_group + i};
  }
  // Up-port `port` of a leaf leads to spine spine_behind(port) of the leaf's block. Up-port `port`
  // of a spine leads to core core_behind(port) of the spine's core group.
  uint32_t spine_behind(uint32_t port) const { return port % tree_.spines_per_block; }
  uint32_t core_behind(uint32_t port) const { return port % tree_.cores_per_group; }

  // ---- cables and links
  CableId nic_cable(NicId nic) const { return {nic.index}; }
  CableId leaf_cable(SwitchId leaf, uint32_t port) const {
    return {leaf_cables_ + leaf.index * tree_.leaf_up + port};
  }
  CableId spine_cable(uint32_t block, uint32_t j, uint32_t port) const {
    return {spine_cables_ + (block * tree_.spines_per_block + j) * tree_.spine_up + port};
  }
  CableEnds ends(CableId cable) const;
  std::vector<CableId> cables_of(SwitchId s) const;  // in order of ids
  Bandwidth nominal(CableId cable) const {
    return cable.index < leaf_cables_ ? nic_rate(NicId{cable.index}) : tree_.port_rate;
  }
  Bandwidth nic_rate(NicId nic) const;

  // ---- names in the output: leaf-3, host-2.nic-0, leaf-3.up-5, and leaf-3.up-5/down for the
  // downward link. The finders return an invalid id for an unknown name.
  std::string name(SwitchId s) const;
  std::string name(CableId cable) const;
  std::string name(LinkId link) const;
  SwitchId find_switch(std::string_view name) const;
  CableId find_cable(std::string_view name) const;

  size_t memory_bytes() const;

 private:
  FabricLayout layout_;
  FatTree tree_;
  uint32_t leaf_cables_ = 0, spine_cables_ = 0;  // first ids of the cables above leaves and spines
  std::vector<uint32_t> slot_of_;                // by NIC
  std::vector<uint32_t> block_of_;               // by leaf
};

}  // namespace orrery
