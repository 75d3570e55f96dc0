// Gangs that may run without some of their members: when a gang starts, when the loss of a member
// stops it, and which members are set up and write checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "models/workload/training/checkpoint_params.hpp"
#include "models/workload/training/communicator_init.hpp"
#include "sim/core/check.hpp"
#include "tests/support/job_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;

// A cluster whose nodes have 8 GPUs each: a node holds one member of the gang.
JobWorld::Options world_of(uint32_t nodes, JobControllerParams params = {}) {
  params.failure_detection = 5_s;
  return {.nodes = nodes, .gpus = 8, .params = params, .seed = 1, .binds = true};
}

JobSpec elastic(int32_t min_available, int32_t pods, Duration work) {
  JobSpec job = make_job(JobKind::MpiGang, pods, 8, work);
  job.gangs[0].min_available = min_available;
  return job;
}

// Without a monitor interval, members that come late stay out of the run.
constexpr std::optional<Duration> kNoMonitor = std::nullopt;

// The last of three nodes is down until `then`.
void away_until(JobWorld& world, Time then) {
  world.fail({2});
  world.engine.at(
      then, Label{"test.node_is_there"}, [&world] { world.repair({2}); }, Phase::Fault);
}

TEST(ElasticGang, StartsWithThoseThatAreUpWhenTheLastCallIsOver) {
  JobWorld world{world_of(2)};
  world.add({elastic(2, 3, 50_s)});
  world.run();
  EXPECT_THAT(world.phases, ElementsAre("0s pending->starting", "30s starting->running",
                                        "105s running->completed"));
  const JobRow row = world.job_rows().at(0);
  EXPECT_EQ(row.bound, Time{});
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 16 * 75.0);
  EXPECT_DOUBLE_EQ(row.gpu_s_held, 16 * 30.0);
  EXPECT_EQ(row.members, 2);
}

TEST(ElasticGang, StartsAtOnceWhenTheLastMemberIsUp) {
  JobWorld world{world_of(3, {.pod_start = {.median = 2_s}})};
  away_until(world, Time{} + 10_s);
  world.add({elastic(2, 3, 50_s)});
  world.run();
  EXPECT_THAT(world.phases, ElementsAre("0s pending->starting", "12s starting->running",
                                        "62s running->completed"));
  EXPECT_DOUBLE_EQ(world.job_rows().at(0).gpu_s_useful, 24 * 50.0);
  EXPECT_EQ(world.job_rows().at(0).members, 3);
  ASSERT_EQ(world.gang_starts().size(), 1u);
  EXPECT_EQ(world.gang_starts()[0].called, Time{} + 2_s);
  EXPECT_EQ(world.gang_starts()[0].started, Time{} + 12_s);
}

// A gang without `min_available` has no last call, and a job of independent pods has no members.
TEST(ElasticGang, IsTheOnlyOneWhoseStartsAreListed) {
  JobWorld world{world_of(4)};
  world.add({make_job(JobKind::MpiGang, 2, 8, 10_s), make_job(JobKind::Pods, 2, 8, 10_s)});
  world.run();
  EXPECT_EQ(world.job_rows().at(0).members, 2);
  EXPECT_EQ(world.job_rows().at(1).members, 0);
  EXPECT_TRUE(world.gang_starts().empty());
}

TEST(ElasticGang, WithoutALastCallGoesWithTheFirstThatAreUp) {
  JobWorld world{
      world_of(3, {.pod_start = {.median = 2_s}, .last_call = {}, .monitor_interval = kNoMonitor})};
  away_until(world, Time{} + 1_s);
  world.add({elastic(2, 3, 50_s)});
  world.run();
  EXPECT_EQ(world.job_rows().at(0).running, Time{} + 2_s);
  EXPECT_EQ(world.job_rows().at(0).run, 75_s);
  EXPECT_DOUBLE_EQ(world.job_rows().at(0).gpu_s_useful, 16 * 75.0);
  // Here all three members come up at 2 s, so the gang starts with all of them.
  JobWorld together{world_of(3, {.pod_start = {.median = 2_s}, .last_call = {}})};
  together.add({elastic(2, 3, 50_s)});
  together.run();
  EXPECT_EQ(together.job_rows().at(0).running, Time{} + 2_s);
  EXPECT_EQ(together.job_rows().at(0).run, 50_s);
  EXPECT_DOUBLE_EQ(together.job_rows().at(0).gpu_s_useful, 24 * 50.0);
}

// The gang starts as soon as `min` members have started. It does not wait for slower members.
TEST(ElasticGang, WaitsForItsFastestMembersAlone) {
  std::vector<double> waits;
  for (const int32_t min : {4, 8}) {
    JobWorld world{world_of(8, {.pod_start = {.median = 10_s, .sigma = 1}, .last_call = {}})};
    world.add({elastic(min, 8, 10_min)});
    world.run();
    waits.push_back(world.job_rows().at(0).wait.seconds());
    std::vector<Time> started;
    for (const PodRow& pod : world.pod_rows()) started.push_back(pod.started);
    std::ranges::sort(started);
    EXPECT_EQ(world.job_rows().at(0).running, started[static_cast<size_t>(min) - 1]);
  }
  EXPECT_LT(waits[0], waits[1]);
}

TEST(ElasticGang, ALateMemberHoldsItsGpusAndMayGo) {
  JobWorld world{world_of(3, {.monitor_interval = kNoMonitor})};
  away_until(world, Time{} + 40_s);
  world.fail_at(Time{} + 50_s, {2});  // the late member is recreated 15 s later
  world.add({elastic(2, 3, 50_s)});
  world.run();
  EXPECT_THAT(world.phases, ElementsAre("0s pending->starting", "30s starting->running",
                                        "105s running->completed"));
  const JobRow row = world.job_rows().at(0);
  EXPECT_EQ(row.restarts, 0);
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 16 * 75.0);
  EXPECT_DOUBLE_EQ(row.gpu_s_held, 16 * 30.0 + 8 * (10.0 + 40.0));
  EXPECT_EQ(world.pod_rows().size(), 4u);
  EXPECT_TRUE(world.recoveries().empty());
}

TEST(ElasticGang, ALateMemberThatIsPreemptedOrWhoseProcessDiesStopsNothing) {
  JobWorld world{world_of(3, {.monitor_interval = kNoMonitor})};
  away_until(world, Time{} + 40_s);
  world.add({elastic(2, 3, 50_s)});
  world.engine.at(Time{} + 45_s, Label{"test.rank_died"},
                  [&] { EXPECT_FALSE(world.controller.rank_died({2}, 8 * kMilli)); });
  world.engine.at(Time{} + 50_s, Label{"test.preempted"},
                  [&] { world.controller.preempt({2}, 0); });
  world.run();
  EXPECT_EQ(world.phases.back(), "105s running->completed");
  EXPECT_EQ(world.job_rows().at(0).preemptions, 1);
  EXPECT_EQ(world.pod_rows().size(), 4u);
}

TEST(ElasticGang, IsStoppedByAMemberThatTakesPartAndTakesTheLateOneAlong) {
  JobWorld world{world_of(3, {.monitor_interval = kNoMonitor})};
  away_until(world, Time{} + 40_s);
  world.fail_at(Time{} + 60_s, {0});
  world.add({elastic(2, 3, 50_s)});
  world.run();
  EXPECT_THAT(world.phases, ElementsAre("0s pending->starting", "30s starting->running",
                                        "60s running->hung", "65s hung->restarting",
                                        "75s restarting->pending", "75s pending->starting",
                                        "75s starting->running", "125s running->completed"));
  const JobRow row = world.job_rows().at(0);
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 24 * 50.0);
  EXPECT_DOUBLE_EQ(row.gpu_s_lost, 16 * 30.0);
}

TEST(ElasticGang, AMemberLostBeforeTheStartIsReplacedAndNothingElse) {
  JobWorld world{world_of(3, {.monitor_interval = kNoMonitor})};
  away_until(world, Time{} + 1_min);
  // The gang needs two members. The failure of node 1 at 10 s leaves one. Node 1 is back at once,
  // so the failed member is replaced on node 1 at 10 s, and a new last call of 30 s begins.
  world.fail_at(Time{} + 10_s, {1});
  world.add({elastic(2, 3, 50_s)});
  world.run();
  EXPECT_THAT(world.phases,
              ElementsAre("0s pending->starting", "10s starting->pending", "10s pending->starting",
                          "40s starting->running", "115s running->completed"));
  EXPECT_EQ(world.job_rows().at(0).restarts, 0);
  EXPECT_TRUE(world.recoveries().empty());
  EXPECT_EQ(world.gang_starts().at(0).called, Time{} + 10_s);
  EXPECT_GT(mark_count("jobs.quorum_lost_while_gathering"), 0u);
}

// The survivors wait for the lost member in a last call of 30 s. The member comes in time if its
// node is back.
TEST(ElasticGang, RestartsWithItsSurvivorsAfterALastCall) {
  for (const bool comes_back : {false, true}) {
    SCOPED_TRACE(comes_back);
    JobWorld world{world_of(3, {.pod_start = {.median = 2_s}})};
    JobSpec job = elastic(2, 3, 50_s);
    job.restart_scope = RestartScope::Pod;
    world.add({job});
    world.engine.at(Time{} + 32_s, Label{"test.node_failed"}, [&] {
      world.fail({2});
      if (comes_back) world.repair({2});
    });
    world.run();
    const RecoveryRow row = world.recoveries().at(0);
    EXPECT_EQ(row.detected, Time{} + 37_s);
    EXPECT_EQ(row.scheduled, Time{} + 47_s);
    EXPECT_EQ(row.started, Time{} + (comes_back ? 49_s : 77_s));
    // Three members had computed for 30 s. Two members need 45 s for the same work.
    EXPECT_EQ(row.caught_up, row.started + (comes_back ? 30_s : 45_s));
    EXPECT_EQ(world.job_rows().at(0).members, comes_back ? 3 : 2);
    EXPECT_DOUBLE_EQ(world.job_rows().at(0).gpu_s_lost, 24 * 30.0);
    EXPECT_DOUBLE_EQ(world.job_rows().at(0).gpu_s_useful, comes_back ? 24 * 50.0 : 16 * 75.0);
  }
}

// A checkpoint has 40 GB. Two members write 20 GB each at 2 GB/s, which takes 10 s; three members
// would need less time. The work takes three members 20 s, so two members compute for 30 s. The
// computation pauses for two checkpoints.
TEST(ElasticGang, OnlyMembersThatTakePartWriteCheckpoints) {
  JobWorld::Options options = world_of(3, {.monitor_interval = kNoMonitor});
  options.storage.stores.push_back({"blob", {64'000'000'000}, {64'000'000'000}, {}});
  options.storage.node = {{16'000'000'000}, {16'000'000'000}};
  JobWorld world{options};
  away_until(world, Time{} + 31_s);
  JobSpec job = elastic(2, 3, 20_s);
  job.checkpoint_interval = 10_s;
  job.checkpoint = std::make_shared<CheckpointParams>(
      CheckpointParams{.store = "blob", .bytes = {40'000'000'000}});
  world.add({job});
  world.run();
  EXPECT_EQ(world.job_rows().at(0).run, 30_s + 10_s * 2);
}

// If `is_late`, the third node comes up at 31 s. The gang waits only until 30 s (`last_call`), then
// starts with two members, so the start-up time is that of 16 GPUs.
TEST(ElasticGang, SetsUpTheGpusThatTakePart) {
  const CommunicatorParams ordered{.method = CommunicatorMethod::Ordered};
  for (const bool is_late : {false, true}) {
    JobWorld world{world_of(3, {.monitor_interval = kNoMonitor})};
    if (is_late) away_until(world, Time{} + 31_s);
    JobSpec job = elastic(2, 3, 50_s);
    job.init = 1_s;
    job.init_per_gpu = 100_ms;
    job.communicator = std::make_shared<CommunicatorParams>(ordered);
    world.add({job});
    world.run();
    const int32_t gpus = is_late ? 16 : 24;
    const Duration met = is_late ? 30_s : 0_s;
    EXPECT_EQ(world.job_rows().at(0).running,
              Time{} + met + 1_s + 100_ms * gpus + communicator_init_time(ordered, gpus));
  }
}

// Only two of three members run, so 20 s of work take 30 s. Two checkpoints of 16 GB interrupt the
// work. The 16 GPUs copy at 1 GB/s each, so each checkpoint stops the work for 1 s.
TEST(ElasticGang, CopiesTheCheckpointFromTheGpusThatTakePart) {
  JobWorld::Options options = world_of(3, {.monitor_interval = kNoMonitor});
  options.storage.stores.push_back({"blob", {64'000'000'000}, {64'000'000'000}, {}});
  options.storage.node = {{64'000'000'000}, {64'000'000'000}};
  JobWorld world{options};
  away_until(world, Time{} + 31_s);
  JobSpec job = elastic(2, 3, 20_s);
  job.checkpoint_interval = 10_s;
  job.checkpoint = std::make_shared<CheckpointParams>(CheckpointParams{
      .store = "blob",
      .bytes = {16'000'000'000},
      .mode = CheckpointMode::Async,
      .host_copy = {8'000'000'000},
  });
  world.add({job});
  world.run();
  EXPECT_EQ(world.job_rows().at(0).run, 30_s + 1_s * 2);
}

}  // namespace
}  // namespace orrery
