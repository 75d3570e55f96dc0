// The arithmetic of a HorizontalPodAutoscaler. The expected values are computed by hand with the
// published algorithm.
#include "models/control_plane/autoscaling/replica_calculator.hpp"

#include <gtest/gtest.h>

namespace orrery {
namespace {

HorizontalPodAutoscalerParams to_50_percent(int32_t replicas_max = 100) {
  HorizontalPodAutoscalerParams params;
  params.replicas_max = replicas_max;
  params.target = 50;
  return params;
}

// `count` pods, each of which uses the share `use` of its requests.
ReplicaUse pods(int32_t count, double use, int32_t not_ready = 0, int32_t not_found = 0) {
  return {.measured = count,
          .use_milli = count * static_cast<int64_t>(use * 1000),
          .not_ready = not_ready,
          .not_found = not_found};
}

TEST(RecommendedReplicas, AreThoseOfTheRatioRoundedUp) {
  const auto params = to_50_percent();
  EXPECT_EQ(recommended_replicas(params, 4, pods(4, 1.0)), 8);     // 100 % / 50 % = 2
  EXPECT_EQ(recommended_replicas(params, 3, pods(3, 0.6)), 4);     // 3 * 1.2 = 3.6
  EXPECT_EQ(recommended_replicas(params, 10, pods(10, 0.26)), 6);  // 10 * 0.52 = 5.2
  // The recommendation is 0; ReplicaLimits raises it to at least one.
  EXPECT_EQ(recommended_replicas(params, 10, pods(10, 0.0)), 0);
}

TEST(RecommendedReplicas, StayWithinTheTolerance) {
  const auto params = to_50_percent();
  // 55 % / 50 % = 1.1, within 10 %.
  EXPECT_EQ(recommended_replicas(params, 20, pods(20, 0.55)), 20);
  // 45 % / 50 % = 0.9, within 10 %.
  EXPECT_EQ(recommended_replicas(params, 20, pods(20, 0.45)), 20);
  EXPECT_EQ(recommended_replicas(params, 20, pods(20, 0.56)), 23);  // 20 * 1.12 = 22.4
  EXPECT_EQ(recommended_replicas(params, 20, pods(20, 0.44)), 18);  // 20 * 0.88 = 17.6
  // Use is in whole percent: 55.9 % counts as 55.
  EXPECT_EQ(recommended_replicas(params, 20, pods(20, 0.559)), 20);
}

TEST(RecommendedReplicas, StayWithoutMetrics) {
  EXPECT_EQ(recommended_replicas(to_50_percent(), 7, {.not_ready = 3, .not_found = 4}), 7);
}

TEST(RecommendedReplicas, ThoseNotReadyCountAsIdleWhenTheOthersAreBusy) {
  const auto params = to_50_percent();
  // 4 ready pods at 100 % and 4 unready ones at 0 % have a mean of 50 %, which is the target.
  EXPECT_EQ(recommended_replicas(params, 8, pods(4, 1.0, 4)), 8);
  // With 2 unready pods the mean is 66 %: 6 * 66 / 50 = 7.92.
  EXPECT_EQ(recommended_replicas(params, 6, pods(4, 1.0, 2)), 8);
  // With 8 unready pods the mean of 33 % is below the target. But unready pods must not turn a
  // scale-up into a scale-down, so nothing changes.
  EXPECT_EQ(recommended_replicas(params, 12, pods(4, 1.0, 8)), 12);
  // Unready pods are ignored if the ready ones are below the target: 4 * 10 / 50 = 0.8.
  EXPECT_EQ(recommended_replicas(params, 8, pods(4, 0.1, 4)), 1);
}

TEST(RecommendedReplicas, ThoseOfWhichNothingIsKnownCountAgainstAnyChange) {
  const auto params = to_50_percent();
  // When scaling up, a missing pod counts as idle: 4 / 5 = 80 %, 5 * 80 / 50.
  EXPECT_EQ(recommended_replicas(params, 5, pods(4, 1.0, 0, 1)), 8);
  // When scaling down, a missing pod counts as full: 1.4 / 5 = 28 %, 5 * 28 / 50 = 2.8.
  EXPECT_EQ(recommended_replicas(params, 5, pods(4, 0.1, 0, 1)), 3);
  // 4.4 / 8 = 55 %, within 10 % of 50 %.
  EXPECT_EQ(recommended_replicas(params, 8, pods(4, 0.1, 0, 4)), 8);
  // Six missing pods that count as full make 6.4 / 10 = 64 %, which would turn the scale-down into
  // a scale-up.
  EXPECT_EQ(recommended_replicas(params, 10, pods(4, 0.1, 0, 6)), 10);
}

TEST(ReplicaLimits, DoubleOrAddFourInFifteenSeconds) {
  ReplicaLimits limits{to_50_percent()};
  const Time start = Time{} + 1_h;
  EXPECT_EQ(limits.limit(start, 1, 50), 5);
  limits.changed(start, 1, 5);
  // Within 15 s of the first change, the limit is 4 more than the number before that change: 1 + 4.
  EXPECT_EQ(limits.limit(start + 10_s, 5, 50), 5);
  EXPECT_EQ(limits.limit(start + 15_s, 5, 50), 10);
  limits.changed(start + 15_s, 5, 10);
  EXPECT_EQ(limits.limit(start + 30_s, 10, 50), 20);
  limits.changed(start + 30_s, 10, 20);
  EXPECT_EQ(limits.limit(start + 45_s, 20, 200), 40);
}

TEST(ReplicaLimits, NeverPassTheMostOrTheLeast) {
  auto params = to_50_percent(7);
  params.replicas_min = 2;
  ReplicaLimits limits{params};
  EXPECT_EQ(limits.limit(Time{} + 1_h, 5, 50), 7);
  EXPECT_EQ(limits.limit(Time{} + 2_h, 5, 0), 2);
}

TEST(ReplicaLimits, GoDownToTheMostOfFiveMinutes) {
  ReplicaLimits limits{to_50_percent()};
  const Time start = Time{} + 1_h;
  EXPECT_EQ(limits.limit(start, 10, 10), 10);
  EXPECT_EQ(limits.limit(start + 1_min, 10, 6), 10);
  EXPECT_EQ(limits.limit(start + 2_min, 10, 3), 10);
  // The first recommendation, 10, is five minutes old, so it has left the stabilization window.
  EXPECT_EQ(limits.limit(start + 5_min, 10, 3), 6);
  limits.changed(start + 5_min, 10, 6);
  EXPECT_EQ(limits.limit(start + 6_min, 6, 3), 3);
}

TEST(ReplicaLimits, AWindowUpwardsWaitsForTheLeastOfIt) {
  auto params = to_50_percent();
  params.scale_up.stabilization = 1_min;
  ReplicaLimits limits{params};
  const Time start = Time{} + 1_h;
  // The stabilization window begins with the present number, 4, as its first recommendation. After
  // a minute the 4 has left the window, and the least recommendation is 7.
  EXPECT_EQ(limits.limit(start, 4, 8), 4);
  EXPECT_EQ(limits.limit(start + 30_s, 4, 7), 4);
  EXPECT_EQ(limits.limit(start + 1_min, 4, 8), 7);
}

TEST(ReplicaLimits, PoliciesDownwardsCountWhatWasTakenAway) {
  auto params = to_50_percent();
  params.scale_down.stabilization = {};
  params.scale_down.percent = 10;
  params.scale_down.period = 1_min;
  ReplicaLimits limits{params};
  const Time start = Time{} + 1_h;
  EXPECT_EQ(limits.limit(start, 80, 10), 72);
  limits.changed(start, 80, 72);
  EXPECT_EQ(limits.limit(start + 15_s, 72, 10), 72);
  EXPECT_EQ(limits.limit(start + 1_min, 72, 10), 64);  // 72 - 10 % = 64.8, truncated
}

}  // namespace
}  // namespace orrery
