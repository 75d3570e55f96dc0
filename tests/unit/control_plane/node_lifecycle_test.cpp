#include "models/control_plane/nodes/node_lifecycle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "models/faults/node_killer.hpp"
#include "models/scheduling/toolbox/unready_guard.hpp"
#include "sim/core/rng.hpp"
#include "tests/unit/control_plane/mistakes.hpp"

namespace orrery {
namespace {

struct LifecycleWorld {
  explicit LifecycleWorld(std::vector<uint32_t> zones, const NodeLifecycleParams& params = {})
      : lifecycle{engine, params, zones} {
    lifecycle.became_not_ready.connect([this](NodeId n) { note(not_ready, n); });
    lifecycle.became_ready.connect([this](NodeId n) { note(ready, n); });
    lifecycle.tainted.connect([this](NodeId n) { note(tainted, n); });
    lifecycle.evicted.connect([this](NodeId n) { note(evicted, n); });
  }
  explicit LifecycleWorld(uint32_t nodes) : LifecycleWorld{std::vector<uint32_t>(nodes, 0)} {}
  using Log = std::vector<std::pair<int64_t, uint32_t>>;
  void note(Log& log, NodeId node) {
    EXPECT_EQ(engine.now().ns % 1'000'000'000, 0);
    log.emplace_back((engine.now() - Time{}) / 1_s, node.index);
  }
  void silent(Duration at, uint32_t first, uint32_t count) {
    engine.at(Time{} + at, Label{"test.silent"}, [this, first, count] {
      for (uint32_t i = first; i < first + count; ++i) lifecycle.node_silent({i}, engine.now());
    });
  }
  void heartbeats(Duration at, uint32_t first, uint32_t count) {
    engine.at(Time{} + at, Label{"test.heartbeats"}, [this, first, count] {
      for (uint32_t i = first; i < first + count; ++i) lifecycle.node_alive({i});
    });
  }
  void run(Duration until) { engine.run(Time{} + until); }

  Engine engine;
  NodeLifecycle lifecycle;
  Log not_ready, ready, tainted, evicted;
};

using Log = LifecycleWorld::Log;

TEST(NodeLifecycle, ASilentNodeIsNotReadyAtTheFirstLookAfterItsGraceAndThenLosesItsPods) {
  LifecycleWorld world{10};
  world.silent(7_s, 3, 1);
  world.run(1_h);
  EXPECT_EQ(world.not_ready, (Log{{50, 3}}));  // the first check after 7 + 40 = 47 s
  EXPECT_EQ(world.tainted, (Log{{50, 3}}));
  EXPECT_EQ(world.evicted, (Log{{350, 3}}));
  EXPECT_LE(world.engine.events_run(), 4U) << "steady looks are no events";
}

TEST(NodeLifecycle, PodsThatCameAfterAnEvictionAreEvictedAsMuchLater) {
  LifecycleWorld world{10};
  const auto died_again = [&](Duration at) {
    world.engine.at(Time{} + at, Label{"test.died_again"},
                    [&] { world.lifecycle.restart_toleration({3}); });
  };
  world.silent(7_s, 3, 1);
  died_again(100_s);  // no effect: the pods of the node are not evicted yet
  died_again(400_s);
  died_again(500_s);
  world.heartbeats(800_s, 3, 1);
  died_again(900_s);  // no effect: the node is not tainted any more
  world.run(1_h);
  EXPECT_EQ(world.evicted, (Log{{350, 3}, {700, 3}}));
}

TEST(NodeLifecycle, SilenceOfExactlyTheGraceIsNoFault) {
  LifecycleWorld world{10};
  world.silent(5_s, 0, 1);
  world.run(1_h);
  EXPECT_EQ(world.not_ready, (Log{{50, 0}}));
}

TEST(NodeLifecycle, ANodeThatIsHeardInTimeIsNeverNotReady) {
  LifecycleWorld world{10};
  world.silent(7_s, 3, 1);
  world.heartbeats(46_s, 3, 1);
  world.silent(60_s, 3, 1);
  world.run(99_s);
  EXPECT_TRUE(world.not_ready.empty());
  world.run(1_h);
  EXPECT_EQ(world.not_ready, (Log{{105, 3}}));
}

TEST(NodeLifecycle, ANodeThatComesBackKeepsItsPods) {
  LifecycleWorld world{10};
  world.silent(7_s, 3, 1);
  world.heartbeats(200_s, 3, 1);
  world.run(1_h);
  EXPECT_EQ(world.ready, (Log{{205, 3}}));
  EXPECT_TRUE(world.evicted.empty());
  EXPECT_FALSE(world.lifecycle.is_tainted({3}));
}

TEST(NodeLifecycle, TaintsAreHandedOutOneInTenSeconds) {
  LifecycleWorld world{100};
  world.silent(2_s, 0, 4);
  world.run(1_h);
  EXPECT_EQ(world.tainted, (Log{{45, 0}, {55, 1}, {65, 2}, {75, 3}}));
}

TEST(NodeLifecycle, ALargeZoneOfMostlySilentNodesIsEmptiedTenTimesSlower) {
  LifecycleWorld world{100};
  world.silent(2_s, 0, 60);
  world.run(300_s);
  EXPECT_EQ(world.lifecycle.zone_state(0), ZoneState::PartialDisruption);
  EXPECT_EQ(world.tainted, (Log{{45, 0}, {145, 1}, {245, 2}}));
}

TEST(NodeLifecycle, ASmallZoneOfMostlySilentNodesKeepsItsPods) {
  LifecycleWorld world{50};
  world.silent(2_s, 0, 30);
  world.run(1_h);
  EXPECT_TRUE(world.tainted.empty());
  EXPECT_EQ(world.not_ready.size(), 30U);
}

TEST(NodeLifecycle, TwoOfThreeNodesAreNoDisruption) {
  LifecycleWorld world{3};
  world.silent(2_s, 0, 2);
  world.run(1_h);
  EXPECT_EQ(world.lifecycle.zone_state(0), ZoneState::Normal);
  EXPECT_EQ(world.evicted.size(), 2U);
}

TEST(NodeLifecycle, ALostZoneAmongOthersIsEmptiedAtTheUsualPace) {
  std::vector<uint32_t> zones(120, 0);
  std::fill(zones.begin() + 60, zones.end(), 1);
  LifecycleWorld world{zones};
  world.silent(2_s, 60, 60);
  world.run(66_s);
  EXPECT_EQ(world.lifecycle.zone_state(0), ZoneState::Normal);
  EXPECT_EQ(world.lifecycle.zone_state(1), ZoneState::FullDisruption);
  EXPECT_EQ(world.tainted, (Log{{45, 60}, {55, 61}, {65, 62}}));
}

TEST(NodeLifecycle, WhenAllNodesAreSilentNoneIsTaintedUntilOneIsHeard) {
  LifecycleWorld world{100};
  world.silent(2_s, 0, 30);
  world.silent(62_s, 30, 70);
  world.run(104_s);
  EXPECT_EQ(world.tainted.size(), 6U);  // one every 10 s from 45 s to 95 s
  world.run(1_h);
  EXPECT_TRUE(world.evicted.empty());
  EXPECT_EQ(world.lifecycle.counters().full_disruptions, 1U);
  EXPECT_EQ(world.tainted.size(), 6U);
  EXPECT_FALSE(world.lifecycle.is_tainted({0})) << "all taints are lifted";
  world.heartbeats(2_h, 50, 50);
  world.run(3_h);
  EXPECT_EQ(world.ready.size(), 50U);
  EXPECT_GT(world.evicted.size(), 10U) << "the others are given up after all";
}

TEST(NodeLifecycle, ADeletedNodeCountsNoMore) {
  LifecycleWorld world{100};
  world.silent(2_s, 0, 60);
  world.run(60_s);
  EXPECT_EQ(world.lifecycle.zone_state(0), ZoneState::PartialDisruption);
  EXPECT_TRUE(world.lifecycle.is_tainted({0}));
  world.engine.at(Time{} + 61_s, Label{"test.deleted"}, [&] {
    for (uint32_t n = 0; n < 20; ++n) world.lifecycle.node_deleted({n});
  });
  world.run(70_s);
  EXPECT_EQ(world.lifecycle.zone_state(0), ZoneState::Normal);  // 40 of 80 nodes are not ready
  EXPECT_EQ(world.lifecycle.not_ready(), 40U);
  world.run(1_h);
  EXPECT_EQ(world.evicted.size(), 40U);
  EXPECT_EQ(world.evicted.front().second, 20U) << "not the first, which is deleted";
  world.lifecycle.node_registered({0});
  EXPECT_TRUE(world.lifecycle.is_ready({0}));
  world.lifecycle.node_silent({0}, world.engine.now());
  world.run(2_h);
  EXPECT_EQ(world.evicted.back().second, 0U);
}

TEST(UnreadyGuard, MoreThanFortyFivePercentHaltTheAutoscaler) {
  EXPECT_TRUE(may_delete_unready(45, 100, {}));
  EXPECT_FALSE(may_delete_unready(46, 100, {}));
  EXPECT_TRUE(may_delete_unready(3, 4, {})) << "a few may always be unready";
  EXPECT_TRUE(may_delete_unready(100, 100, {.share_max = 1}));
}

TEST(NodeKiller, RoundsNeverOverlapAndStrikeANodeOnce) {
  Engine engine;
  NodeKiller killer{engine, {.failure_rate = 0.3}, 20, Rng{5}};
  std::vector<int> deaths(20, 0);
  std::vector<size_t> sizes;
  size_t down = 0, down_max = 0;
  killer.killed.connect([&](NodeId node) {
    ++deaths[node.index];
    if (down++ == 0) sizes.push_back(0);
    ++sizes.back();
    down_max = std::max(down_max, down);
  });
  killer.revived.connect([&](NodeId) { --down; });
  killer.start();
  engine.run();
  EXPECT_EQ(deaths, std::vector<int>(20, 1));
  EXPECT_EQ(sizes, (std::vector<size_t>{6, 5, 3, 2, 2, 1, 1}));
  EXPECT_EQ(down_max, 6U);
  EXPECT_EQ(killer.left(), 0U);
}

TEST(NodeLifecycle, WrongValuesAreRejected) {
  using test::mistakes_of;
  EXPECT_TRUE(mistakes_of<NodeLifecycleParams>("{grace: 50s}").empty());
  EXPECT_EQ(mistakes_of<NodeLifecycleParams>("{grace: 2s}").size(), 1U);
  EXPECT_EQ(mistakes_of<NodeLifecycleParams>("{monitor_period: 0s}").size(), 1U);
  EXPECT_EQ(mistakes_of<NodeLifecycleParams>("{unhealthy_share: 1.5}").size(), 1U);
  EXPECT_EQ(mistakes_of<NodeLifecycleParams>("{taint_rate: 0.001}").size(), 1U);
  EXPECT_EQ(mistakes_of<UnreadyGuardParams>("{share_max: 45}").size(), 1U);
  EXPECT_EQ(mistakes_of<NodeKillerParams>("{failure_rate: 2}").size(), 1U);
}

}  // namespace
}  // namespace orrery
