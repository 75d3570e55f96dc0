#include "models/workload/lifecycle/independent_pods.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/lives_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Pods of 8 GPUs with 100 s of work each. As soon as pod i is created, it is bound to node i. A
// lost pod is recreated after 5 s of detection and 10 s of delay. A pod that exited is recreated
// after the delay alone.
struct IndependentPodsWorld : LivesWorld {
  explicit IndependentPodsWorld(const JobSpec& spec)
      : LivesWorld{{.params = {.failure_detection = 5_s, .restart_delay = 10_s}}} {
    watch(independent.over);
    news.pods_created.connect([this](std::span<const PodId> created) {
      for (const PodId pod : created) {
        bind(pod, {pod.index});
        independent.bound(pod);
      }
    });
    news.pod_runs.connect([this](PodId pod) {
      runs_from.push_back(std::to_string(engine.now().ns / 1'000'000'000) + "s " +
                          std::to_string(jobs.pod(pod).rank));
    });
    job = admit(spec);
    independent.admitted(job);
    create(job);
  }
  static JobSpec pods_of(int32_t count = 1) { return make_job(JobKind::Pods, count, 8, 100_s); }
  // A job whose only pod fails 30 s after each of its starts.
  static JobSpec failing(RestartPolicy restart, int32_t exit_code = 1) {
    JobSpec spec = pods_of();
    spec.gangs[0].roles[0].restart = restart;
    spec.gangs[0].roles[0].endings = {
        {.chance = 1, .exit_code = exit_code, .after = FixedDuration{30_s}}};
    return spec;
  }
  static DrawnEndingParams succeeding() {
    return {.cause = EndCause::None, .chance = 1, .exit_code = 0, .after = FixedDuration{40_s}};
  }
  // Makes the calls that the job controller makes when the node fails. Pod i, which runs on node i,
  // is lost. The node itself stays up.
  void fail(uint32_t node) {
    const PodId pod{node};
    independent.struck(pod, {node});
    pods.remove(pod, PodEnd::NodeFailed);
    replacements.lost({.life = {pod, jobs.pod(pod).generation}, .is_replaced = true});
    independent.job_struck(job);
  }
  const JobAccount& account() const { return accounts.of(job); }

  IndependentPods independent{engine, jobs,       accounts,     phases, pods,
                              runs,   recoveries, replacements, news};
  JobId job;
  std::vector<std::string> runs_from;  // such as "15s 0" when pod 0 computes from 15 s on
};

// ---- without failures

TEST(IndependentPods, AJobCompletesWhenAllItsPodsHave) {
  IndependentPodsWorld world{IndependentPodsWorld::pods_of(2)};
  world.go_to(40_s);
  world.independent.stops({1});
  world.pods.remove({1}, PodEnd::Preempted);
  world.independent.refresh_phase(world.job);
  world.create(world.job);
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("140s completed none"));
  EXPECT_EQ(world.pods.counts(world.job).done, 2);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.account().gpu_time.useful), 16 * 100.0);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.account().gpu_time.lost), 8 * 40.0);
}

TEST(IndependentPods, ThePhaseOfAJobIsThatOfItsForemostPod) {
  JobSpec spec = IndependentPodsWorld::pods_of();
  spec.init = 3_s;
  IndependentPodsWorld world{spec};
  world.go_to(10_s);
  world.fail(0);
  world.go_to(30_s);
  EXPECT_THAT(world.moves,
              ElementsAre("0s pending->starting", "3s starting->running", "10s running->pending",
                          "25s pending->starting", "28s starting->running"));
}

// ---- effects of a pod's end

TEST(IndependentPods, OneThatIsNeverRestartedFailsTheJob) {
  IndependentPodsWorld world{IndependentPodsWorld::failing(RestartPolicy::Never)};
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("30s failed error"));
}

TEST(IndependentPods, OneThatIsRestartedOnFailureStartsAfterTheDelay) {
  IndependentPodsWorld world{IndependentPodsWorld::failing(RestartPolicy::OnFailure)};
  world.go_to(100_s);
  EXPECT_THAT(world.runs_from, ElementsAre("0s 0", "40s 0", "80s 0"));
  EXPECT_EQ(world.account().restarts, 2);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.account().gpu_time.lost), 8 * 60.0);
}

TEST(IndependentPods, ARoleHasAsManyRestartsAsItsBackoffLimitSays) {
  JobSpec spec = IndependentPodsWorld::failing(RestartPolicy::OnFailure, 3);
  spec.gangs[0].roles[0].backoff_limit = 2;
  IndependentPodsWorld world{spec};
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("110s failed error"));
  EXPECT_EQ(world.account().restarts, 2);
}

TEST(IndependentPods, OneThatIsAlwaysRestartedIsSoAfterASuccess) {
  JobSpec spec = IndependentPodsWorld::pods_of();
  spec.gangs[0].roles[0].restart = RestartPolicy::Always;
  spec.gangs[0].roles[0].backoff_limit = 0;  // a success does not count against the limit
  IndependentPodsWorld world{spec};
  world.go_to(300_s);
  EXPECT_THAT(world.runs_from, ElementsAre("0s 0", "110s 0", "220s 0"));
  EXPECT_THAT(world.ends, IsEmpty());
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.account().gpu_time.useful), 8 * 200.0);
}

TEST(IndependentPods, ExitCodesDecideWhetherAPodIsTriedAgain) {
  for (const int32_t exit_code : {1, 130, 137, 138, 139, 143}) {
    IndependentPodsWorld world{IndependentPodsWorld::failing(RestartPolicy::ExitCode, exit_code)};
    world.go_to(50_s);
    EXPECT_EQ(world.ends.empty(), is_retryable(exit_code)) << exit_code;
    EXPECT_EQ(world.account().restarts, is_retryable(exit_code) ? 1 : 0) << exit_code;
  }
}

TEST(IndependentPods, APodMaySucceedBeforeItsWorkIsDone) {
  JobSpec spec = IndependentPodsWorld::pods_of();
  spec.gangs[0].roles[0].endings = {IndependentPodsWorld::succeeding()};
  IndependentPodsWorld world{spec};
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("40s completed none"));
}

TEST(IndependentPods, APodWhoseFailureIsIgnoredStaysAwayAndIsDone) {
  JobSpec spec = IndependentPodsWorld::pods_of();
  RoleSpec helpers = IndependentPodsWorld::failing(RestartPolicy::Never).gangs[0].roles[0];
  helpers.failure = RoleFailure::Ignored;
  spec.gangs[0].roles.push_back(helpers);
  IndependentPodsWorld world{spec};
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("100s completed none"));
  EXPECT_THAT(world.runs_from, ElementsAre("0s 0", "0s 1"));
  EXPECT_EQ(world.accounts.counters().pods_failed, 1u);
}

TEST(IndependentPods, ARecordedEndIsThatOfTheJobWhateverItsRolesSay) {
  JobSpec spec = IndependentPodsWorld::pods_of(2);
  spec.gangs[0].roles[0].restart = RestartPolicy::Always;
  spec.ending = Ending{.after = 60_s, .exit_code = kKilled, .cause = EndCause::Cancelled};
  IndependentPodsWorld world{spec};
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("60s cancelled cancelled"));
}

// ---- effects of a role's success

TEST(IndependentPods, ARoleThatDecidesCompletesTheJobAlone) {
  JobSpec spec = IndependentPodsWorld::pods_of(2);
  RoleSpec chief = spec.gangs[0].roles[0];
  chief.pods = 1;
  chief.success = RoleSuccess::Decides;
  chief.endings = {IndependentPodsWorld::succeeding()};
  spec.gangs[0].roles.push_back(chief);
  IndependentPodsWorld world{spec};
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("40s completed none"));
}

TEST(IndependentPods, ARoleWhoseSuccessIsIgnoredIsNotWaitedFor) {
  JobSpec spec = IndependentPodsWorld::pods_of();
  RoleSpec workers = spec.gangs[0].roles[0];
  workers.endings = {IndependentPodsWorld::succeeding()};
  spec.gangs[0].roles[0].success = RoleSuccess::Ignored;
  spec.gangs[0].roles.push_back(workers);
  IndependentPodsWorld world{spec};
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("40s completed none"));
}

TEST(IndependentPods, PodsThatDoNotExitAreNotWaitedFor) {
  JobSpec spec = IndependentPodsWorld::pods_of();
  RoleSpec servers = spec.gangs[0].roles[0];
  servers.exits = false;
  spec.gangs[0].roles.push_back(servers);
  IndependentPodsWorld world{spec};
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("100s completed none"));
  EXPECT_EQ(world.jobs.pod({1}).state, PodState::Running);
}

// ---- failures of nodes

TEST(IndependentPods, ALostPodComesBackAloneFromItsLastCheckpoint) {
  JobSpec spec = IndependentPodsWorld::pods_of(2);
  spec.checkpoint_interval = 20_s;
  spec.restore = 4_s;
  IndependentPodsWorld world{spec};
  world.go_to(50_s);
  world.fail(1);
  world.engine.run();
  // Pod 1 is lost at 50 s with 40 s of work saved, recreated at 65 s, and its checkpoint is loaded
  // at 69 s.
  EXPECT_THAT(world.runs_from, ElementsAre("0s 0", "0s 1", "69s 1"));
  EXPECT_THAT(world.ends, ElementsAre("129s completed none"));
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.account().gpu_time.lost), 8 * 10.0);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.account().gpu_time.restore), 8 * 4.0);
}

TEST(IndependentPods, APodMoreThanTheLimitIsLostAndTheJobFailsOnceThatIsNoticed) {
  JobSpec spec = IndependentPodsWorld::pods_of(2);
  spec.restarts_max = 1;
  IndependentPodsWorld world{spec};
  world.go_to(20_s);
  world.fail(0);
  EXPECT_FALSE(world.independent.is_failing(world.job));
  world.go_to(30_s);
  world.fail(1);
  EXPECT_TRUE(world.independent.is_failing(world.job));
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("35s failed node_failed"));
}

TEST(IndependentPods, APodThatRunsOnAfterItsJobKeepsOrLosesWhatItComputed) {
  for (const bool keeps : {true, false}) {
    IndependentPodsWorld world{IndependentPodsWorld::pods_of()};
    world.go_to(40_s);
    world.independent.leave({0}, keeps);
    world.go_to(200_s);
    EXPECT_THAT(world.ends, IsEmpty());
    const GpuTime& time = world.account().gpu_time;
    EXPECT_DOUBLE_EQ(GpuTime::seconds(keeps ? time.useful : time.lost), 8 * 40.0);
    EXPECT_EQ(world.runs.of(world.job).gpu_milli, 0);
  }
}

TEST(IndependentPods, APodThatLeavesBeforeItComputesDoesNotRun) {
  JobSpec spec = IndependentPodsWorld::pods_of();
  spec.init = 30_s;
  IndependentPodsWorld world{spec};
  world.go_to(10_s);
  world.pods.remove({0}, PodEnd::JobFailed);
  world.go_to(100_s);
  EXPECT_THAT(world.runs_from, IsEmpty());
}

}  // namespace
}  // namespace orrery
