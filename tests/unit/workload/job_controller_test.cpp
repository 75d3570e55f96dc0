#include "models/workload/lifecycle/job_controller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/check.hpp"
#include "tests/support/job_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;

JobSpec training(int32_t pods, Duration work) {
  JobSpec job = make_job(JobKind::MpiGang, pods, 8, work);
  job.checkpoint_interval = 100_s;
  job.checkpoint_write = 10_s;
  return job;
}

JobWorld::Options options(JobControllerParams params, uint32_t nodes = 4) {
  return {.nodes = nodes, .gpus = 8, .params = params, .seed = 1, .binds = true};
}

TEST(JobController, AGangPassesTheStagesOfItsStart) {
  JobWorld world{options({.pod_start = {.median = 20_s}})};
  JobSpec job = training(2, 250_s);
  job.submitted = Time{} + 5_s;
  job.init = 3_s;
  job.restore = 7_s;  // not used at the first start, which restores nothing
  world.add({job});
  world.run();
  EXPECT_THAT(world.phases, ElementsAre("5s pending->starting", "28s starting->running",
                                        "298s running->completed"));
  const auto rows = world.job_rows();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].outcome, JobOutcome::Completed);
  EXPECT_EQ(rows[0].submitted, Time{} + 5_s);
  EXPECT_EQ(rows[0].bound, Time{} + 5_s);
  EXPECT_EQ(rows[0].running, Time{} + 28_s);
  EXPECT_EQ(rows[0].ended, Time{} + 298_s);
  EXPECT_EQ(rows[0].wait, 23_s);
  EXPECT_EQ(rows[0].run, 270_s);
  EXPECT_DOUBLE_EQ(rows[0].gpu_s_useful, 16 * 250.0);
  EXPECT_DOUBLE_EQ(rows[0].gpu_s_checkpoint, 16 * 20.0);
  EXPECT_DOUBLE_EQ(rows[0].gpu_s_held, 16 * 23.0);
  EXPECT_DOUBLE_EQ(rows[0].gpu_s_lost, 0);
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 0);
  EXPECT_TRUE(world.controller.all_done());
}

TEST(JobController, ALostMemberStopsTheGangWhichResumesFromItsLastCheckpoint) {
  JobWorld world{options({.failure_detection = 5_s, .restart_delay = 10_s})};
  JobSpec job = training(2, 250_s);
  job.init = 3_s;
  job.restore = 7_s;
  world.add({job});
  // The node fails after 3 s of start, 100 s of compute, a checkpoint of 10 s, and 47 s of compute
  // that are lost.
  world.fail_at(Time{} + 160_s, {1});
  world.run();
  EXPECT_THAT(world.phases, ElementsAre("0s pending->starting", "3s starting->running",
                                        "160s running->hung", "165s hung->restarting",
                                        "175s restarting->pending", "175s pending->starting",
                                        "185s starting->running", "345s running->completed"));
  const auto recoveries = world.recoveries();
  ASSERT_EQ(recoveries.size(), 1u);
  const RecoveryRow& row = recoveries[0];
  EXPECT_EQ(row.rank, -1);
  EXPECT_EQ(row.attempt, 1);
  EXPECT_EQ(row.node, NodeId{1});
  EXPECT_EQ(row.nodes, 2);
  EXPECT_EQ(row.gpus, 16);
  EXPECT_EQ(row.failed, Time{} + 160_s);
  EXPECT_EQ(row.detected, Time{} + 165_s);
  EXPECT_EQ(row.recreated, Time{} + 175_s);
  EXPECT_EQ(row.scheduled, Time{} + 175_s);
  EXPECT_EQ(row.started, Time{} + 175_s);
  EXPECT_EQ(row.resumed, Time{} + 185_s);
  EXPECT_EQ(row.caught_up, Time{} + 232_s);
  EXPECT_DOUBLE_EQ(row.lost_gpu_s, 47 * 16.0);
  const JobRow end = world.job_rows().at(0);
  EXPECT_EQ(end.restarts, 1);
  EXPECT_DOUBLE_EQ(end.gpu_s_useful, 16 * 250.0);
  EXPECT_DOUBLE_EQ(end.gpu_s_lost, 16 * 47.0);
  EXPECT_DOUBLE_EQ(end.gpu_s_checkpoint, 16 * 20.0);
  EXPECT_DOUBLE_EQ(end.gpu_s_hung, 8 * 5.0);  // the survivor alone held its GPUs
  EXPECT_DOUBLE_EQ(end.gpu_s_held, 16 * 6.0);
  EXPECT_DOUBLE_EQ(end.gpu_s_restore, 16 * 7.0);
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 0);
}

TEST(JobController, NewsOfComputeSaysWhenItWasDoneAndThenWhetherItIsKeptOrLost) {
  JobWorld world{options({.failure_detection = 5_s, .restart_delay = 5_s})};
  world.add({training(1, 250_s)});
  std::string news;
  const auto seconds = [](int128_t computed) {
    return std::to_string(static_cast<int64_t>(computed / 1'000'000'000'000)) + " GPU s";
  };
  const auto second = [](Time t) { return std::to_string((t - Time{}) / 1_s); };
  world.controller.work_done.connect([&](const WorkDone& done) {
    news += second(done.from) + ".." + second(done.to) + ": " + seconds(done.computed) + "; ";
  });
  world.controller.work_settled.connect([&](const WorkSettled& settled) {
    if (settled.kept > 0) news += "kept " + seconds(settled.kept) + "; ";
    if (settled.lost > 0) news += "lost " + seconds(settled.lost) + "; ";
  });
  world.fail_at(Time{} + 104_s, {0});  // while the first checkpoint is written
  world.fail_at(Time{} + 250_s, {0});  // 136 s after the restart at 114 s
  world.run();
  EXPECT_EQ(news,
            "0..104: 800 GPU s; lost 800 GPU s; "
            "114..224: 800 GPU s; 224..250: 208 GPU s; kept 800 GPU s; lost 208 GPU s; "
            "260..420: 1200 GPU s; kept 1200 GPU s; ");
}

TEST(JobController, SemiStatefulSurvivorsKeepTheirNodes) {
  JobWorld world{options({.failure_detection = 5_s, .restart_delay = 10_s}, 3)};
  JobSpec job = training(2, 250_s);
  job.restart_scope = RestartScope::Pod;
  world.add({job});
  world.engine.at(Time{} + 50_s, Label{"test.node_failed"}, [&] { world.fail({0}); });
  world.engine.at(Time{} + 52_s, Label{"test.look"}, [&] {
    // The survivor's GPUs spin while the job hangs.
    EXPECT_EQ(world.controller.usage({0}).busy, 8000);
    EXPECT_EQ(world.controller.usage({0}).computing, 0);
  });
  const PodId survivor{1};
  world.run(Time{} + 60_s);  // rank 0 has lost its node, rank 1 is the survivor
  EXPECT_EQ(world.jobs.pod(survivor).state, PodState::Bound);
  EXPECT_EQ(world.jobs.pod(survivor).node, NodeId{1});
  world.run();
  const auto pods = world.pod_rows();
  ASSERT_EQ(pods.size(), 3u);
  EXPECT_EQ(pods[0].end, PodEnd::NodeFailed);
  EXPECT_EQ(pods[0].rank, 0);
  EXPECT_EQ(pods[1].end, PodEnd::Completed);
  EXPECT_EQ(pods[1].node, NodeId{2});
  EXPECT_EQ(pods[2].node, NodeId{1});
  EXPECT_EQ(pods[2].bound, Time{});
  EXPECT_DOUBLE_EQ(world.job_rows().at(0).gpu_s_hung, 8 * 5.0);
  EXPECT_DOUBLE_EQ(world.job_rows().at(0).gpu_s_held, 8 * 10.0);
}

TEST(JobController, ManyFailuresAtOnceStopAJobOnce) {
  JobWorld world;
  world.add({training(4, 1000_s)});
  const Time when = Time{} + 50_s;
  for (const uint32_t node : {0u, 1u, 1u, 2u}) world.fail_at(when, {node});
  world.fail_at(when + 2_s, {3});  // while the job hangs, with one pod left
  world.fail_at(when + 7_s, {3});  // the job has no pods: it waits for its restart
  world.run();
  EXPECT_EQ(world.controller.counters().restarts, 1u);
  EXPECT_EQ(world.controller.counters().pods_lost, 4u);
  EXPECT_EQ(world.recoveries().size(), 1u);
  EXPECT_EQ(world.recoveries()[0].nodes, 4);
  EXPECT_DOUBLE_EQ(world.job_rows().at(0).gpu_s_lost, 32 * 50.0);
  EXPECT_DOUBLE_EQ(world.job_rows().at(0).gpu_s_hung, 8 * 2.0);
  EXPECT_GT(mark_count("jobs.node_failed_while_not_started"), 0u);
}

TEST(JobController, AFailureBeforeCatchingUpClosesTheEarlierRecovery) {
  JobWorld world{options({.failure_detection = 0_s, .restart_delay = 0_s})};
  world.add({training(1, 250_s)});
  world.fail_at(Time{} + 90_s, {0});
  world.fail_at(Time{} + 120_s, {0});
  world.run();
  const auto rows = world.recoveries();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].resumed, Time{} + 90_s);
  EXPECT_EQ(rows[0].caught_up, kNever);
  EXPECT_EQ(rows[1].attempt, 2);
  EXPECT_EQ(rows[1].caught_up, Time{} + 150_s);
}

TEST(JobController, AFailureDuringTheStartRepeatsTheStart) {
  JobWorld world{options({.failure_detection = 1_s, .restart_delay = 2_s})};
  JobSpec job = training(2, 50_s);
  job.init = 10_s;
  world.add({job});
  world.fail_at(Time{} + 4_s, {1});
  world.run();
  EXPECT_THAT(world.phases,
              ElementsAre("0s pending->starting", "4s starting->hung", "5s hung->restarting",
                          "7s restarting->pending", "7s pending->starting", "17s starting->running",
                          "67s running->completed"));
  EXPECT_DOUBLE_EQ(world.job_rows().at(0).gpu_s_lost, 0);
  EXPECT_DOUBLE_EQ(world.job_rows().at(0).gpu_s_held, 16 * 14.0);
}

TEST(JobController, AGatheringGangOnlyReplacesTheLostPod) {
  JobWorld world{options({.failure_detection = 5_s, .restart_delay = 10_s}, 2)};
  world.add({training(3, 50_s)});  // needs three nodes, and there are two
  world.fail_at(Time{} + 20_s, {0});
  world.run(Time{} + 100_s);
  EXPECT_TRUE(world.phases.empty());
  EXPECT_TRUE(world.recoveries().empty());
  EXPECT_EQ(world.queue.size(), 1u);
  const Gang& gang = world.jobs.gang({0});
  EXPECT_EQ(gang.created, 3);
  EXPECT_EQ(gang.bound, 2);
  world.controller.finish(Time{} + 100_s);
  const JobRow row = world.job_rows().at(0);
  EXPECT_EQ(row.outcome, JobOutcome::Pending);
  EXPECT_EQ(row.ended, kNever);
  // Both nodes are held for 100 s. Node 0 fails at 20 s and is back at once, and the third pod,
  // which waited for a node, takes it.
  EXPECT_DOUBLE_EQ(row.gpu_s_held, 8 * 200.0);
}

TEST(JobController, AGangThatUsedUpItsRestartsFails) {
  JobWorld world{options({.failure_detection = 5_s, .restart_delay = 0_s})};
  JobSpec job = training(1, 1000_s);
  job.restarts_max = 1;
  world.add({job});
  world.fail_at(Time{} + 20_s, {0});
  world.fail_at(Time{} + 60_s, {0});
  world.run();
  EXPECT_EQ(world.phases.back(), "65s hung->failed");
  EXPECT_EQ(world.job_rows().at(0).outcome, JobOutcome::Failed);
  EXPECT_EQ(world.job_rows().at(0).restarts, 1);
  EXPECT_EQ(world.controller.counters().failed, 1u);
  EXPECT_GT(mark_count("jobs.restarts_used_up"), 0u);
  EXPECT_EQ(world.recoveries().back().recreated, kNever);
}

TEST(JobController, AGangOfManyRolesWaitsForAllItsGangs) {
  JobWorld world{options({}, 3)};
  JobSpec job = training(1, 50_s);
  job.gangs.push_back(job.gangs[0]);
  job.gangs[1].roles[0].pods = 2;
  world.add({job});
  world.run();
  EXPECT_THAT(world.phases, ElementsAre("0s pending->running", "50s running->completed"));
}

TEST(JobController, ACreationIntervalSpacesTheBatches) {
  JobWorld world{options({.pod_creation_interval = 1_s})};
  world.add({training(4, 50_s)});
  world.run();
  EXPECT_EQ(world.job_rows().at(0).running, Time{} + 2_s);
}

TEST(JobController, IndependentPodsEndOneByOne) {
  JobWorld world{options({}, 1)};
  // The two pods run one after the other on one node.
  world.add({make_job(JobKind::Pods, 2, 8, 30_s)});
  world.run();
  EXPECT_THAT(world.phases, ElementsAre("0s pending->running", "30s running->pending",
                                        "30s pending->running", "60s running->completed"));
  EXPECT_EQ(world.pod_rows().size(), 2u);
}

TEST(JobController, ALostIndependentPodComesBackAlone) {
  JobWorld world{options({.failure_detection = 5_s, .restart_delay = 10_s}, 2)};
  JobSpec job = make_job(JobKind::Pods, 2, 8, 100_s);
  job.checkpoint_interval = 20_s;
  job.restore = 1_s;
  world.add({job});
  world.fail_at(Time{} + 50_s, {0});
  world.run();
  const auto rows = world.recoveries();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].rank, 0);
  EXPECT_EQ(rows[0].gpus, 8);
  EXPECT_EQ(rows[0].detected, Time{} + 55_s);
  EXPECT_EQ(rows[0].recreated, Time{} + 65_s);
  EXPECT_EQ(rows[0].resumed, Time{} + 66_s);
  EXPECT_EQ(rows[0].caught_up, Time{} + 76_s);
  EXPECT_DOUBLE_EQ(rows[0].lost_gpu_s, 80);
  EXPECT_EQ(world.job_rows().at(0).ended, Time{} + 126_s);
  EXPECT_EQ(world.controller.counters().restarts, 1u);
}

TEST(JobController, IndependentPodsFailTheirJobAfterTheBackoffLimit) {
  JobWorld world{options({.failure_detection = 5_s, .restart_delay = 1_s}, 3)};
  JobSpec job = make_job(JobKind::Pods, 3, 8, 100_s);
  job.restarts_max = 1;
  world.add({job});
  world.fail_at(Time{} + 10_s, {0});
  world.fail_at(Time{} + 12_s, {1});
  world.run();
  EXPECT_EQ(world.phases.back(), "17s running->failed");
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 0);
  EXPECT_GT(mark_count("jobs.backoff_limit_exceeded"), 0u);
}

TEST(JobController, StartLatencyIsDrawnPerPodAndTheSlowestOpensTheBarrier) {
  JobWorld world{options({.pod_start = {.median = 30_s, .sigma = 0.5}}, 8)};
  world.add({training(8, 10_s)});
  world.run();
  Time slowest;
  for (const PodRow& pod : world.pod_rows()) slowest = std::max(slowest, pod.started);
  EXPECT_EQ(world.job_rows().at(0).running, slowest);
  EXPECT_GT(slowest, Time{} + 30_s);
}

TEST(JobController, UsageTellsBoundFromBusyFromComputing) {
  JobWorld world{options({.pod_start = {.median = 20_s}}, 2)};
  JobSpec pair = make_job(JobKind::Pods, 2, 3, 50_s);
  world.add({training(1, 250_s), pair});
  world.fail_at(Time{} + 70_s, {0});
  struct Look {
    Duration at;
    JobId job;
    JobUsage expected;
  };
  const Look looks[] = {
      {10_s, {0}, {.bound = 8000}},
      {30_s, {0}, {.bound = 8000, .busy = 8000, .computing = 925926}},
      {10_s, {1}, {.bound = 6000}},
      {30_s, {1}, {.bound = 6000, .busy = 6000, .computing = 1'000'000}},
      {71_s, {0}, {}},  // its only pod was on node 0
  };
  for (const Look& look : looks) {
    world.engine.at(
        Time{} + look.at, Label{"test.look"},
        [&world, &look] {
          const JobUsage usage = world.controller.usage(look.job);
          EXPECT_EQ(usage.bound, look.expected.bound) << look.at.seconds();
          EXPECT_EQ(usage.busy, look.expected.busy) << look.at.seconds();
          EXPECT_EQ(usage.computing, look.expected.computing);
        },
        Phase::Record);
  }
  std::vector<Time> began;
  world.controller.pod_runs.connect([&](PodId) { began.push_back(world.engine.now()); });
  world.run();
  EXPECT_THAT(began, ElementsAre(Time{} + 20_s, Time{} + 20_s));
}

TEST(JobController, JobsThatStillRunAtTheEndHaveRows) {
  JobWorld world;
  JobSpec later = training(2, 10_s);
  later.submitted = Time{} + 1_h;
  world.add({training(2, 1000_s), later});
  world.run(Time{} + 115_s);
  world.controller.finish(Time{} + 115_s);
  const JobRow row = world.job_rows().at(0);
  EXPECT_EQ(world.job_rows().size(), 1u);
  EXPECT_EQ(row.outcome, JobOutcome::Running);
  EXPECT_EQ(row.run, 115_s);
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 16 * 105.0);
  EXPECT_DOUBLE_EQ(row.gpu_s_checkpoint, 16 * 10.0);
  EXPECT_EQ(world.pod_rows().at(0).end, PodEnd::RunEnded);
  EXPECT_FALSE(world.controller.all_done());
}

TEST(JobController, SourcesAreMergedBySubmitTimeThenByTheirOrder) {
  JobWorld world;
  std::vector<std::string> order;
  world.controller.job_arrived.connect(
      [&](JobId id) { order.push_back(world.jobs.job(id).spec.name); });
  const auto named = [](const char* name, Duration at) {
    JobSpec job = make_job(JobKind::Pods, 1, 1, 1_s);
    job.name = name;
    job.submitted = Time{} + at;
    return job;
  };
  world.add({named("a1", 1_s), named("a2", 5_s)});
  world.add({named("b1", 1_s), named("b2", 3_s)});
  world.run();
  EXPECT_THAT(order, ElementsAre("a1", "b1", "b2", "a2"));
}

class BrokenSource final : public JobSource {
 public:
  const JobSpec* peek() override { return nullptr; }
  void pop() override {}
  std::optional<std::string> error() const override { return "jobs.csv:7:3: found 'x'"; }
};

TEST(JobController, BadInputStopsTheRunAndIsKept) {
  JobWorld world;
  world.controller.add_source(std::make_unique<BrokenSource>());
  world.run();
  EXPECT_EQ(world.controller.sources().error(), "jobs.csv:7:3: found 'x'");
}

}  // namespace
}  // namespace orrery
