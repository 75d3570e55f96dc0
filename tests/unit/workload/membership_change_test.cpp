// Members of an elastic gang that come up after its start: the gang restarts with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "models/workload/training/checkpoint_params.hpp"
#include "sim/core/check.hpp"
#include "tests/support/job_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;

// A gang with a member of 8 GPUs on each node. The nodes of `away` are down at first. They come up
// at `until`, or never if that is Time::max().
struct GrowingGang {
  struct Away {
    NodeId node;
    Time until;
  };

  GrowingGang(uint32_t nodes, const std::vector<Away>& away, JobControllerParams params = {})
      : world{{.nodes = nodes, .gpus = 8, .params = with_detection(params), .seed = 1}} {
    for (const Away& one : away) {
      world.fail(one.node);
      if (one.until == Time::max()) continue;
      world.engine.at(
          one.until, Label{"test.node_is_there"}, [this, node = one.node] { world.repair(node); },
          Phase::Fault);
    }
  }
  static JobControllerParams with_detection(JobControllerParams params) {
    params.failure_detection = 5_s;
    return params;
  }
  static JobSpec job(int32_t pods, Duration work) {
    JobSpec job = make_job(JobKind::MpiGang, pods, 8, work);
    job.gangs[0].min_available = 2;
    return job;
  }
  JobRow row(JobSpec job) {
    world.add({std::move(job)});
    world.run();
    return world.job_rows().at(0);
  }

  JobWorld world;
};

constexpr NodeId kThirdNode{2}, kFourthNode{3};

// The gang notices the new member at 40.2 s, one monitor interval of 100 ms after the member is up.
// Without a checkpoint, all work is done again: three members need 6.8 s for what two members
// computed in 10.2 s.
TEST(MembershipChange, RestartsTheGangWithTheMemberThatCameLate) {
  GrowingGang gang{3, {{kThirdNode, Time{} + 40_s + 100_ms}}};
  JobSpec job = GrowingGang::job(3, 50_s);
  job.restarts_max = 0;  // a change of members is no failure
  const JobRow row = gang.row(job);
  EXPECT_THAT(gang.world.phases,
              ElementsAre("0s pending->starting", "30s starting->running", "40s running->starting",
                          "40s starting->running", "90s running->completed"));
  EXPECT_EQ(row.ended, Time{} + 40_s + 200_ms + 50_s);
  EXPECT_EQ(row.restarts, 0);
  EXPECT_EQ(row.membership_changes, 1);
  EXPECT_EQ(gang.world.controller.counters().membership_changes, 1u);
  EXPECT_EQ(gang.world.controller.counters().restarts, 0u);
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 24 * 50.0);
  EXPECT_DOUBLE_EQ(row.gpu_s_lost, 16 * 10.2);
  EXPECT_DOUBLE_EQ(row.gpu_s_held, 16 * 30.0 + 8 * 0.1);
  EXPECT_EQ(gang.world.pod_rows().size(), 3u);

  ASSERT_EQ(gang.world.recoveries().size(), 1u);
  const RecoveryRow change = gang.world.recoveries()[0];
  EXPECT_TRUE(change.is_membership_change);
  EXPECT_FALSE(change.node.is_valid());
  EXPECT_EQ(change.failed, Time{} + 40_s + 200_ms);
  EXPECT_EQ(change.detected, change.failed);
  EXPECT_EQ(change.recreated, kNever);
  EXPECT_EQ(change.resumed, change.failed);
  EXPECT_EQ(change.caught_up, change.failed + 6_s + 800_ms);
  EXPECT_DOUBLE_EQ(change.lost_gpu_s, row.gpu_s_lost);
}

// The gang computes from 31 s until the third member is noticed at 45.1 s. The checkpoint has 12 s
// of work of two members, which three members do in 8 s. So 42 s of 50 s are left.
TEST(MembershipChange, GoesOnFromTheLastCheckpoint) {
  GrowingGang gang{3, {{kThirdNode, Time{} + 45_s}}};
  JobSpec job = GrowingGang::job(3, 50_s);
  job.checkpoint_interval = 12_s;
  job.init = 1_s;
  job.restore = 2_s;
  const JobRow row = gang.row(job);
  EXPECT_EQ(row.ended, Time{} + 45_s + 100_ms + 3_s + 42_s);
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 16 * 12.0 + 24 * 42.0);
  EXPECT_DOUBLE_EQ(row.gpu_s_lost, 16 * 2.1);
  EXPECT_DOUBLE_EQ(row.gpu_s_restore, 24 * 2.0);
}

// 60 s of work for four members take 80 s with three.
TEST(MembershipChange, MakesALastCallForThoseThatAreStillMissing) {
  GrowingGang gang{4, {{kThirdNode, Time{} + 40_s}, {kFourthNode, Time::max()}}};
  const JobRow row = gang.row(GrowingGang::job(4, 60_s));
  EXPECT_THAT(gang.world.phases,
              ElementsAre("0s pending->starting", "30s starting->running", "40s running->starting",
                          "70s starting->running", "150s running->completed"));
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 24 * 80.0);
  EXPECT_DOUBLE_EQ(row.gpu_s_held, 16 * 30.0 + 8 * 0.1 + 24 * 30.0);

  EXPECT_EQ(row.members, 3);
  const std::vector<GangStartRow> starts = gang.world.gang_starts();
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[0].called, Time{});
  EXPECT_EQ(starts[0].started, Time{} + 30_s);
  EXPECT_EQ(starts[0].members, 2);
  EXPECT_EQ(starts[1].called, Time{} + 40_s + 100_ms);
  EXPECT_EQ(starts[1].started, Time{} + 70_s + 100_ms);
  EXPECT_EQ(starts[1].members, 3);
  EXPECT_EQ(starts[1].pods, 4);
  EXPECT_EQ(starts[1].gpus, 24);
}

TEST(MembershipChange, TakesAllThatCameWithinOneInterval) {
  GrowingGang gang{
      4, {{kThirdNode, Time{} + 40_s}, {kFourthNode, Time{} + 45_s}}, {.monitor_interval = 10_s}};
  const JobRow row = gang.row(GrowingGang::job(4, 50_s));
  EXPECT_EQ(row.ended, Time{} + 50_s + 50_s);
  EXPECT_EQ(row.membership_changes, 1);
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 32 * 50.0);
}

TEST(MembershipChange, IsNoneForAMemberThatGoesBeforeItIsNoticed) {
  GrowingGang gang{3, {{kThirdNode, Time{} + 40_s}}, {.monitor_interval = 10_s}};
  gang.world.engine.at(
      Time{} + 45_s, Label{"test.node_failed"}, [&] { gang.world.fail(kThirdNode); }, Phase::Fault);
  const JobRow row = gang.row(GrowingGang::job(3, 50_s));
  EXPECT_EQ(row.ended, Time{} + 105_s);
  EXPECT_EQ(row.membership_changes, 0);
}

// Without the new member the start would last until 50 s.
TEST(MembershipChange, InterruptsAStart) {
  GrowingGang gang{3, {{kThirdNode, Time{} + 35_s}}};
  JobSpec job = GrowingGang::job(3, 50_s);
  job.init = 20_s;
  const JobRow row = gang.row(job);
  EXPECT_EQ(row.running, Time{} + 35_s + 100_ms + 20_s);
  EXPECT_EQ(row.membership_changes, 1);
  EXPECT_DOUBLE_EQ(row.gpu_s_lost, 0);
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 24 * 50.0);
  EXPECT_DOUBLE_EQ(gang.world.recoveries().at(0).lost_gpu_s, 0);
}

TEST(MembershipChange, WaitsForTheRestartOfAGangThatHangs) {
  GrowingGang gang{3, {{kThirdNode, Time{} + 40_s}}, {.hang_timeout = 1_min}};
  gang.world.engine.at(Time{} + 35_s, Label{"test.rank_died"},
                       [&] { EXPECT_TRUE(gang.world.controller.rank_died({0}, 8 * kMilli)); });
  const JobRow row = gang.row(GrowingGang::job(3, 50_s));
  EXPECT_EQ(row.restarts, 1);
  EXPECT_EQ(row.membership_changes, 0);
  EXPECT_EQ(row.ended, Time{} + 35_s + 1_min + 10_s + 50_s);
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 24 * 50.0);
}

// Two members would need 36 s * 3 / 2 = 54 s, less than the requested minute. But after 45.1 s the
// gang restarts from zero with three members. They would need 36 s more, so the job is killed.
TEST(MembershipChange, GivesNoMoreTimeThanWasRequested) {
  GrowingGang gang{3, {{kThirdNode, Time{} + 75_s}}, {.overruns = Overruns::Kill}};
  JobSpec job = GrowingGang::job(3, 36_s);
  job.requested = 1_min;
  const JobRow row = gang.row(job);
  EXPECT_EQ(row.outcome, JobOutcome::Failed);
  EXPECT_EQ(row.ended, Time{} + 90_s);
}

// Two members would write 40 GB at 4 GB/s from 40 s to 50 s. But the third comes at 45 s, and the
// write is dropped. Later, the three members write one checkpoint at 6 GB/s.
TEST(MembershipChange, DropsACheckpointThatIsBeingWritten) {
  JobWorld::Options options{.nodes = 3, .gpus = 8};
  options.storage.stores.push_back({"blob", {64'000'000'000}, {64'000'000'000}, {}});
  options.storage.node = {{16'000'000'000}, {16'000'000'000}};
  JobWorld world{options};
  world.fail(kThirdNode);
  world.engine.at(
      Time{} + 45_s, Label{"test.node_is_there"}, [&] { world.repair(kThirdNode); }, Phase::Fault);
  JobSpec job = GrowingGang::job(3, 20_s);
  job.checkpoint_interval = 10_s;
  job.checkpoint = std::make_shared<CheckpointParams>(
      CheckpointParams{.store = "blob", .bytes = {40'000'000'000}});
  world.add({job});
  world.run();
  const JobRow row = world.job_rows().at(0);
  EXPECT_DOUBLE_EQ(row.gpu_s_lost, 16 * 10.0);
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 24 * 20.0);
  EXPECT_NEAR(row.gpu_s_checkpoint, 16 * 5.1 + 24 * 40 / 6.0, 1e-6);
  EXPECT_NEAR((row.ended - Time{}).seconds(), 45.1 + 20 + 40 / 6.0, 1e-6);
}

TEST(MembershipChange, IsNoneWithoutAMonitor) {
  GrowingGang gang{3, {{kThirdNode, Time{} + 40_s}}, {.monitor_interval = std::nullopt}};
  const JobRow row = gang.row(GrowingGang::job(3, 50_s));
  EXPECT_EQ(row.membership_changes, 0);
  EXPECT_EQ(row.ended, Time{} + 105_s);
  EXPECT_DOUBLE_EQ(row.gpu_s_held, 16 * 30.0 + 8 * 65.0);
}

}  // namespace
}  // namespace orrery
