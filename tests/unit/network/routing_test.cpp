#include "models/network/routing/routing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/core/check.hpp"
#include "sim/core/enum_names.hpp"
#include "sim/core/rng.hpp"
#include "tests/support/fabrics.hpp"

namespace orrery {
namespace {

using test::full_tree;
using test::trees;

constexpr Time kNow{};
constexpr RoutingEngine kEngines[] = {RoutingEngine::Dmodk,         RoutingEngine::Updn,
                                      RoutingEngine::Minhop,        RoutingEngine::Ecmp,
                                      RoutingEngine::AdaptiveLocal, RoutingEngine::AdaptiveGlobal};

// Whether the route leads from one NIC to the other over live cables, first up and then down.
testing::AssertionResult leads(const Fabric& fabric, const LinkState& state, const Route& route,
                               NicId from, NicId to) {
  if (route.size() < 2 || route.size() % 2 != 0) {
    return testing::AssertionFailure() << route.size() << " links";
  }
  SwitchId at{};
  for (size_t i = 0; i < route.size(); ++i) {
    const CableEnds ends = fabric.ends(cable_of(route[i]));
    const bool up = i < route.size() / 2;
    if (leads_up(route[i]) != up) return testing::AssertionFailure() << "not up, then down";
    if (!state.is_up(cable_of(route[i]))) return testing::AssertionFailure() << "a dead cable";
    if (i == 0 ? ends.nic != from : at != (up ? ends.lower : ends.upper)) {
      return testing::AssertionFailure() << "a gap before " << fabric.name(route[i]);
    }
    at = up ? ends.upper : ends.lower;
    if (i + 1 == route.size() && ends.nic != to) return testing::AssertionFailure() << "elsewhere";
  }
  return testing::AssertionSuccess();
}

NicId random_nic(const Fabric& fabric, Rng& rng) {
  return {static_cast<uint32_t>(rng.below(fabric.nics()))};
}

TEST(Routing, EveryEngineLeadsFromAnyNicToAnyOther) {
  for (const Fabric& fabric : trees()) {
    const LinkState state{fabric, {}};
    for (const RoutingEngine engine : kEngines) {
      const Router router{fabric, state, {engine}, 7};
      Rng rng{1};
      for (int i = 0; i < 2'000; ++i) {
        const NicId from = random_nic(fabric, rng), to = random_nic(fabric, rng);
        const Route route = router.route(from, to, static_cast<uint32_t>(i));
        if (from == to) {
          EXPECT_TRUE(route.empty());
        } else {
          EXPECT_TRUE(leads(fabric, state, route, from, to)) << name_of(engine);
        }
      }
    }
  }
}

TEST(Routing, RoutesAreAsShortAsTheTreeAllows) {
  const Fabric fabric = full_tree(4, 3);  // leaves of 2 hosts, blocks of 2 leaves
  const LinkState state{fabric, {}};
  for (const RoutingEngine engine : kEngines) {
    const Router router{fabric, state, {engine}, 7};
    EXPECT_EQ(router.route({0}, {1}).size(), 2U);
    EXPECT_EQ(router.route({0}, {2}).size(), 4U);
    EXPECT_EQ(router.route({0}, {4}).size(), 6U);
  }
}

// If two NICs reach a common switch upwards over live cables, the router must find a route between
// them. Otherwise it must find none.
TEST(Routing, ARouteIsFoundExactlyIfOneIsLeft) {
  for (const Fabric& fabric : trees()) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      LinkState state{fabric, {}};
      Rng rng{seed};
      for (uint32_t c = 0; c < fabric.cables(); ++c) {
        if (rng.chance(0.04 * static_cast<double>(seed))) state.set_up(CableId{c}, false, kNow);
      }
      for (uint32_t s = 0; s < fabric.switches(); ++s) {
        if (rng.chance(0.05)) state.set_up(SwitchId{s}, false, kNow);
      }
      // Switches that each NIC reaches upwards.
      std::vector<std::set<uint32_t>> above(fabric.nics());
      for (uint32_t n = 0; n < fabric.nics(); ++n) {
        std::vector<SwitchId> open;
        if (state.is_up(CableId{n})) open.push_back(fabric.leaf_of({n}));
        while (!open.empty()) {
          const SwitchId s = open.back();
          open.pop_back();
          if (!above[n].insert(s.index).second) continue;
          for (const CableId cable : fabric.cables_of(s)) {
            const CableEnds ends = fabric.ends(cable);
            if (ends.lower == s && state.is_up(cable)) open.push_back(ends.upper);
          }
        }
      }
      for (const RoutingEngine engine : kEngines) {
        const Router router{fabric, state, {engine}, seed};
        for (int i = 0; i < 50; ++i) {
          const NicId from = random_nic(fabric, rng), to = random_nic(fabric, rng);
          if (from == to) continue;
          std::vector<uint32_t> common;
          std::ranges::set_intersection(above[from.index], above[to.index],
                                        std::back_inserter(common));
          const Route route = router.route(from, to, static_cast<uint32_t>(i));
          EXPECT_EQ(route.empty(), common.empty()) << name_of(engine) << " seed " << seed;
          if (route.empty()) continue;
          EXPECT_TRUE(leads(fabric, state, route, from, to)) << name_of(engine);
        }
      }
    }
  }
}

TEST(Routing, AHostWhoseCableIsDeadHasNoRoute) {
  const Fabric fabric = full_tree(4, 2);
  LinkState state{fabric, {}};
  state.set_up(fabric.nic_cable({3}), false, kNow);
  for (const RoutingEngine engine : kEngines) {
    const Router router{fabric, state, {engine}, 7};
    EXPECT_TRUE(router.route({0}, {3}).empty());
    EXPECT_TRUE(router.route({3}, {2}).empty());
    EXPECT_FALSE(router.route({2}, {0}).empty());
  }
}

TEST(Routing, ALeafThatLostAllItsSpinesReachesOnlyItsOwnHosts) {
  const uint64_t rerouted = mark_count("network.rerouted"), none = mark_count("network.no_route");
  const Fabric fabric = full_tree(4, 2);
  LinkState state{fabric, {}};
  for (uint32_t p = 0; p < fabric.tree().leaf_up; ++p) {
    state.set_up(fabric.leaf_cable({0}, p), false, kNow);
  }
  for (const RoutingEngine engine : kEngines) {
    const Router router{fabric, state, {engine}, 7};
    EXPECT_TRUE(router.route({0}, {7}).empty());
    EXPECT_TRUE(router.route({7}, {0}).empty());
    EXPECT_EQ(router.route({0}, {1}).size(), 2U);
  }
  EXPECT_GT(mark_count("network.rerouted"), rerouted);
  EXPECT_GT(mark_count("network.no_route"), none);
}

TEST(Routing, DestinationsOfOneLeafComeDownDifferentCables) {
  for (const int32_t levels : {2, 3}) {
    const Fabric fabric = full_tree(8, levels);
    const LinkState state{fabric, {}};
    const Router router{fabric, state, {RoutingEngine::Dmodk}, 7};
    std::set<uint32_t> down;
    for (uint32_t to = 0; to < 4; ++to) {
      const Route route = router.route({fabric.tree().leaf_down * 9 % 32}, {to});
      down.insert(route[route.size() - 2].index);
    }
    EXPECT_EQ(down.size(), 4U);
  }
}

// Two blocks of four leaves with eight hosts each. The eight up-ports of a leaf lead to four
// spines.
TEST(Routing, WithParallelCablesDestinationsOfABlockComeDownDifferentCablesFromTheCores) {
  FabricParams params;
  params.radix = 16;
  params.levels = 3;
  std::vector<FabricNode> nodes;
  for (uint32_t n = 0; n < 64; ++n) {
    nodes.push_back({.group = n / 8, .nics = 1, .nic_rate = 400_Gbps});
  }
  FabricLayout layout = lay_out(params, nodes);
  layout.block_of_group = {0, 0, 0, 0, 1, 1, 1, 1};
  const Fabric fabric{layout, size_tree(params, layout).tree};
  ASSERT_EQ(fabric.tree().leaf_up, 2 * fabric.tree().spines_per_block);
  const LinkState state{fabric, {}};
  const Router router{fabric, state, {RoutingEngine::Dmodk}, 7};
  std::set<uint32_t> from_cores, from_spines;
  for (uint32_t to = 32; to < 64; ++to) {
    const Route route = router.route({to - 32}, {to});
    ASSERT_EQ(route.size(), 6U);
    from_cores.insert(route[3].index);
    from_spines.insert(route[4].index);
  }
  EXPECT_EQ(from_cores.size(), 32U);
  EXPECT_EQ(from_spines.size(), 32U);
}

// Numbers of routes from NIC 0 to the NICs of the other leaves, by up-link of leaf 0. One of the 16
// up-links, on port 5, is dead.
std::map<uint32_t, int> loads_with_a_dead_port(RoutingEngine engine) {
  const Fabric fabric = full_tree(32, 2);
  LinkState state{fabric, {}};
  state.set_up(fabric.leaf_cable({0}, 5), false, kNow);
  const Router router{fabric, state, {engine}, 7};
  std::map<uint32_t, int> load;
  for (uint32_t to = 16; to < fabric.nics(); ++to) ++load[router.route({0}, {to})[1].index];
  return load;
}

TEST(Routing, FtreeSendsTheTrafficOfADeadPortToTheNext) {
  const auto load = loads_with_a_dead_port(RoutingEngine::Dmodk);
  int most = 0;
  for (const auto& [link, count] : load) most = std::max(most, count);
  EXPECT_EQ(load.size(), 15U);
  EXPECT_EQ(most, 62);  // 31 of its own destinations and 31 of the dead port's
}

TEST(Routing, UpdnDealsOutTheTrafficOfADeadPort) {
  const auto load = loads_with_a_dead_port(RoutingEngine::Updn);
  int most = 0;
  for (const auto& [link, count] : load) most = std::max(most, count);
  EXPECT_EQ(load.size(), 15U);
  EXPECT_LE(most, 31 + 3);  // 31 of its own destinations and a share of the dead port's 31
}

TEST(Routing, UpdnIsFtreeWhileAllIsWell) {
  for (const Fabric& fabric : trees()) {
    const LinkState state{fabric, {}};
    const Router updn{fabric, state, {RoutingEngine::Updn}, 1};
    const Router ftree{fabric, state, {RoutingEngine::Dmodk}, 2};
    Rng rng{3};
    for (int i = 0; i < 500; ++i) {
      const NicId from = random_nic(fabric, rng), to = random_nic(fabric, rng);
      EXPECT_EQ(updn.route(from, to), ftree.route(from, to));
    }
  }
}

TEST(Routing, StaticEnginesAskNotWhoSends) {
  const Fabric fabric = full_tree(8, 3);
  const LinkState state{fabric, {}};
  for (const RoutingEngine engine :
       {RoutingEngine::Dmodk, RoutingEngine::Updn, RoutingEngine::Minhop}) {
    const Router router{fabric, state, {engine}, 7};
    std::set<uint32_t> ways_down;
    for (uint32_t from = 64; from < 128; ++from) {
      const Route route = router.route({from}, {5}, from);
      ways_down.insert(route[route.size() - 2].index);
    }
    EXPECT_EQ(ways_down.size(), 1U) << name_of(engine);
  }
}

TEST(Routing, EcmpSpreadsTheFlowsOfOnePair) {
  const Fabric fabric = full_tree(32, 2);
  const LinkState state{fabric, {}};
  const Router router{fabric, state, {RoutingEngine::Ecmp}, 7};
  std::set<uint32_t> ways;
  for (uint32_t flow = 0; flow < 200; ++flow) ways.insert(router.route({0}, {100}, flow)[1].index);
  EXPECT_EQ(ways.size(), 16U);
  EXPECT_EQ(router.route({0}, {100}, 3), router.route({0}, {100}, 3));
}

TEST(Routing, AnotherSaltGivesOtherRandomRoutes) {
  const Fabric fabric = full_tree(32, 2);
  const LinkState state{fabric, {}};
  for (const RoutingEngine engine : {RoutingEngine::Minhop, RoutingEngine::Ecmp}) {
    const Router a{fabric, state, {engine}, 1}, b{fabric, state, {engine}, 2};
    int same = 0;
    for (uint32_t to = 100; to < 500; ++to) same += a.route({0}, {to}) == b.route({0}, {to});
    EXPECT_LT(same, 60) << name_of(engine);  // 400 / 16 = 25 are equal by chance
  }
}

TEST(Routing, AdaptiveEnginesTakeTheEmptyUpLink) {
  for (const int32_t levels : {2, 3}) {
    const Fabric fabric = full_tree(8, levels);
    const LinkState state{fabric, {}};
    std::vector<double> load(fabric.links(), 1.0);
    load[up_link(fabric.leaf_cable({0}, 2)).index] = 0;
    for (uint32_t l = 0; l < fabric.links(); ++l) {
      if (!leads_up({l})) load[l] = 0;
    }
    for (const RoutingEngine engine :
         {RoutingEngine::AdaptiveLocal, RoutingEngine::AdaptiveGlobal}) {
      Router router{fabric, state, {engine}, 7};
      router.watch_loads(load);
      for (uint32_t flow = 0; flow < 20 && levels == 2; ++flow) {
        EXPECT_EQ(router.route({0}, {31}, flow)[1], up_link(fabric.leaf_cable({0}, 2)));
      }
    }
  }
}

TEST(Routing, OnlyTheGlobalEngineSeesTheWayDown) {
  const Fabric fabric = full_tree(8, 2);
  const LinkState state{fabric, {}};
  std::vector<double> load(fabric.links(), 0.0);
  for (uint32_t p = 0; p < 4; ++p) {
    if (p != 1) load[down_link(fabric.leaf_cable({7}, p)).index] = 1;
  }
  Router local{fabric, state, {RoutingEngine::AdaptiveLocal}, 7};
  Router global{fabric, state, {RoutingEngine::AdaptiveGlobal}, 7};
  local.watch_loads(load);
  global.watch_loads(load);
  std::set<uint32_t> local_ways, global_ways;
  for (uint32_t flow = 0; flow < 100; ++flow) {
    local_ways.insert(local.route({0}, {31}, flow)[2].index);
    global_ways.insert(global.route({0}, {31}, flow)[2].index);
  }
  EXPECT_EQ(local_ways.size(), 4U);
  EXPECT_EQ(global_ways, (std::set<uint32_t>{down_link(fabric.leaf_cable({7}, 1)).index}));
}

// A cursed cable (see LinkState::curse) is slow only while routing is adaptive. With adaptive
// routing, some attempts to open a connection use the cable, and most do not.
TEST(Routing, ACursedWayIsTakenNowAndThenWhileRoutingIsAdaptive) {
  const Fabric fabric = full_tree(8, 2);
  LinkState state{fabric, {}, true};
  const CableId cursed = fabric.leaf_cable({0}, 3);
  state.curse(cursed, 1'000);
  const Router adaptive{fabric, state, {RoutingEngine::AdaptiveLocal}, 7};
  std::vector<bool> is_frozen;
  for (uint32_t attempt = 0; attempt < 40; ++attempt) {
    const LinkId up = adaptive.route({0}, {31}, attempt)[1];
    is_frozen.push_back(state.capacity(up) == Bandwidth{400'000'000});
  }
  EXPECT_TRUE(std::ranges::count(is_frozen, true) > 2);
  EXPECT_TRUE(std::ranges::count(is_frozen, false) > 20);
  state.set_adaptive(false);
  const Router ftree{fabric, state, {RoutingEngine::Dmodk}, 7};
  for (uint32_t to = 4; to < 32; ++to) {
    for (const LinkId link : ftree.route({0}, {to})) EXPECT_EQ(state.capacity(link), 400_Gbps);
  }
}

}  // namespace
}  // namespace orrery
