#include "models/workload/lifecycle/pods/pod_starts.hpp"

#include <gtest/gtest.h>

#include "tests/support/alike.hpp"

namespace orrery {
namespace {

// In these tests no hook delays a stage of the start. So when a pod is bound, the time at which it
// will have started is known.
struct PodStartsWorld {
  explicit PodStartsWorld(const StartLatencyParams& params)
      : starts{{engine, rng, recorder}, jobs, params} {}
  JobId admit(const JobSpec& spec) {
    const JobId job = jobs.add(spec);
    starts.admitted(job);
    return job;
  }
  Duration start(PodId pod) {
    jobs.pod(pod).state = PodState::Bound;
    starts.begin(pod);
    return jobs.pod(pod).started - engine.now();
  }

  Engine engine;
  RngStreams rng{1};
  MemoryRecorder recorder;
  JobTable jobs;
  PodStarts starts;
};

constexpr StartLatencyParams kDrawnStarts{.median = 20_s, .sigma = 0.5};

TEST(PodStarts, WithoutADeviationEveryPodTakesTheMedian) {
  PodStartsWorld world{{.median = 20_s}};
  world.admit(make_job(JobKind::Pods, 2, 8, 100_s));
  world.engine.advance_to(Time{} + 7_s);
  EXPECT_EQ(world.start({0}), 20_s);
  EXPECT_EQ(world.start({1}), 20_s);
}

TEST(PodStarts, TheOrderInWhichPodsAreBoundChangesNoLatency) {
  PodStartsWorld one{kDrawnStarts}, other{kDrawnStarts};
  for (PodStartsWorld* world : {&one, &other}) {
    world->admit(make_job(JobKind::Pods, 2, 8, 100_s));
  }
  const Duration first = one.start({0}), second = one.start({1});
  EXPECT_NE(first, second);
  EXPECT_EQ(other.start({1}), first);
  EXPECT_EQ(other.start({0}), second);
}

TEST(PodStarts, EachStartOfAPodIsDrawnAgain) {
  PodStartsWorld world{kDrawnStarts};
  world.admit(make_job(JobKind::MpiGang, 1, 8, 100_s));
  const Duration first = world.start({0});
  EXPECT_NE(world.start({0}), first);
}

TEST(PodStarts, RestartsOfOneGangDoNotMoveTheStartsOfAnother) {
  JobSpec spec = make_job(JobKind::MpiGang, 1, 8, 100_s);
  spec.gangs.push_back(spec.gangs[0]);
  PodStartsWorld calm{kDrawnStarts}, busy{kDrawnStarts};
  calm.admit(spec);
  busy.admit(spec);
  for (int k = 0; k < 3; ++k) busy.start({0});
  EXPECT_EQ(busy.start({1}), calm.start({1}));
}

// Each of n = 10,000 latencies is below 20 s with probability 1/2. The standard deviation of the
// count is sqrt(n) / 2 = 50. The tolerance is four standard deviations.
TEST(PodStarts, HalfTakeLessThanTheMedian) {
  PodStartsWorld world{kDrawnStarts};
  world.admit(make_job(JobKind::Pods, 1, 8, 100_s));
  int32_t sooner = 0;
  for (int32_t k = 0; k < 10'000; ++k) sooner += world.start({0}) < 20_s ? 1 : 0;
  EXPECT_NEAR(sooner, 5000, 4 * 50);
}

}  // namespace
}  // namespace orrery
