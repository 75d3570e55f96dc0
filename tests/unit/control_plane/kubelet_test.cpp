#include "models/control_plane/kubelet/kubelet.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "models/control_plane/kubelet/crash_loop.hpp"
#include "models/control_plane/kubelet/image_pulls.hpp"
#include "tests/unit/control_plane/mistakes.hpp"

namespace orrery {
namespace {

TEST(Kubelet, HeartbeatsAreARateThatGrowsWithTheNodes) {
  const HeartbeatLoad load = heartbeat_load(7'500, {});
  EXPECT_DOUBLE_EQ(load.leases_per_s, 750);
  EXPECT_DOUBLE_EQ(load.statuses_per_s, 25);
  EXPECT_DOUBLE_EQ(load.bytes_per_s, 750 * 300 + 25 * 15'000);
}

TEST(Kubelet, TheLastHeartbeatIsLessThanAPeriodAgo) {
  const Time now = Time{} + 1_h;
  std::set<int64_t> tenths;
  for (uint32_t node = 0; node < 1'000; ++node) {
    const Time last = last_heartbeat({node}, now, {});
    ASSERT_LE(last, now);
    ASSERT_LT(now - last, 10_s);
    EXPECT_EQ(last_heartbeat({node}, last, {}), last);
    EXPECT_EQ(last_heartbeat({node}, now + 10_s, {}), last + 10_s);
    tenths.insert((now - last) / 1_s);
  }
  EXPECT_EQ(tenths.size(), 10U) << "nodes are spread over the period";
  EXPECT_EQ(last_heartbeat({1}, Time{} + 1_ms, {}), Time{});
}

TEST(Kubelet, APodStartsItsContainersOneAfterTheOther) {
  EXPECT_EQ(start_time(1, {}), 800_ms);
  EXPECT_EQ(start_time(3, {}), 1400_ms);
}

TEST(Kubelet, RegistrationIsTriedAgainEverMoreSeldom) {
  EXPECT_EQ(kRegistrationBackoff.after(1), 100_ms);
  EXPECT_EQ(kRegistrationBackoff.after(4), 800_ms);
  EXPECT_EQ(kRegistrationBackoff.after(7), 6400_ms);
  EXPECT_EQ(kRegistrationBackoff.after(8), 7_s);
  EXPECT_EQ(kRegistrationBackoff.after(1'000), 7_s);
}

TEST(CrashLoop, ALongRunStartsFromTheBeginning) {
  CrashLoop loop{{}};
  for (int i = 0; i < 10; ++i) loop.next(1_s);
  EXPECT_EQ(loop.next(599_s), 300_s);
  EXPECT_EQ(loop.next(600_s), Duration{});
  EXPECT_EQ(loop.next(1_s), 10_s);
}

TEST(CrashLoop, WithoutTheFreeRestartTheFirstWaitIsTheInitialOne) {
  CrashLoop loop{{.is_first_restart_free = false}};
  for (const Duration wait : {10_s, 20_s, 40_s, 80_s, 160_s, 300_s, 300_s}) {
    EXPECT_EQ(loop.next(1_s), wait);
  }
}

struct PullWorld {
  explicit PullWorld(const ImagePullParams& params, uint32_t nodes = 4)
      : pulls{engine, params, nodes} {}
  void ensure(uint32_t node, ImageId image) {
    pulls.ensure({node}, image, [this] { done.push_back(engine.now()); });
  }
  Engine engine;
  ImagePulls pulls;
  std::vector<Time> done;
};

constexpr Bandwidth kGigabyte = 8_Gbps;

TEST(ImagePulls, ANodePullsOneImageAfterTheOther) {
  PullWorld world{{.node = kGigabyte}};
  const ImageId large = world.pulls.add_image({10'000'000'000});
  const ImageId small = world.pulls.add_image({1'000'000'000});
  world.ensure(0, large);
  world.ensure(0, small);
  world.engine.run();
  EXPECT_EQ(world.done, (std::vector{Time{} + 10_s, Time{} + 11_s}));
}

TEST(ImagePulls, InParallelTheyShareTheNode) {
  PullWorld world{{.node = kGigabyte, .parallel = 0}};
  world.ensure(0, world.pulls.add_image({10'000'000'000}));
  world.ensure(0, world.pulls.add_image({1'000'000'000}));
  world.engine.run();
  EXPECT_EQ(world.done, (std::vector{Time{} + 2_s, Time{} + 11_s}));
}

TEST(ImagePulls, NodesShareTheRegistry) {
  PullWorld world{{.registry = 16_Gbps, .node = kGigabyte}};
  const ImageId image = world.pulls.add_image({1'000'000'000});
  for (uint32_t node = 0; node < 4; ++node) world.ensure(node, image);
  world.engine.run();
  EXPECT_EQ(world.done, std::vector<Time>(4, Time{} + 2_s));
}

TEST(ImagePulls, AnImageIsPulledOncePerNode) {
  for (const int parallel : {0, 1}) {
    PullWorld world{{.node = kGigabyte, .parallel = parallel}};
    const ImageId image = world.pulls.add_image({1'000'000'000});
    world.ensure(0, image);
    world.ensure(0, image);
    world.engine.run();
    EXPECT_EQ(world.done, std::vector<Time>(2, Time{} + 1_s));
    world.ensure(0, image);
    EXPECT_EQ(world.done.size(), 3U) << "at once";
    EXPECT_EQ(world.pulls.counters().pulled, 1U);
  }
}

TEST(ImagePulls, ARenewedNodeHasNothingAndSendsNoResponse) {
  PullWorld world{{.node = kGigabyte}};
  const ImageId image = world.pulls.add_image({1'000'000'000});
  world.ensure(0, image);
  world.engine.run();
  world.pulls.renew({0});
  EXPECT_FALSE(world.pulls.has({0}, image));
  world.ensure(0, image);
  world.ensure(0, image);
  world.engine.after(500_ms, Label{"test.renewed"}, [&] { world.pulls.renew({0}); });
  world.engine.run();
  EXPECT_EQ(world.done.size(), 1U);
  EXPECT_FALSE(world.pulls.has({0}, image));
}

TEST(KubeletParams, WrongValuesAreRejected) {
  using test::mistakes_of;
  EXPECT_TRUE(mistakes_of<CrashLoopParams>("{initial: 1s, most: 60s}").empty());
  EXPECT_EQ(mistakes_of<CrashLoopParams>("{initial: 10min}").size(), 1U);
  EXPECT_EQ(mistakes_of<ImagePullParams>("{parallel: -1}").size(), 1U);
  EXPECT_EQ(mistakes_of<ImagePullParams>("{node: 0Gbps}").size(), 1U);
  EXPECT_EQ(mistakes_of<KubeletParams>("{heartbeats: {lease_period: 0s}}").size(), 1U);
}

}  // namespace
}  // namespace orrery
