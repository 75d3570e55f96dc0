#include "models/network/fabric/fabric.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/network/fabric/link_state.hpp"
#include "sim/core/enum_names.hpp"
#include "tests/support/fabrics.hpp"

namespace orrery {
namespace {

using test::full_tree;
using test::SmallFabric;
using test::trees;
using testing::Each;
using testing::HasSubstr;

// The mistakes found while building the fabric, as "field: message".
std::vector<std::string> mistakes_of(const FabricParams& params, const SmallFabric& wanted) {
  std::vector<std::string> logged;
  for (const FabricMistake& mistake : build_fabric(params, wanted.nodes()).mistakes) {
    logged.push_back(std::string{mistake.field} + ": " + mistake.message);
  }
  return logged;
}

TEST(Fabric, NoSwitchHasMoreCablesThanPorts) {
  for (const Fabric& fabric : trees()) {
    for (uint32_t s = 0; s < fabric.switches(); ++s) {
      EXPECT_LE(fabric.cables_of({s}).size(), fabric.tree().radix) << fabric.name(SwitchId{s});
    }
  }
}

TEST(Fabric, EveryCableEndsOnTheSwitchesThatListIt) {
  for (const Fabric& fabric : trees()) {
    std::map<CableId, std::set<SwitchId>> listed;
    for (uint32_t s = 0; s < fabric.switches(); ++s) {
      for (const CableId cable : fabric.cables_of({s})) {
        EXPECT_TRUE(listed[cable].insert({s}).second) << fabric.name(cable);
      }
    }
    ASSERT_EQ(listed.size(), fabric.cables());
    for (const auto& [cable, ends] : listed) {
      const CableEnds joined = fabric.ends(cable);
      std::set<SwitchId> expected{joined.upper};
      if (!joined.nic.is_valid()) expected.insert(joined.lower);
      EXPECT_EQ(ends, expected) << fabric.name(cable);
      if (joined.nic.is_valid()) {
        EXPECT_EQ(fabric.tier(joined.upper), SwitchTier::Leaf);
      } else {
        EXPECT_EQ(static_cast<int>(fabric.tier(joined.upper)),
                  static_cast<int>(fabric.tier(joined.lower)) + 1);
      }
    }
  }
}

TEST(Fabric, EachSwitchHasAsManyCablesToEverySwitchAboveIt) {
  for (const Fabric& fabric : trees()) {
    std::map<std::pair<SwitchId, SwitchId>, int> pairs;
    for (uint32_t c = static_cast<uint32_t>(fabric.nics()); c < fabric.cables(); ++c) {
      const CableEnds ends = fabric.ends({c});
      ++pairs[{ends.lower, ends.upper}];
    }
    std::map<SwitchTier, std::set<int>> counts;
    for (const auto& [pair, cables] : pairs) counts[fabric.tier(pair.first)].insert(cables);
    for (const auto& [tier, cables] : counts) EXPECT_EQ(cables.size(), 1U) << name_of(tier);
  }
}

// Three SuperPOD units: 24 leaves of 32 NICs each. Their 768 up-ports would fill 12 spines of 64
// ports. But a leaf's 32 up-ports divide evenly by 16 spines, not by 12.
TEST(Fabric, MoreSpinesThanPortsAskForKeepTheTreeEven) {
  const Fabric fabric = SmallFabric{.groups = 3, .nodes_per_group = 32, .nics = 8}.build({});
  EXPECT_EQ(fabric.tree().leaf_up, 32U);
  EXPECT_EQ(fabric.tree().spines(), 16U);
  // A leaf of 31 NICs gets 32 up-ports, which divide evenly by 2 spines. 31 up-ports would need 31
  // spines.
  const Fabric odd = SmallFabric{.groups = 4, .nodes_per_group = 31}.build({});
  EXPECT_EQ(odd.tree().leaf_up, 32U);
  EXPECT_EQ(odd.tree().spines(), 2U);
}

TEST(Fabric, NamesLeadBackToWhatTheyName) {
  for (const Fabric& fabric : trees()) {
    for (uint32_t s = 0; s < fabric.switches(); ++s) {
      EXPECT_EQ(fabric.find_switch(fabric.name(SwitchId{s})), SwitchId{s});
    }
    std::set<std::string> seen;
    for (uint32_t c = 0; c < fabric.cables(); ++c) {
      EXPECT_EQ(fabric.find_cable(fabric.name(CableId{c})), CableId{c});
      EXPECT_TRUE(seen.insert(fabric.name(CableId{c})).second) << fabric.name(CableId{c});
    }
  }
}

TEST(Fabric, NamesOfNothingFindNothing) {
  const Fabric fabric = full_tree(4, 3);  // 16 hosts, 8 leaves, 8 spines, 4 cores
  for (const char* name : {"", "leaf", "leaf-", "leaf-8", "leaf-01", "leaf--1", "leaf-1 ", "core-4",
                           "spine-99999999999", "block-1"}) {
    EXPECT_FALSE(fabric.find_switch(name).is_valid()) << name;
  }
  for (const char* name : {"", ".", "leaf-0.up-2", "core-0.up-0", "host-16.nic-0", "host-0.nic-1",
                           "host-0.up-0", "leaf-0.nic-0", "spine-0.up-2", "leaf-0"}) {
    EXPECT_FALSE(fabric.find_cable(name).is_valid()) << name;
  }
}

TEST(Fabric, NamesTellTierAndPort) {
  const Fabric fabric = full_tree(4, 3);
  EXPECT_EQ(fabric.name(fabric.nic_cable({5})), "host-5.nic-0");
  EXPECT_EQ(fabric.name(up_link(fabric.leaf_cable({3}, 1))), "leaf-3.up-1/up");
  EXPECT_EQ(fabric.name(down_link(fabric.spine_cable(2, 1, 0))), "spine-5.up-0/down");
}

TEST(Fabric, EachNicOfANodeHangsOnItsOwnRail) {
  const Fabric fabric = SmallFabric{.groups = 3, .nodes_per_group = 4, .nics = 8}.build({});
  EXPECT_EQ(fabric.tree().leaves, 24U);
  for (uint32_t n = 0; n < 12; ++n) {
    for (uint32_t k = 0; k < 8; ++k) {
      const NicId nic = fabric.nic({n}, k);
      EXPECT_EQ(fabric.leaf_of(nic), (SwitchId{n / 4 * 8 + k}));
      EXPECT_EQ(fabric.slot_of(nic), n % 4);
      EXPECT_EQ(fabric.node_of(nic), NodeId{n});
    }
  }
}

TEST(Fabric, WithOneRailAllNicsOfAGroupShareALeaf) {
  FabricParams params;
  params.rails = 1;
  const Fabric fabric = SmallFabric{.groups = 3, .nodes_per_group = 4, .nics = 8}.build(params);
  EXPECT_EQ(fabric.tree().leaves, 3U);
  EXPECT_EQ(fabric.tree().leaf_down, 32U);
  EXPECT_EQ(fabric.leaf_of({95}), SwitchId{2});
}

TEST(Fabric, NodesWithoutNicsTakeNoPorts) {
  const std::vector<FabricNode> nodes{{.group = 0, .nics = 0},
                                      {.group = 1, .nics = 2, .nic_rate = 100_Gbps},
                                      {.group = 2, .nics = 0},
                                      {.group = 1, .nics = 1, .nic_rate = 400_Gbps}};
  const BuiltFabric built = build_fabric({}, nodes);
  ASSERT_TRUE(built.mistakes.empty());
  const Fabric& fabric = built.fabric;
  EXPECT_EQ(fabric.tree().leaves, 2U);
  EXPECT_EQ(fabric.nics_of({0}), 0U);
  EXPECT_EQ(fabric.node_of({0}), NodeId{1});
  EXPECT_EQ(fabric.node_of({2}), NodeId{3});
  EXPECT_EQ(fabric.nominal(fabric.nic_cable({0})), 100_Gbps);
  EXPECT_EQ(fabric.nominal(fabric.leaf_cable({0}, 0)), 400_Gbps);
}

TEST(Fabric, ANicIsNoFasterThanItsPort) {
  FabricParams params;
  params.bandwidth = 200_Gbps;
  const Fabric fabric = SmallFabric{.groups = 2, .nodes_per_group = 2}.build(params);
  EXPECT_EQ(fabric.nominal(fabric.nic_cable({0})), 200_Gbps);
}

TEST(Fabric, OversubscriptionSavesUpPortsAndSpines) {
  FabricParams params;
  params.oversubscription = 3;
  const Fabric fabric = SmallFabric{.groups = 16, .nodes_per_group = 48}.build(params);
  EXPECT_EQ(fabric.tree().leaf_down, 48U);
  EXPECT_EQ(fabric.tree().leaf_up, 16U);
  EXPECT_EQ(fabric.tree().spines(), 4U);
}

TEST(Fabric, AsManyHostsFitAsTheRadixAllows) {
  for (const int32_t radix : {8, 16, 40, 64}) {
    const auto half = static_cast<size_t>(radix / 2);
    EXPECT_EQ(full_tree(radix, 2).nics(), 2 * half * half);
  }
  const Fabric fabric = full_tree(40, 3);
  EXPECT_EQ(fabric.nics(), 16'000U);  // radix^3 / 4
  EXPECT_EQ(fabric.tree().cores(), 400U);
  FabricParams params;
  params.radix = 8;
  const SmallFabric too_many{.groups = 33, .nodes_per_group = 4};
  EXPECT_THAT(mistakes_of(params, too_many),
              testing::ElementsAre(HasSubstr("radix: there are 9 blocks")));
}

TEST(Fabric, AHundredThousandNicsTakeAFewMegabytes) {
  FabricParams params;
  params.radix = 128;  // three levels of switches with 64 ports would hold only 65,536 NICs
  const Fabric fabric = SmallFabric{.groups = 391, .nodes_per_group = 32, .nics = 8}.build(params);
  EXPECT_EQ(fabric.nics(), 100'096U);
  EXPECT_EQ(fabric.tree().levels, 3U);
  EXPECT_LT(fabric.memory_bytes() + LinkState(fabric, {}).memory_bytes(), 4'000'000U);
}

TEST(Fabric, ALeafThatLacksPortsIsAMistake) {
  FabricParams params;
  params.rails = 1;
  EXPECT_THAT(mistakes_of(params, {.groups = 2, .nodes_per_group = 32, .nics = 8}),
              testing::ElementsAre(HasSubstr("radix: leaf-0 has 256 NICs")));
  EXPECT_TRUE(mistakes_of(params, {.groups = 1, .nodes_per_group = 8, .nics = 8}).empty());
}

TEST(Fabric, TwoLevelsThatDoNotSufficeAreAMistake) {
  FabricParams params;
  params.radix = 8;
  params.levels = 2;
  EXPECT_THAT(mistakes_of(params, {.groups = 9, .nodes_per_group = 2}),
              testing::ElementsAre(HasSubstr("levels: two levels join at most 8 leaves")));
}

TEST(Fabric, NicsWithoutBandwidthAreAMistake) {
  EXPECT_THAT(mistakes_of({}, {.groups = 2, .nodes_per_group = 2, .nic_rate = {}}),
              Each(HasSubstr("bandwidth: a node has NICs of no bandwidth")));
  FabricParams params;
  params.bandwidth = Bandwidth{};
  EXPECT_THAT(mistakes_of(params, {.groups = 2, .nodes_per_group = 2}),
              testing::ElementsAre("bandwidth: must be more than 0"));
}

TEST(Fabric, AClusterWithoutNicsHasNothingToJoin) {
  EXPECT_THAT(mistakes_of({}, {.groups = 2, .nodes_per_group = 2, .nics = 0}),
              testing::ElementsAre(HasSubstr("no node has a compute NIC")));
}

}  // namespace
}  // namespace orrery
