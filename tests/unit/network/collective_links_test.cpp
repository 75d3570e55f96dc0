#include "models/network/collectives/collective_links.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "models/network/fabric/build_fabric.hpp"
#include "models/network/fabric/link_state.hpp"
#include "models/network/routing/routing.hpp"

namespace orrery {
namespace {

// One switch connects all NICs. NIC i sends on link 2i and receives on link 2i + 1.
class Star {
 public:
  RouteFinder finder() {
    return [this](NicId from, NicId to, uint32_t flow) {
      flows_.push_back(flow);
      links_ = {LinkId{2 * from.index}, LinkId{2 * to.index + 1}};
      return std::span<const LinkId>{links_};
    };
  }
  const std::vector<uint32_t>& flows() const { return flows_; }

 private:
  std::array<LinkId, 2> links_{};
  std::vector<uint32_t> flows_;
};

std::vector<NicId> first_nics(uint32_t count) {
  std::vector<NicId> nics;
  for (uint32_t i = 0; i < count; ++i) nics.push_back({i});
  return nics;
}

double sent(const FabricActivity& activity, uint32_t nic) {
  for (const LinkUse& use : activity.uses) {
    if (use.link.index == 2 * nic) return use.weight;
  }
  return 0;
}
double received(const FabricActivity& activity, uint32_t nic) {
  for (const LinkUse& use : activity.uses) {
    if (use.link.index == 2 * nic + 1) return use.weight;
  }
  return 0;
}

TEST(FabricActivity, OfARingLoadsEveryNicWithItsRailsShare) {
  Star star;
  const std::vector<NicId> nics = first_nics(4 * 8);
  const FabricActivity activity =
      fabric_activity({.nics = nics, .rails = 8, .ranks_per_node = 8}, star.finder());
  EXPECT_TRUE(activity.is_connected);
  ASSERT_EQ(activity.uses.size(), 64U);
  for (uint32_t nic = 0; nic < 32; ++nic) {
    EXPECT_DOUBLE_EQ(sent(activity, nic), bus_factor(Collective::AllReduce, 32) / 8);
    EXPECT_DOUBLE_EQ(received(activity, nic), bus_factor(Collective::AllReduce, 32) / 8);
  }
}

TEST(FabricActivity, OfABroadcastDoesNotComeBackToItsRoot) {
  Star star;
  const std::vector<NicId> nics = first_nics(4);
  const FabricActivity activity =
      fabric_activity({.collective = Collective::Broadcast, .nics = nics}, star.finder());
  EXPECT_DOUBLE_EQ(received(activity, 0), 0);
  EXPECT_DOUBLE_EQ(sent(activity, 0), 1);
  EXPECT_DOUBLE_EQ(sent(activity, 3), 0);
}

// An all-reduce uses two trees, each for half of the buffer. In each tree a node sends half a
// buffer to its parent and half a buffer to each child. Over both trees, no node sends more than
// two buffers.
TEST(FabricActivity, OfTreesLoadsNoNicMoreThanARingOfManyNodes) {
  for (const uint32_t nodes : {2U, 3U, 4U, 5U, 8U, 13U, 64U, 100U}) {
    Star star;
    const std::vector<NicId> nics = first_nics(nodes);
    const FabricActivity activity =
        fabric_activity({.pattern = Pattern::Tree, .nics = nics}, star.finder());
    double sum = 0;
    for (uint32_t nic = 0; nic < nodes; ++nic) {
      EXPECT_LE(sent(activity, nic), 2.0) << nodes;
      EXPECT_DOUBLE_EQ(sent(activity, nic), received(activity, nic)) << nodes;
      sum += sent(activity, nic);
    }
    EXPECT_DOUBLE_EQ(sum, 2.0 * (nodes - 1)) << "as much as a ring moves in all";
  }
}

TEST(FabricActivity, OfAnAllToAllCarriesWhatLeavesTheNodes) {
  Star star;
  const std::vector<NicId> nics = first_nics(4 * 2);
  const FabricActivity activity = fabric_activity({.collective = Collective::AllToAll,
                                                   .pattern = Pattern::Direct,
                                                   .nics = nics,
                                                   .rails = 2,
                                                   .ranks_per_node = 8},
                                                  star.finder());
  // There are 4 nodes of 8 ranks. Each rank sends 24 of the 32 parts of its buffer to other nodes.
  // A node has 2 NICs.
  EXPECT_DOUBLE_EQ(sent(activity, 0), 8 * 24.0 / 32 / 2);
  EXPECT_DOUBLE_EQ(received(activity, 7), 8 * 24.0 / 32 / 2);
}

TEST(FabricActivity, OfParameterServersLoadsThemByTheWorkers) {
  Star star;
  const std::vector<NicId> nics = first_nics(6);
  const FabricActivity activity = fabric_activity(
      {.collective = Collective::PushPull, .pattern = Pattern::Direct, .nics = nics, .servers = 2},
      star.finder());
  EXPECT_DOUBLE_EQ(sent(activity, 0), 1);
  EXPECT_DOUBLE_EQ(received(activity, 0), 1);
  EXPECT_DOUBLE_EQ(received(activity, 4), 2) << "4 workers push half of the buffer each";
  EXPECT_DOUBLE_EQ(sent(activity, 5), 2);
}

TEST(FabricActivity, OfRailsMovesWhatNodesHaveLeftToShare) {
  for (const Collective collective :
       {Collective::AllReduce, Collective::AllGather, Collective::Broadcast}) {
    Star star;
    const std::vector<NicId> nics = first_nics(4 * 8);
    const FabricActivity activity = fabric_activity({.collective = collective,
                                                     .pattern = Pattern::Rails,
                                                     .nics = nics,
                                                     .rails = 8,
                                                     .ranks_per_node = 8},
                                                    star.finder());
    EXPECT_DOUBLE_EQ(sent(activity, 0), bus_factor(collective, 4) / 8);
  }
}

double heaviest(const FabricActivity& activity) {
  return std::ranges::max(activity.uses, {}, &LinkUse::weight).weight;
}

TEST(FabricActivity, OfTreesLoadsTheBusiestNicTwiceTheBufferFromFourNodesOn) {
  const auto of_nodes = [](uint32_t nodes) {
    Star star;
    const std::vector<NicId> nics = first_nics(nodes);
    return heaviest(fabric_activity({.pattern = Pattern::Tree, .nics = nics}, star.finder()));
  };
  EXPECT_DOUBLE_EQ(of_nodes(2), 1);
  EXPECT_DOUBLE_EQ(of_nodes(3), 1.5);
  for (const uint32_t nodes : {4U, 5U, 8U, 13U, 64U, 100U}) EXPECT_DOUBLE_EQ(of_nodes(nodes), 2);
}

// A non-blocking fat tree of 32 hosts on eight leaves.
class SmallTree {
 public:
  RouteFinder finder() {
    return [this](NicId from, NicId to, uint32_t flow) {
      found_ = router_.route(from, to, flow);
      return std::span<const LinkId>{found_.begin(), found_.end()};
    };
  }

 private:
  static Fabric built() {
    std::vector<FabricNode> nodes;
    for (uint32_t n = 0; n < 32; ++n) {
      nodes.push_back({.group = n / 4, .nics = 1, .nic_rate = 400_Gbps});
    }
    FabricParams params;
    params.radix = 8;
    BuiltFabric made = build_fabric(params, nodes);
    EXPECT_TRUE(made.mistakes.empty());
    return std::move(made.fabric);
  }
  Fabric fabric_ = built();
  LinkState state_{fabric_, {}};
  Router router_{fabric_, state_, {}, 1};
  Route found_;
};

// The sums go up a tree to NIC 0, and the result comes back on the same cables. The tree has the
// cables of 32 NICs, and one cable from each of eight leaves to one spine. Both links of each cable
// are used: 2 * (32 + 8).
TEST(FabricActivity, OfSumsLoadsEveryLinkOfOneTreeOnceEachWay) {
  SmallTree tree;
  const std::vector<NicId> nics = first_nics(32);
  const FabricActivity activity =
      fabric_activity({.pattern = Pattern::Sums, .nics = nics}, tree.finder());
  EXPECT_EQ(activity.uses.size(), 2U * (32 + 8));
  for (const LinkUse& use : activity.uses) EXPECT_DOUBLE_EQ(use.weight, 1);
}

TEST(FabricActivity, OfParameterServersLoadsTheBusiestLinkAsTheClosedFormSays) {
  SmallTree tree;
  const std::vector<NicId> nics = first_nics(32);
  for (const bool is_colocated : {false, true}) {
    for (const int32_t servers : {1, 2, 4, 8, 16, 31}) {
      const FabricActivity activity = fabric_activity({.collective = Collective::PushPull,
                                                       .pattern = Pattern::Direct,
                                                       .nics = nics,
                                                       .servers = servers,
                                                       .is_colocated = is_colocated},
                                                      tree.finder());
      EXPECT_NEAR(heaviest(activity),
                  server_load({.workers = is_colocated ? 32 : 32 - servers,
                               .servers = servers,
                               .rate = {},
                               .is_colocated = is_colocated,
                               .is_overlapped = true}),
                  1e-9)
          << servers;
    }
  }
}

TEST(FabricActivity, GivesEveryQueuePairItsOwnFlow) {
  Star star;
  const std::vector<NicId> nics = first_nics(3);
  const FabricActivity activity =
      fabric_activity({.nics = nics, .flows_per_connection = 2, .first_flow = 10}, star.finder());
  EXPECT_EQ(star.flows(), (std::vector<uint32_t>{10, 11, 12, 13, 14, 15}));
  EXPECT_DOUBLE_EQ(sent(activity, 0), bus_factor(Collective::AllReduce, 3));
}

TEST(FabricActivity, TellsThatARouteIsMissing) {
  const std::vector<NicId> nics = first_nics(2);
  const FabricActivity activity = fabric_activity(
      {.nics = nics}, [](NicId, NicId, uint32_t) { return std::span<const LinkId>{}; });
  EXPECT_FALSE(activity.is_connected);
  EXPECT_TRUE(activity.uses.empty());
}

TEST(FabricActivity, OfOneNodeUsesNoLink) {
  Star star;
  const std::vector<NicId> nics = first_nics(8);
  const FabricActivity activity =
      fabric_activity({.nics = nics, .rails = 8, .ranks_per_node = 8}, star.finder());
  EXPECT_TRUE(activity.uses.empty());
  EXPECT_TRUE(activity.is_connected);
}

TEST(BinaryTree, HasOneRootTwoChildrenAtMostAndLogarithmicDepth) {
  for (const int32_t nodes : {1, 2, 3, 7, 8, 9, 100, 1024}) {
    const std::vector<int32_t> parents = binary_tree(nodes);
    std::map<int32_t, int> children;
    int32_t roots = 0;
    for (const int32_t parent : parents) {
      if (parent < 0) {
        ++roots;
      } else {
        EXPECT_LE(++children[parent], 2) << nodes;
      }
    }
    EXPECT_EQ(roots, 1) << nodes;
    for (int32_t node = 0; node < nodes; ++node) {
      int32_t depth = 0;
      for (int32_t at = node; parents[static_cast<size_t>(at)] >= 0; ++depth) {
        at = parents[static_cast<size_t>(at)];
      }
      EXPECT_LE(1 << std::max(depth - 2, 0), nodes) << nodes;
    }
  }
}

}  // namespace
}  // namespace orrery
