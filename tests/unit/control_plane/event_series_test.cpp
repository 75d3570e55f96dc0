// Events about repeated failures of a pod.
#include "models/control_plane/load/event_series.hpp"

#include <gtest/gtest.h>

#include "tests/support/api_world.hpp"

namespace orrery::event_series_test {
namespace {

struct SeriesWorld {
  explicit SeriesWorld(const ApiClientParams& client_params = {.qps = 1e6, .burst = 1'000'000})
      : limits{client_params} {}
  void fail(uint32_t pod = 0, uint64_t life = 1) { series.occurred(PodId{pod}, life, 7); }
  void fail_every(Duration period, Duration until) {
    for (Duration at{}; at <= until; at += period) {
      engine.at(Time{} + at, Label{"test.fails"}, [this] { fail(); });
    }
  }
  void run_to(Duration when) {
    engine.at(Time{} + when, Label{"test.then"}, [] {});
    engine.run(Time{} + when);
  }
  int64_t kept() { return etcd.events().events().count / 1'000; }
  uint64_t written() const { return series.counters().written; }
  uint64_t patched() const { return series.counters().patched; }

  Engine engine;
  RngStreams streams{1};
  EtcdSplit etcd{engine, {.commit_latency = 1_ms}};
  EtcdStore store{etcd};
  ApiServersParams servers_params = test::free_servers();
  ApiServers servers{{engine, store, 0}, servers_params, streams.stream("test.servers")};
  ApiClientParams limits;
  Rng jitter{3};
  ApiClient client{engine, servers, limits, {.kind = ApiClientKind::Scheduler}, jitter};
  EventSeries series{engine, store, client, {.bytes = {1'000}}};
};

TEST(EventSeries, AFailureThatIsNotRepeatedIsOneEventForItsTimeToLive) {
  SeriesWorld world;
  world.fail();
  world.run_to(1_h);
  EXPECT_EQ(world.kept(), 1);
  world.run_to(2_h);
  EXPECT_EQ(world.kept(), 0);
  EXPECT_EQ(world.written(), 1U);
  EXPECT_EQ(world.patched(), 0U);
  EXPECT_EQ(world.engine.pending(), 0U) << "nobody looks any more";
}

TEST(EventSeries, TheSecondFailureMakesASeriesAndFurtherOnesAreOnlyCounted) {
  SeriesWorld world;
  world.fail_every(5_s, 20_min);
  world.run_to(20_min);
  EXPECT_EQ(world.series.counters().occurrences, 241U);
  EXPECT_EQ(world.written(), 1U);
  EXPECT_EQ(world.patched(), 1U);
  EXPECT_EQ(world.kept(), 1);
  EXPECT_EQ(world.etcd.events().counters().writes, 2U);
}

// The example in event_series.hpp.
TEST(EventSeries, ASeriesIsPatchedEveryHalfHourAndWhenItIsOver) {
  SeriesWorld world;
  world.fail_every(5_s, 59_min);
  const auto expect = [&](Duration at, uint64_t patches) {
    world.run_to(at);
    EXPECT_EQ(world.patched(), patches) << at.seconds();
  };
  expect(29_min, 1);
  expect(31_min, 2);
  expect(61_min, 3);
  expect(65_min, 3);
  expect(67_min, 4);
  expect(4_h, 4);
  EXPECT_EQ(world.written(), 1U);
}

TEST(EventSeries, ASeriesOutlivesTheTimeToLiveOfItsFirstEvent) {
  SeriesWorld world;
  world.fail_every(10_s, 5_h);
  for (Duration at = 1_min; at <= 6_h; at += 7_min) {
    world.run_to(at);
    EXPECT_EQ(world.kept(), 1) << at.seconds();
  }
  world.run_to(8_h);
  EXPECT_EQ(world.kept(), 0);
}

TEST(EventSeries, AfterSixQuietMinutesTheNextFailureIsANewEvent) {
  SeriesWorld world;
  world.fail();
  world.run_to(5_min);
  world.fail();  // within six minutes
  world.run_to(20_min);
  EXPECT_EQ(world.patched(), 2U) << "it became a series, and was over";
  world.fail();
  world.run_to(21_min);
  EXPECT_EQ(world.written(), 2U);
  EXPECT_EQ(world.patched(), 2U);
  EXPECT_EQ(world.kept(), 2);
}

TEST(EventSeries, ARecreatedPodHasANewEvent) {
  SeriesWorld world;
  world.fail(0, 1);
  world.run_to(1_s);
  world.fail(0, 2);
  world.run_to(2_s);
  world.fail(0, 2);
  world.run_to(1_h);
  EXPECT_EQ(world.written(), 2U);
  EXPECT_EQ(world.patched(), 2U) << "the second became a series, and was over";
}

TEST(EventSeries, ManyPodsAreWrittenAsFastAsTheTokensAllow) {
  SeriesWorld world{{.qps = 50, .burst = 100}};
  for (int second = 0; second < 100; ++second) {
    world.engine.at(Time{} + 1_s * second, Label{"test.fails"}, [&] {
      for (uint32_t pod = 0; pod < 1'000; ++pod) world.fail(pod);
    });
  }
  world.run_to(37_s);
  EXPECT_NEAR(static_cast<double>(world.written() + world.patched()), 100 + 50 * 37, 2);
  world.run_to(5_min);
  EXPECT_EQ(world.written(), 1'000U);
  EXPECT_EQ(world.patched(), 1'000U);
  EXPECT_EQ(world.kept(), 1'000);
}

TEST(EventSeries, AnEventThatCouldNotBeCreatedIsCreatedByThePatch) {
  SeriesWorld world;
  const auto set_up = [&](bool is_up) {
    for (const uint32_t member : {0U, 1U, 2U}) world.etcd.objects().set_member_up(member, is_up);
  };
  set_up(false);
  world.fail();
  world.run_to(1_min);
  EXPECT_EQ(world.series.counters().dropped, 1U);
  set_up(true);
  world.run_to(2_min);
  EXPECT_EQ(world.kept(), 0);
  world.fail();
  world.run_to(3_min);
  EXPECT_EQ(world.kept(), 1);
}

}  // namespace
}  // namespace orrery::event_series_test
