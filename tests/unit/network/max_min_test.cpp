#include "models/network/sharing/max_min.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/core/rng.hpp"
#include "tests/support/plain_fat_tree.hpp"

namespace orrery {
namespace {

using test::PlainFatTree;

struct MaxMinTest : ::testing::Test {
  MaxMin sharing;
  LinkId link(double capacity) { return sharing.add_link(capacity); }
  ActivityId add(std::vector<LinkUse> uses, double rate_max = MaxMin::kUnlimited) {
    return sharing.add(uses, rate_max);
  }
  std::vector<uint32_t> solve() {
    std::vector<uint32_t> changed;
    for (const ActivityId id : sharing.solve()) changed.push_back(id.index);
    return changed;
  }
};

// Flow a uses both links, flow b the narrow link, and flow c the wide link. Flows a and b share the
// narrow link: 5 each. Flow c gets the rest of the wide link: 20 - 5.
TEST_F(MaxMinTest, WhatTheTightLinkLeavesUnusedElsewhereGoesToOthers) {
  const LinkId narrow = link(10), wide = link(20);
  const ActivityId a = add({{narrow}, {wide}}), b = add({{narrow}}), c = add({{wide}});
  solve();
  EXPECT_EQ(sharing.rate(a), 5);
  EXPECT_EQ(sharing.rate(b), 5);
  EXPECT_EQ(sharing.rate(c), 15);
  EXPECT_EQ(sharing.load(wide), 20);
}

// Both flows get the rate r with 2 r + r = 12. The flow of weight 2 uses 8 of the link's 12.
TEST_F(MaxMinTest, WeightIsWhatAUnitOfRateCostsTheLinkNotAShareOfIt) {
  const LinkId shared = link(12);
  const ActivityId heavy = add({{shared, 2}}), light = add({{shared}});
  solve();
  EXPECT_EQ(sharing.rate(heavy), 4);
  EXPECT_EQ(sharing.rate(light), 4);
  EXPECT_EQ(sharing.load(shared), 12);
}

TEST_F(MaxMinTest, UsesOfOneLinkAddUp) {
  const LinkId shared = link(12);
  const ActivityId twice = add({{shared, 1}, {shared, 3}});
  solve();
  EXPECT_EQ(sharing.rate(twice), 3);
  ASSERT_EQ(sharing.uses(twice).size(), 1u);
  EXPECT_EQ(sharing.uses(twice)[0].weight, 4);
}

TEST_F(MaxMinTest, WhoIsHeldBackByItsOwnLimitLeavesTheRestToOthers) {
  const LinkId shared = link(12);
  const ActivityId limited = add({{shared}}, 2), a = add({{shared}}), b = add({{shared}});
  solve();
  EXPECT_EQ(sharing.rate(limited), 2);
  EXPECT_EQ(sharing.rate(a), 5);
  EXPECT_EQ(sharing.rate(b), 5);
  sharing.set_rate_max(limited, 100);
  solve();
  EXPECT_EQ(sharing.rate(limited), 4);
}

TEST_F(MaxMinTest, NothingMovesOverALinkWithoutCapacity) {
  const LinkId down = link(0), up = link(12);
  const ActivityId stuck = add({{up}, {down}}), moving = add({{up}});
  solve();
  EXPECT_EQ(sharing.rate(stuck), 0);
  EXPECT_EQ(sharing.rate(moving), 12);
  sharing.set_capacity(down, 3);
  solve();
  EXPECT_EQ(sharing.rate(stuck), 3);
  EXPECT_EQ(sharing.rate(moving), 9);
}

TEST_F(MaxMinTest, ActivityWithoutLinksHasItsLimitOrNone) {
  const ActivityId limited = add({}, 7), unlimited = add({});
  solve();
  EXPECT_EQ(sharing.rate(limited), 7);
  EXPECT_EQ(sharing.rate(unlimited), MaxMin::kUnlimited);
}

TEST_F(MaxMinTest, SolveTellsThoseAloneWhoseRateIsAnother) {
  const LinkId first = link(10), second = link(10);
  const ActivityId a = add({{first}}), b = add({{second}});
  EXPECT_EQ(solve(), (std::vector<uint32_t>{a.index, b.index}));
  const ActivityId c = add({{second}});
  std::vector<uint32_t> changed = solve();
  std::ranges::sort(changed);
  EXPECT_EQ(changed, (std::vector<uint32_t>{b.index, c.index}));
  sharing.set_capacity(first, 11);
  sharing.set_capacity(first, 10);
  EXPECT_TRUE(solve().empty());
  EXPECT_TRUE(sharing.is_solved());
}

TEST_F(MaxMinTest, NewActivityIsReportedEvenIfItsRateIsZero) {
  const ActivityId stuck = add({{link(0)}});
  EXPECT_EQ(solve(), std::vector<uint32_t>{stuck.index});
}

// One activity uses 10,000 links. Two other activities use only link 1234 of these.
TEST_F(MaxMinTest, ActivityWithVeryManyUsesRunsAtThePaceOfItsWorstLink) {
  std::vector<LinkUse> uses;
  for (uint32_t i = 0; i < 10'000; ++i) uses.push_back({link(100 + i % 7)});
  const ActivityId all = sharing.add(uses);
  solve();
  EXPECT_EQ(sharing.rate(all), 100);
  const ActivityId beside = add({{{1234}}}), second = add({{{1234}}});
  solve();
  EXPECT_EQ(sharing.rate(all), (100 + 1234 % 7) / 3.0);
  sharing.set_capacity({777}, 10);
  solve();
  EXPECT_EQ(sharing.rate(all), 10);
  EXPECT_EQ(sharing.rate(beside), (100 + 1234 % 7 - 10) / 2.0);
  sharing.remove(second);
  sharing.set_capacity({777}, 1000);
  solve();
  EXPECT_EQ(sharing.rate(all), (100 + 1234 % 7) / 2.0);
  sharing.set_rate_max(all, 1);
  solve();
  EXPECT_EQ(sharing.rate(all), 1);
  EXPECT_EQ(sharing.load({9'999}), 1);
}

// The rates are equal to the last bit, wherever the solver and its data lie in memory.
TEST_F(MaxMinTest, SameHistoryGivesTheSameRatesInTheSameOrder) {
  const auto history = [] {
    MaxMin solver;
    Rng rng{5};
    for (int i = 0; i < 50; ++i) solver.add_link(rng.uniform());
    std::vector<ActivityId> present;
    std::vector<double> logged;
    for (int round = 0; round < 2000; ++round) {
      if (present.size() > 60) {
        const size_t gone = rng.below(present.size());
        solver.remove(present[gone]);
        present.erase(present.begin() + static_cast<ptrdiff_t>(gone));
      }
      std::vector<LinkUse> uses(1 + rng.below(5));
      for (LinkUse& use : uses) use = {{static_cast<uint32_t>(rng.below(50))}, rng.uniform()};
      present.push_back(solver.add(uses));
      for (const ActivityId id : solver.solve()) {
        logged.push_back(static_cast<double>(id.index));
        logged.push_back(solver.rate(id));
      }
    }
    return logged;
  };
  EXPECT_EQ(history(), history());
}

// Fat trees from published studies of static routing.
const std::vector<PlainFatTree> kTrees{
    PlainFatTree::two_levels(24), PlainFatTree::two_levels(32),   PlainFatTree::two_levels(40),
    PlainFatTree::two_levels(64), PlainFatTree::three_levels(24), PlainFatTree::three_levels(32)};

// In a shift by z, host i sends to host i + z. D-mod-K spreads such flows over all ports, so each
// flow has the full rate of a link.
TEST(MaxMinOnFatTrees, EveryFlowOfAShiftHasTheWholeLink) {
  for (const PlainFatTree& tree : kTrees) {
    MaxMin sharing;
    for (uint32_t i = 0; i < tree.links(); ++i) sharing.add_link(400e9);
    std::vector<ActivityId> flows(tree.hosts);
    // All shifts of a small tree, and 14 shifts of a large one.
    const uint32_t step = tree.hosts <= 300 ? 1 : tree.hosts / 13;
    for (uint32_t shift = 1; shift < tree.hosts; shift += step) {
      for (uint32_t host = 0; host < tree.hosts; ++host) {
        flows[host] = sharing.add(tree.route(host, (host + shift) % tree.hosts));
      }
      sharing.solve();
      for (const ActivityId flow : flows) ASSERT_EQ(sharing.rate(flow), 400e9);
      for (const ActivityId flow : flows) sharing.remove(flow);
    }
  }
}

std::vector<uint32_t> random_order(uint32_t hosts, Rng& rng) {
  std::vector<uint32_t> order(hosts);
  std::iota(order.begin(), order.end(), 0u);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

// All links have the same capacity. So the slowest flow is on the link with the most flows, and has
// an equal share of it.
TEST(MaxMinOnFatTrees, SlowestFlowOfARandomRingHasItsShareOfTheFullestLink) {
  Rng rng{11};
  for (const PlainFatTree& tree : kTrees) {
    for (int round = 0; round < 5; ++round) {
      const std::vector<uint32_t> order = random_order(tree.hosts, rng);
      MaxMin sharing;
      for (uint32_t i = 0; i < tree.links(); ++i) sharing.add_link(400e9);
      std::vector<int> flows_on(tree.links());
      for (size_t i = 0; i < order.size(); ++i) {
        const auto uses = tree.route(order[i], order[(i + 1) % order.size()]);
        for (const LinkUse& use : uses) ++flows_on[use.link.index];
        sharing.add(uses);
      }
      double slowest = MaxMin::kUnlimited;
      for (const ActivityId flow : sharing.solve()) slowest = std::min(slowest, sharing.rate(flow));
      EXPECT_EQ(slowest, 400e9 / *std::ranges::max_element(flows_on));
    }
  }
}

// A ring as one activity: its weight on a link is the number of the ring's flows over that link.
TEST(MaxMinOnFatTrees, RingAsOneActivityRunsAtTheRateOfItsSlowestFlow) {
  Rng rng{12};
  for (const PlainFatTree& tree : kTrees) {
    MaxMin sharing;
    for (uint32_t i = 0; i < tree.links(); ++i) sharing.add_link(400e9);
    const std::vector<uint32_t> order = random_order(tree.hosts, rng);
    std::vector<LinkUse> all;
    std::vector<int> flows_on(tree.links());
    for (size_t i = 0; i < order.size(); ++i) {
      for (const LinkUse& use : tree.route(order[i], order[(i + 1) % order.size()])) {
        all.push_back(use);
        ++flows_on[use.link.index];
      }
    }
    const ActivityId ring = sharing.add(all);
    sharing.solve();
    EXPECT_EQ(sharing.rate(ring), 400e9 / *std::ranges::max_element(flows_on));
  }
}

}  // namespace
}  // namespace orrery
