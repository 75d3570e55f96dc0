// Effects of a job's roles on its pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/job_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;

DrawnEndingParams after(Duration time, int32_t exit_code, EndCause cause = EndCause::Error) {
  return {.cause = cause, .chance = 1, .exit_code = exit_code, .after = FixedDuration{time}};
}

RoleSpec role(int32_t pods, int32_t gpus) {
  RoleSpec role;
  role.pods = pods;
  role.spec.gpus = gpus;
  return role;
}

JobSpec job_of(JobKind kind, std::vector<RoleSpec> roles, Duration work) {
  JobSpec job;
  job.kind = kind;
  job.work = work;
  job.gangs.push_back({.roles = std::move(roles)});
  return job;
}

JobWorld::Options quick() { return {.params = {.failure_detection = 5_s, .restart_delay = 10_s}}; }

std::vector<PodRow> of_rank(const std::vector<PodRow>& rows, int32_t rank) {
  std::vector<PodRow> found;
  std::ranges::copy_if(rows, std::back_inserter(found),
                       [rank](const PodRow& row) { return row.rank == rank; });
  return found;
}

// Two roles. The parameter servers belong to a StatefulSet, are always restarted, and run until the
// job is over. The workers belong to a Job and are restarted after retryable exit codes.
TEST(Roles, TwoRolesLiveByTheirOwnRules) {
  JobWorld world{quick()};
  RoleSpec servers = role(2, 0);
  servers.controller = WorkloadKind::OrderedStatefulSet;
  servers.exits = false;
  servers.restart = RestartPolicy::Always;
  servers.success = RoleSuccess::Ignored;
  RoleSpec workers = role(3, 4);
  workers.restart = RestartPolicy::ExitCode;
  workers.backoff_limit = 1;
  JobSpec job = job_of(JobKind::Pods, {servers, workers}, 100_s);
  world.add({job});
  world.fail_at(Time{} + 50_s, {0});
  world.run();
  const JobRow row = world.job_rows().at(0);
  EXPECT_EQ(row.outcome, JobOutcome::Completed);
  EXPECT_EQ(row.exit_code, 0);
  // The StatefulSet controller creates one server at a time. The Job controller creates the workers
  // in batches of 1 and 2.
  ASSERT_GE(world.creations.size(), 3U);
  EXPECT_EQ(world.creations[0].size(), 1U);
  const auto rows = world.pod_rows();
  for (const int32_t rank : {0, 1}) {
    EXPECT_EQ(of_rank(rows, rank).back().end, PodEnd::CleanedUp) << rank;
    EXPECT_EQ(of_rank(rows, rank).back().exit_code, kTerminated) << rank;
  }
  for (const int32_t rank : {2, 3, 4}) {
    EXPECT_EQ(of_rank(rows, rank).back().end, PodEnd::Completed) << rank;
  }
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 0);
}

TEST(Roles, AWorkerIsStartedAgainAfterACodeThatMayPassAndNotAfterAnother) {
  for (const auto& [code, outcome, lives] : {std::tuple{137, JobOutcome::Failed, size_t{3}},
                                             std::tuple{1, JobOutcome::Failed, size_t{1}}}) {
    JobWorld world{quick()};
    RoleSpec worker = role(1, 1);
    worker.restart = RestartPolicy::ExitCode;
    worker.backoff_limit = 2;
    worker.endings = {after(30_s, code, EndCause::OutOfMemory)};
    world.add({job_of(JobKind::Pods, {worker}, 100_s)});
    world.run();
    const JobRow row = world.job_rows().at(0);
    EXPECT_EQ(row.outcome, outcome) << code;
    EXPECT_EQ(row.cause, EndCause::OutOfMemory) << code;
    EXPECT_EQ(row.exit_code, code);
    EXPECT_EQ(world.pod_rows().size(), lives) << code;
    EXPECT_EQ(world.pod_rows().at(0).end, PodEnd::Exited);
    EXPECT_EQ(world.pod_rows().at(0).exit_code, code);
  }
}

TEST(Roles, TheChiefDecidesAndAFailedEvaluatorIsIgnored) {
  JobWorld world{quick()};
  RoleSpec chief = role(1, 1);
  chief.success = RoleSuccess::Decides;
  RoleSpec workers = role(2, 1);
  workers.exits = false;
  RoleSpec evaluator = role(1, 1);
  evaluator.failure = RoleFailure::Ignored;
  evaluator.restart = RestartPolicy::Never;
  evaluator.endings = {after(20_s, 1)};
  world.add({job_of(JobKind::Pods, {chief, workers, evaluator}, 100_s)});
  world.run();
  const JobRow row = world.job_rows().at(0);
  EXPECT_EQ(row.outcome, JobOutcome::Completed);
  EXPECT_EQ(row.ended, Time{} + 100_s);
  EXPECT_EQ(of_rank(world.pod_rows(), 3).size(), 1U);
  EXPECT_EQ(of_rank(world.pod_rows(), 3)[0].ended, Time{} + 20_s);
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 300);  // 100 s of the chief and 2 * 100 s of the workers
  EXPECT_DOUBLE_EQ(row.gpu_s_lost, 20);
}

TEST(Roles, ARankThatFailsBringsItsGangDownAndBackUntilTheLimit) {
  JobWorld world{quick()};
  RoleSpec ranks = role(2, 8);
  ranks.backoff_limit = 1;
  ranks.endings = {after(40_s, 1)};
  world.add({job_of(JobKind::MpiGang, {ranks}, 100_s)});
  world.run();
  EXPECT_THAT(world.phases,
              ElementsAre("0s pending->running", "40s running->hung", "45s hung->restarting",
                          "55s restarting->pending", "55s pending->running", "95s running->hung",
                          "100s hung->failed"));
  const JobRow row = world.job_rows().at(0);
  EXPECT_EQ(row.cause, EndCause::Error);
  EXPECT_EQ(row.exit_code, 1);
  EXPECT_EQ(row.restarts, 1);
}

TEST(Roles, APodBesideAGangIsReplacedAloneAndGoesWithTheJob) {
  JobWorld world{quick()};
  RoleSpec ranks = role(2, 8), launcher = role(1, 0);
  launcher.takes_part = false;
  launcher.endings = {after(30_s, 143)};
  world.add({job_of(JobKind::MpiGang, {ranks, launcher}, 100_s)});
  world.run();
  EXPECT_THAT(world.phases, ElementsAre("0s pending->running", "100s running->completed"));
  const auto lives = of_rank(world.pod_rows(), 2);
  ASSERT_EQ(lives.size(), 3U);  // lives from 0 to 30 s, from 40 to 70 s, and from 80 s on
  EXPECT_EQ(lives[0].end, PodEnd::Exited);
  EXPECT_EQ(lives[1].created, Time{} + 40_s);
  EXPECT_EQ(lives[2].end, PodEnd::CleanedUp);
  EXPECT_EQ(world.job_rows().at(0).members, 2);
}

TEST(Roles, PodsThatAreNotCleanedUpHoldWhatTheyHaveAfterTheirJob) {
  JobWorld world{quick()};
  RoleSpec worker = role(1, 4), server = role(1, 2);
  server.exits = false;
  server.clean_up = CleanUp::None;
  world.add({job_of(JobKind::Pods, {worker, server}, 100_s)});
  world.run();
  EXPECT_TRUE(world.controller.all_done());
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 2'000);
  world.controller.finish(Time{} + 300_s);
  const JobRow row = world.job_rows().at(0);
  EXPECT_EQ(row.outcome, JobOutcome::Completed);
  EXPECT_EQ(row.ended, Time{} + 100_s);
  EXPECT_DOUBLE_EQ(row.gpu_s_useful, 600);
  EXPECT_DOUBLE_EQ(row.gpu_s_held, 400);  // the server's two GPUs from 100 s to 300 s
  EXPECT_EQ(of_rank(world.pod_rows(), 1).at(0).end, PodEnd::RunEnded);
}

TEST(Roles, ALostNodeTakesPodsThatWereLeftBehind) {
  JobWorld world{quick()};
  RoleSpec worker = role(1, 4), server = role(1, 2);
  server.exits = false;
  server.clean_up = CleanUp::None;
  world.add({job_of(JobKind::Pods, {worker, server}, 100_s)});
  world.fail_at(Time{} + 150_s, {0});
  world.run();
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 0);
  EXPECT_EQ(world.job_rows().size(), 1U);
  EXPECT_DOUBLE_EQ(world.job_rows().at(0).gpu_s_held, 100);
}

TEST(Roles, APodThatIsLeftBehindBeforeItStartsChangesNothing) {
  JobWorld world{quick()};
  world.controller.pod_starts().use(StartStage::Images, [&](PodId pod, Duration,
                                                            PodStarts::Ready logged) {
    const Duration takes = world.jobs.pod(pod).rank == 1 ? 200_s : 0_s;
    world.engine.after(takes, Label{"test.pulled"}, [logged = std::move(logged)] { logged({}); });
  });
  RoleSpec worker = role(1, 4), server = role(1, 2);
  server.exits = false;
  server.clean_up = CleanUp::None;
  world.add({job_of(JobKind::Pods, {worker, server}, 100_s)});
  world.run();
  EXPECT_EQ(world.engine.now(), Time{} + 200_s);
  EXPECT_TRUE(world.controller.all_done());
  EXPECT_EQ(world.phases.back(), "100s running->completed");
}

TEST(Roles, AFailedPodOfAnOrderedStatefulSetMakesWayForTheNext) {
  JobWorld world{quick()};
  RoleSpec members = role(3, 1);
  members.controller = WorkloadKind::OrderedStatefulSet;
  members.failure = RoleFailure::Ignored;
  members.restart = RestartPolicy::Never;
  members.endings = {after(20_s, 1)};
  world.add({job_of(JobKind::Pods, {members}, 100_s)});
  world.run();
  EXPECT_EQ(world.pod_rows().size(), 3U);
  EXPECT_EQ(world.job_rows().at(0).outcome, JobOutcome::Completed);
}

TEST(RecordedEnds, AJobEndsAsItsTraceSaysWithoutAnotherTry) {
  for (const auto& [kind, pods] : {std::tuple{JobKind::MpiGang, 2}, std::tuple{JobKind::Pods, 1}}) {
    JobWorld world{quick()};
    JobSpec job = make_job(kind, pods, 4, 60_s);
    job.ending = Ending{60_s, kTerminated, EndCause::Cancelled};
    JobSpec failed = job;
    failed.ending = Ending{60_s, 1, EndCause::Error};
    world.add({job, failed});
    world.run();
    const auto rows = world.job_rows();
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].outcome, JobOutcome::Cancelled);
    EXPECT_EQ(rows[0].cause, EndCause::Cancelled);
    EXPECT_EQ(rows[0].exit_code, kTerminated);
    EXPECT_EQ(rows[1].outcome, JobOutcome::Failed);
    EXPECT_EQ(rows[1].exit_code, 1);
    EXPECT_EQ(rows[1].ended, Time{} + 60_s);
    EXPECT_EQ(rows[1].restarts, 0);
    EXPECT_DOUBLE_EQ(rows[1].gpu_s_lost, 240.0 * pods);
    EXPECT_EQ(world.controller.counters().cancelled, 1U);
  }
}

// ---- regressions

TEST(Mended, AGangWithFewerMembersTakesLongerInProportion) {
  JobControllerParams params{.last_call = 10_s, .monitor_interval = std::nullopt};
  JobWorld world{{.nodes = 3, .params = params}};
  JobSpec job = make_job(JobKind::MpiGang, 4, 8, 300_s);
  job.gangs[0].min_available = 3;
  world.add({job});
  world.run(Time{} + 1000_s);
  // Three of four members do 300 s of work in 400 s, after a last call of 10 s.
  EXPECT_EQ(world.phases.back(), "410s running->completed");
}

TEST(Mended, BusyGpusAreThoseBoundWhilePodsLeave) {
  JobWorld world{quick()};
  int checked = 0;
  world.controller.pod_removed.connect([&](PodId pod) {
    const JobUsage usage = world.controller.usage(world.jobs.pod(pod).job);
    EXPECT_LE(usage.busy, usage.bound);
    ++checked;
  });
  world.add({make_job(JobKind::MpiGang, 3, 8, 100_s)});
  world.run();
  EXPECT_EQ(checked, 3);
}

}  // namespace
}  // namespace orrery
