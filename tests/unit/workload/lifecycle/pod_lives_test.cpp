#include "models/workload/lifecycle/pods/pod_lives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "sim/core/check.hpp"
#include "tests/support/lives_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;

struct PodLivesWorld : LivesWorld {
  explicit PodLivesWorld(const JobControllerParams& start = {})
      : LivesWorld{{.params = start}}, job{admit(make_job(JobKind::Pods, 2, 8, 100_s))} {
    create(job);
  }
  JobId job;
};

TEST(PodLives, ABoundPodHasItsResourcesUntilItIsRemoved) {
  PodLivesWorld world;
  world.bind({0}, {1});
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 8000);
  EXPECT_EQ(world.accounts.of(world.job).bound_gpu_milli, 8000);
  world.go_to(10_s);
  world.pods.remove({0}, PodEnd::GangStopped);
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 0);
  EXPECT_EQ(world.accounts.of(world.job).bound_gpu_milli, 0);
  const PodRow row = world.rows<PodRow>("/pods").at(0);
  EXPECT_EQ(row.node, NodeId{1});
  EXPECT_EQ(row.ended, Time{} + 10_s);
  EXPECT_EQ(row.end, PodEnd::GangStopped);
  EXPECT_EQ(row.exit_code, kTerminated);
}

TEST(PodLives, AJobCountsItsBoundAndItsRunningPods) {
  PodLivesWorld world;
  const PodLives::Counts& counts = world.pods.counts(world.job);
  world.bind({0}, {0});
  world.bind({1}, {1});
  world.pods.runs({0});
  world.pods.runs({1});
  EXPECT_EQ(counts.bound, 2);
  EXPECT_EQ(counts.running, 2);
  world.pods.stops({1});  // the pod's process ends, but the pod stays bound
  EXPECT_EQ(counts.bound, 2);
  EXPECT_EQ(counts.running, 1);
  world.pods.remove({0}, PodEnd::Completed);
  EXPECT_EQ(counts.bound, 1);
  EXPECT_EQ(counts.running, 0);
  EXPECT_EQ(counts.done, 1);
}

TEST(PodLives, APodIsRemovedOnce) {
  PodLivesWorld world;
  int removed = 0;
  world.news.pod_removed.connect([&](PodId) { ++removed; });
  world.bind({0}, {0});
  world.pods.remove({0}, PodEnd::NodeFailed);
  world.pods.remove({0}, PodEnd::NodeFailed);
  EXPECT_EQ(removed, 1);
  EXPECT_EQ(world.pods.counts(world.job).bound, 0);
  EXPECT_EQ(world.rows<PodRow>("/pods").size(), 1u);
}

TEST(PodLives, APodLeavesWithAllItHasAndIsRemovedWithNothing) {
  PodLivesWorld world;
  std::vector<int64_t> allocated;
  world.pods.leaving.connect(
      [&](PodId, PodEnd) { allocated.push_back(world.cluster.gpu_milli_allocated()); });
  world.news.pod_removed.connect([&](PodId pod) {
    allocated.push_back(world.cluster.gpu_milli_allocated());
    // The pod's record changes only after all observers have been called.
    EXPECT_EQ(world.jobs.pod(pod).state, PodState::Bound);
    EXPECT_EQ(world.jobs.pod(pod).node, NodeId{0});
  });
  world.bind({0}, {0});
  world.pods.remove({0}, PodEnd::Preempted);
  EXPECT_THAT(allocated, ElementsAre(8000, 0));
  EXPECT_FALSE(world.jobs.pod({0}).node.is_valid());
}

TEST(PodLives, OnlyAPodThatCompletedIsNotCreatedAgain) {
  PodLivesWorld world;
  world.bind({0}, {0});
  world.bind({1}, {1});
  world.pods.remove({0}, PodEnd::Completed);
  world.pods.remove({1}, PodEnd::NodeFailed);
  world.create(world.job);
  EXPECT_EQ(world.jobs.pod({0}).state, PodState::Done);
  EXPECT_EQ(world.jobs.pod({1}).state, PodState::Pending);
  EXPECT_EQ(world.accounts.counters().pods_created, 3u);
}

TEST(PodLives, APodIsBoundToANodeThatIsUp) {
  PodLivesWorld world;
  world.cluster.set_up({0}, false);
  EXPECT_THROW(world.bind({0}, {0}), CheckFailed);
}

TEST(PodLives, TheNextPodOfAnOrderedStatefulSetIsCreatedWhenTheOneBeforeRuns) {
  LivesWorld world{{.params = {.pod_start = {.median = 20_s}}}};
  JobSpec spec = make_job(JobKind::Pods, 2, 8, 100_s);
  spec.controller = WorkloadKind::OrderedStatefulSet;
  world.create(world.admit(spec));
  world.bind({0}, {0});
  world.pods.starts().begin({0});
  world.go_to(19_s);
  EXPECT_EQ(world.jobs.pod({1}).state, PodState::Absent);
  world.go_to(20_s);
  EXPECT_EQ(world.jobs.pod({1}).state, PodState::Pending);
  EXPECT_EQ(world.jobs.pod({1}).created, Time{} + 20_s);
}

}  // namespace
}  // namespace orrery
