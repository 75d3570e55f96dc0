#include "models/control_plane/controllers.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "models/control_plane/node_join.hpp"
#include "tests/unit/control_plane/mistakes.hpp"

namespace orrery {
namespace {

constexpr double kFast = 1e6;

TEST(Controllers, AnOrderedSetCreatesAPodWhenTheOneBeforeIsReady) {
  const Rollout rollout{
      .kind = WorkloadKind::OrderedStatefulSet, .pods = 10, .answer = 10_ms, .start = 2_s};
  EXPECT_EQ(rollout_time(rollout, {.qps = kFast}), 2010_ms * 10);
}

TEST(Controllers, AParallelSetCreatesAllAtTheRateOfItsClient) {
  const Rollout rollout{.kind = WorkloadKind::ParallelStatefulSet, .pods = 100, .start = 2_s};
  EXPECT_EQ(rollout_time(rollout, {.qps = 20, .burst = 30}), 50_ms * 70 + 2_s);
}

TEST(Controllers, EightHundredPodsTakeTheirControllerThirtyEightSeconds) {
  const Rollout rollout{.kind = WorkloadKind::ReplicaSet, .pods = 800};
  EXPECT_EQ(creation_times(rollout, {}).back(), 50_ms * 770);
}

TEST(Controllers, BatchesDoubleAndWaitForAnswers) {
  const Rollout rollout{.kind = WorkloadKind::Job, .pods = 8, .answer = 100_ms};
  EXPECT_EQ(creation_times(rollout, {.qps = kFast, .burst = 1'000}),
            (std::vector<Duration>{{}, 100_ms, 100_ms, 200_ms, 200_ms, 200_ms, 200_ms, 300_ms}));
}

TEST(Controllers, APassThatReachedItsMostIsFollowedByAnotherThatBeginsSlowly) {
  const Rollout rollout{.kind = WorkloadKind::Job, .pods = 6, .answer = 1_s};
  EXPECT_EQ(creation_times(rollout, {.qps = kFast, .burst = 1'000, .pods_per_sync = 3}),
            (std::vector<Duration>{{}, 1_s, 1_s, 2_s, 3_s, 3_s}));
}

TEST(Controllers, TokensThatAreNotUsedAreKept) {
  // A token a second and two at most: a pod every three seconds never waits.
  const Rollout rollout{.kind = WorkloadKind::OrderedStatefulSet, .pods = 4, .start = 3_s};
  EXPECT_EQ(creation_times(rollout, {.qps = 1, .burst = 2}),
            (std::vector<Duration>{{}, 3_s, 6_s, 9_s}));
}

TEST(Controllers, AFailedJobWaitsLongerAndLongerUpToTenMinutes) {
  EXPECT_EQ(job_backoff(1, {}), 10_s);
  EXPECT_EQ(job_backoff(2, {}), 20_s);
  EXPECT_EQ(job_backoff(6, {}), 320_s);
  EXPECT_EQ(job_backoff(7, {}), 600_s);
  EXPECT_EQ(job_backoff(1'000, {}), 600_s);
  EXPECT_FALSE(has_job_failed(6, {}));
  EXPECT_TRUE(has_job_failed(7, {}));
}

TEST(NodeJoin, ANodeAsksForWhatItsParametersSay) {
  const JoinLoad load = join_load({}, {.services = 10'000, .addresses = {20'000'000}});
  EXPECT_EQ(load.writes, 14);
  EXPECT_EQ(load.watches, 20);
  EXPECT_EQ(load.lists + load.service_lists + load.address_lists, load.watches);
  EXPECT_EQ(load.requests(), 56);
  EXPECT_EQ(load.listed, Bytes{2 * 10'000'000 + 20'000'000});
  const JoinLoad bare = join_load({.certificate_requests = 0,
                                   .lease_requests = 0,
                                   .status_patches = 0,
                                   .kubelet_lists = 0,
                                   .proxy_lists = 0,
                                   .daemons = 0,
                                   .events = 0},
                                  {.services = 10'000});
  EXPECT_EQ(bare.requests(), 3);
  EXPECT_EQ(bare.listed, Bytes{});
}

std::vector<Time> entries(const NodeJoinParams& params, int nodes, Duration apart) {
  Engine engine;
  JoinGate gate{engine, params};
  std::vector<Time> times;
  for (int i = 0; i < nodes; ++i) {
    engine.at(Time{} + apart * i, Label{"test.asked"},
              [&] { gate.ask([&] { times.push_back(engine.now()); }); });
  }
  engine.run();
  EXPECT_EQ(gate.waiting(), 0U);
  return times;
}

TEST(JoinGate, WithoutALimitAllEnterAtOnce) {
  EXPECT_EQ(entries({}, 500, {}), std::vector<Time>(500));
}

TEST(JoinGate, ALimitSpreadsABurst) {
  const std::vector<Time> times = entries({.rate_max = 50, .burst = 10}, 500, {});
  ASSERT_EQ(times.size(), 500U);
  for (size_t i = 0; i < times.size(); ++i) {
    ASSERT_EQ(times[i], Time{} + 20_ms * (i < 10 ? 0 : static_cast<int64_t>(i) - 9));
  }
}

TEST(JoinGate, NodesThatComeSlowlyNeverWait) {
  const std::vector<Time> times = entries({.rate_max = 50}, 10, 1_s);
  for (size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(times[i], Time{} + 1_s * static_cast<int64_t>(i));
  }
}

TEST(ControllerParams, WrongValuesAreRefused) {
  using test::mistakes_of;
  EXPECT_EQ(mistakes_of<ControllerParams>("{qps: 0}").size(), 1U);
  EXPECT_EQ(mistakes_of<ControllerParams>("{burst: 0}").size(), 1U);
  EXPECT_EQ(mistakes_of<ControllerParams>("{job_backoff: 1h}").size(), 1U);
  EXPECT_EQ(mistakes_of<NodeJoinParams>("{burst: 10}").size(), 1U);
  EXPECT_TRUE(mistakes_of<NodeJoinParams>("{rate_max: 100, burst: 10}").empty());
  EXPECT_EQ(mistakes_of<NodeJoinParams>("{registrations: 0}").size(), 1U);
}

}  // namespace
}  // namespace orrery
