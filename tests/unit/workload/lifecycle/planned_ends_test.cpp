#include "models/workload/lifecycle/runs/planned_ends.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/alike.hpp"

namespace orrery {
namespace {

struct PlannedEndsWorld {
  static DrawnEndingParams way(Duration after, int32_t exit_code = 1, double chance = 1) {
    return {.chance = chance, .exit_code = exit_code, .after = FixedDuration{after}};
  }
  static JobSpec recorded(Duration work, Duration after) {
    JobSpec job = make_job(JobKind::MpiGang, 2, 8, work);
    job.ending = Ending{.after = after, .exit_code = 1, .cause = EndCause::Error};
    return job;
  }
  RngStreams rng{1};
  JobTable jobs;
  PlannedEnds ends{rng, jobs};
};

TEST(PlannedEnds, ARecordedEndIsFinalAndThatOfTheWholeJob) {
  PlannedEndsWorld world;
  const JobId job = world.jobs.add(world.recorded(100_s, 40_s));
  // The time of a recorded end counts from the first start. So work that was done before a restart
  // does not delay the end.
  for (const Duration done : {Duration{}, 30_s}) {
    const auto end = world.ends.of(job, 0, done, 100_s);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->ending.after, 40_s);
    EXPECT_TRUE(end->is_final);
    EXPECT_FALSE(end->pod.is_valid());
  }
}

TEST(PlannedEnds, ARecordedEndKeepsItsPlaceInWorkThatTakesLonger) {
  PlannedEndsWorld world;
  const JobId job = world.jobs.add(world.recorded(100_s, 40_s));
  EXPECT_EQ(world.ends.of(job, 0, {}, 250_s)->ending.after, 100_s);
}

TEST(PlannedEnds, TheSoonerOfARecordedAndADrawnOneCounts) {
  PlannedEndsWorld world;
  JobSpec spec = world.recorded(100_s, 40_s);
  spec.gangs[0].roles[0].endings = {world.way(15_s, kKilled)};
  const JobId job = world.jobs.add(spec);
  const auto first = world.ends.of(job, 0, {}, 100_s);
  EXPECT_EQ(first->ending.after, 15_s);
  EXPECT_EQ(first->ending.exit_code, kKilled);
  EXPECT_FALSE(first->is_final);
  // The second start has 30 s of work done. A drawn end counts from the latest start, so it comes
  // at 30 + 15 = 45 s of work. The recorded end comes first, at 40 s.
  EXPECT_EQ(world.ends.of(job, 1, 30_s, 100_s)->ending.after, 40_s);
  EXPECT_EQ(world.ends.drawn({0}, 1, 30_s)->ending.after, 45_s);
}

TEST(PlannedEnds, AGangEndsByTheFirstPodOfARoleThatTakesPart) {
  PlannedEndsWorld world;
  JobSpec spec = make_job(JobKind::MpiGang, 2, 8, 100_s);
  RoleSpec workers = spec.gangs[0].roles[0], launcher = workers;
  workers.endings = {world.way(20_s)};
  launcher.endings = {world.way(5_s)};
  launcher.takes_part = false;
  spec.gangs[0].roles = {launcher, workers};
  const JobId job = world.jobs.add(spec);
  const auto end = world.ends.of(job, 0, {}, 100_s);
  EXPECT_EQ(end->ending.after, 20_s);
  EXPECT_EQ(end->pod, PodId{2});
}

TEST(PlannedEnds, AnEndIsDrawnForEachStartAndForEachPod) {
  PlannedEndsWorld world;
  JobSpec spec = make_job(JobKind::Pods, 2, 8, 100_s);
  spec.gangs[0].roles[0].endings = {
      {.chance = 1, .exit_code = 1, .after = ExponentialDuration{100_s}}};
  world.jobs.add(spec);
  std::set<int64_t> drawn;
  for (const PodId pod : {PodId{0}, PodId{1}}) {
    for (uint32_t start = 0; start < 3; ++start) {
      const Duration after = world.ends.of(pod, start, {})->ending.after;
      // A second call for the same start gives the same end.
      EXPECT_EQ(after, world.ends.of(pod, start, {})->ending.after);
      drawn.insert(after.ns);
    }
  }
  EXPECT_EQ(drawn.size(), 6u);
}

TEST(PlannedEnds, RanksAndPodsBesideThemDrawFromStreamsOfTheirOwn) {
  PlannedEndsWorld world;
  JobSpec spec = make_job(JobKind::MpiGang, 2, 8, 1'000_s);
  RoleSpec workers = spec.gangs[0].roles[0];
  workers.endings = {{.chance = 1, .exit_code = 1, .after = ExponentialDuration{100_s}}};
  RoleSpec evaluators = workers;
  evaluators.takes_part = false;
  spec.gangs[0].roles = {evaluators, workers};
  const JobId job = world.jobs.add(spec);
  const PodId evaluator{1};
  EXPECT_NE(world.ends.of(job, 0, {}, 1'000_s)->ending.after,
            world.ends.drawn(evaluator, 0, {})->ending.after);
}

// With a chance of p = 0.25, a quarter of n = 10,000 starts end early. The tolerance is four
// standard deviations of sqrt(n p (1 - p)) = 43.
TEST(PlannedEnds, AnEndComesWithItsChance) {
  PlannedEndsWorld world;
  JobSpec spec = make_job(JobKind::MpiGang, 2, 8, 100_s);
  spec.gangs[0].roles[0].endings = {world.way(10_s, 1, 0.25)};
  const JobId job = world.jobs.add(spec);
  int32_t ended = 0;
  for (uint32_t start = 0; start < 10'000; ++start) {
    if (world.ends.of(job, start, {}, 100_s)) ++ended;
  }
  EXPECT_NEAR(ended, 2500, 4 * 43);
}

}  // namespace
}  // namespace orrery
