#include "models/workload/lifecycle/gang_lives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/lives_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// One job with pods of 8 GPUs. With `binds`, pod k is bound to node k as soon as the pod is
// created.
struct GangLivesWorld : LivesWorld {
  explicit GangLivesWorld(const JobSpec& spec, const JobControllerParams& rules = waits(),
                          bool binds = true)
      : LivesWorld{{.params = rules}} {
    watch(gangs.over);
    news.pod_removed.connect([this](PodId pod) {
      removed.push_back(std::to_string(engine.now().ns / 1'000'000'000) + "s " +
                        std::to_string(jobs.pod(pod).rank));
    });
    if (binds) {
      news.pods_created.connect([this](std::span<const PodId> created) {
        for (const PodId pod : created) bind_member(pod.index);
      });
    }
    job = admit(spec);
    gangs.admitted(job);
    create(job);
  }
  static JobControllerParams waits() { return {.failure_detection = 5_s, .restart_delay = 10_s}; }
  static JobSpec gang(int32_t members = 2) {
    return make_job(JobKind::MpiGang, members, 8, 1'000_s);
  }
  // Pods 0 to 2 are ranks, of which two suffice. Pod 3 is an evaluator, so it is no rank.
  static JobSpec elastic_with_evaluator() {
    JobSpec spec = gang(3);
    RoleSpec evaluator = spec.gangs[0].roles[0];
    evaluator.pods = 1;
    evaluator.takes_part = false;
    spec.gangs[0].roles.push_back(evaluator);
    spec.gangs[0].min_available = 2;
    return spec;
  }
  void bind_member(uint32_t rank) {
    bind({rank}, {rank});
    gangs.bound({rank});
  }
  // Node N fails, and is up again at once. Pod N is lost. Makes the calls that the job controller
  // would make.
  void fail(uint32_t node) {
    const PodId pod{node};
    if (gangs.is_needed(pod)) gangs.stops(job, {node});
    pods.remove(pod, PodEnd::NodeFailed);
    gangs.member_lost(pod);
    gangs.node_lost(job);
  }
  void preempt(uint32_t rank) {
    const bool is_needed = gangs.is_needed({rank});
    if (is_needed) gangs.stops(job, {});
    pods.remove({rank}, PodEnd::Preempted);
    gangs.preempted({rank}, is_needed);
  }
  const JobAccount& account() const { return accounts.of(job); }

  GangLives gangs{sim(), jobs, params,     accounts,     phases,
                  pods,  runs, recoveries, replacements, news};
  JobId job;
  std::vector<std::string> removed;  // such as "12s 1" for pod 1 at 12 s
};

// ---- start and end

TEST(GangLives, AGangRunsOnceItsSlowestMemberIsUpAndItsCommunicatorSetUp) {
  JobSpec spec = GangLivesWorld::gang();
  spec.init = 3_s;
  GangLivesWorld world{spec, {.pod_start = {.median = 20_s}}, false};
  world.bind_member(0);
  world.go_to(30_s);
  world.bind_member(1);
  world.go_to(60_s);
  EXPECT_THAT(world.moves, ElementsAre("30s pending->starting", "53s starting->running"));
  EXPECT_EQ(world.account().members, 2);
  EXPECT_EQ(world.runs.of(world.job).gpu_milli, 16'000);
}

TEST(GangLives, AMemberWhoseStartIsNotKnownHoldsTheOthersBack) {
  GangLivesWorld world{GangLivesWorld::gang(), {}, false};
  PodStarts::Ready tell;
  world.pods.starts().use(StartStage::Images,
                          [&](PodId pod, Duration until, PodStarts::Ready logged) {
                            if (pod == PodId{0}) return logged(until);
                            tell = std::move(logged);
                          });
  world.bind_member(0);
  world.bind_member(1);
  world.go_to(40_s);
  tell(2_s);
  world.go_to(50_s);
  EXPECT_THAT(world.moves, ElementsAre("0s pending->starting", "42s starting->running"));
}

TEST(GangLives, AGangThatHasDoneItsWorkCompletes) {
  GangLivesWorld world{GangLivesWorld::gang()};
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("1000s completed none"));
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.account().gpu_time.useful), 16 * 1000.0);
}

TEST(GangLives, BusyGpusAreNeverMoreThanBoundOnesWhileItsPodsLeave) {
  GangLivesWorld world{GangLivesWorld::gang(3)};
  world.go_to(10_s);
  std::vector<int64_t> busy{world.runs.of(world.job).gpu_milli};
  world.news.pod_removed.connect([&](PodId) {
    busy.push_back(world.runs.of(world.job).gpu_milli);
    EXPECT_LE(busy.back(), world.account().bound_gpu_milli);
  });
  world.pods.remove_all(world.job, PodEnd::Completed);
  EXPECT_THAT(busy, ElementsAre(24'000, 16'000, 8'000, 0));
}

// ---- failures

TEST(GangLives, ALostMemberStopsTheOthers) {
  GangLivesWorld world{GangLivesWorld::gang()};
  world.go_to(100_s);
  world.moves.clear();
  world.fail(1);
  world.go_to(200_s);
  EXPECT_THAT(world.moves, ElementsAre("100s running->hung", "105s hung->restarting",
                                       "115s restarting->pending", "115s pending->running"));
  EXPECT_THAT(world.removed, ElementsAre("100s 1", "105s 0"));
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.account().gpu_time.lost), 16 * 100.0);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.account().gpu_time.hung), 8 * 5.0);
  EXPECT_EQ(world.account().restarts, 1);
}

TEST(GangLives, WithScopePodTheSurvivorsKeepTheirNodes) {
  JobSpec spec = GangLivesWorld::gang();
  spec.restart_scope = RestartScope::Pod;
  GangLivesWorld world{spec};
  world.go_to(100_s);
  world.fail(1);
  world.go_to(110_s);
  EXPECT_EQ(world.jobs.pod({0}).state, PodState::Bound);
  EXPECT_EQ(world.runs.of(world.job).gpu_milli, 0);  // the survivor's process has ended
  world.go_to(200_s);
  EXPECT_THAT(world.removed, ElementsAre("100s 1"));
  EXPECT_EQ(world.phases.of(world.job), JobPhase::Running);
}

TEST(GangLives, AGangWithoutRestartsLeftFails) {
  JobSpec spec = GangLivesWorld::gang();
  spec.restarts_max = 1;
  GangLivesWorld world{spec};
  world.go_to(100_s);
  world.fail(1);
  world.go_to(200_s);
  EXPECT_THAT(world.ends, IsEmpty());
  world.fail(0);
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("205s failed node_failed"));
}

TEST(GangLives, AMemberThatIsLostWhileItsGangGathersStopsNobody) {
  GangLivesWorld world{GangLivesWorld::gang(), GangLivesWorld::waits(), false};
  world.bind_member(0);
  world.go_to(10_s);
  world.fail(0);
  world.go_to(20_s);
  EXPECT_THAT(world.moves, IsEmpty());
  EXPECT_EQ(world.account().restarts, 0);
}

TEST(GangLives, ADeadProcessKeepsTheOthersWaitingUntilTheirTimeOut) {
  JobControllerParams params = GangLivesWorld::waits();
  params.hang_timeout = 1_min;
  GangLivesWorld world{GangLivesWorld::gang(), params};
  world.go_to(100_s);
  world.moves.clear();
  EXPECT_TRUE(world.gangs.rank_died({1}, 8'000));
  EXPECT_FALSE(world.gangs.rank_died({0}, 8'000));  // refused: the gang hangs already
  world.go_to(165_s);
  EXPECT_THAT(world.moves, ElementsAre("100s running->hung", "160s hung->restarting"));
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.account().gpu_time.hung), 16 * 60.0);
}

TEST(GangLives, WithoutATimeOutAGangHangsUntilSomebodySaysSo) {
  JobControllerParams params = GangLivesWorld::waits();
  params.hang_timeout = {};
  GangLivesWorld world{GangLivesWorld::gang(), params};
  world.go_to(100_s);
  world.gangs.rank_died({1}, 8'000);
  EXPECT_TRUE(world.gangs.hangs_for_ever(world.job));
  world.go_to(900_s);
  EXPECT_EQ(world.phases.of(world.job), JobPhase::Hung);
  world.gangs.detected_now(world.job);
  EXPECT_EQ(world.phases.of(world.job), JobPhase::Restarting);
  EXPECT_FALSE(world.gangs.hangs_for_ever(world.job));
}

TEST(GangLives, ExitCodesDecideWhetherAGangWhoseRankExitsRestarts) {
  for (const int32_t exit_code : {1, kKilled}) {
    JobSpec spec = GangLivesWorld::gang();
    spec.gangs[0].roles[0].restart = RestartPolicy::ExitCode;
    spec.gangs[0].roles[0].endings = {
        {.chance = 1, .exit_code = exit_code, .after = FixedDuration{30_s}}};
    GangLivesWorld world{spec};
    world.go_to(40_s);
    if (exit_code == 1) {
      EXPECT_THAT(world.ends, ElementsAre("35s failed error"));
    } else {
      EXPECT_THAT(world.ends, IsEmpty());
      EXPECT_EQ(world.phases.of(world.job), JobPhase::Restarting);
    }
    EXPECT_EQ(world.accounts.counters().pods_failed, 1u);
  }
}

TEST(GangLives, ARoleHasAsManyRestartsAsItsBackoffLimitSays) {
  JobSpec spec = GangLivesWorld::gang();
  spec.gangs[0].roles[0].backoff_limit = 2;
  spec.gangs[0].roles[0].endings = {{.chance = 1, .after = FixedDuration{30_s}}};
  GangLivesWorld world{spec};
  world.engine.run();
  // The gang runs three times for 30 s. Each failure is detected after 5 s, and a restart takes
  // another 10 s: 3 * (30 + 5) + 2 * 10.
  EXPECT_THAT(world.ends, ElementsAre("125s failed error"));
  EXPECT_EQ(world.account().restarts, 2);
}

// ---- preemption, suspension and late members

TEST(GangLives, APreemptedMemberStopsTheOthersAndIsNoFailure) {
  JobSpec spec = GangLivesWorld::gang();
  spec.restarts_max = 0;
  GangLivesWorld world{spec};
  world.go_to(100_s);
  world.moves.clear();
  world.preempt(1);
  world.go_to(200_s);
  EXPECT_THAT(world.moves, ElementsAre("100s running->hung", "105s hung->restarting",
                                       "115s restarting->pending", "115s pending->running"));
  EXPECT_EQ(world.account().restarts, 0);
  EXPECT_TRUE(world.recoveries.find(world.runs.of(world.job).recovery)->is_preemption);
}

TEST(GangLives, ASuspendedGangWritesThenGivesItsNodesBack) {
  GangLivesWorld world{GangLivesWorld::gang()};
  std::vector<JobId> suspended;
  world.news.job_suspended.connect([&](JobId job) { suspended.push_back(job); });
  world.go_to(100_s);
  EXPECT_TRUE(world.gangs.suspend(world.job, 8_s, {}));
  world.go_to(107_s);
  EXPECT_EQ(world.account().bound_gpu_milli, 16'000);
  world.go_to(108_s);
  EXPECT_THAT(suspended, ElementsAre(world.job));
  EXPECT_EQ(world.account().bound_gpu_milli, 0);
  EXPECT_EQ(world.phases.of(world.job), JobPhase::Pending);
  EXPECT_FALSE(world.gangs.suspend(world.job, 8_s, {}));  // refused: the gang does not run
  world.go_to(200_s);
  world.create(world.job);
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("1100s completed none"));
}

TEST(GangLives, AGangThatIsStruckWhileItIsSuspendedKeepsWhatItComputed) {
  GangLivesWorld world{GangLivesWorld::gang()};
  world.go_to(100_s);
  world.gangs.suspend(world.job, 8_s, {});
  world.go_to(103_s);
  world.fail(1);
  world.go_to(104_s);
  EXPECT_THAT(world.removed, ElementsAre("103s 1", "103s 0"));
  EXPECT_EQ(world.phases.of(world.job), JobPhase::Pending);
  EXPECT_EQ(world.runs.of(world.job).progress.saved, 100_s);
  EXPECT_EQ(world.account().restarts, 0);
}

TEST(GangLives, TheGpuTimeOfAPodThatIsLostWhileItsGangIsSuspendedIsBooked) {
  GangLivesWorld world{GangLivesWorld::gang()};
  world.go_to(100_s);
  world.gangs.suspend(world.job, 8_s, {});
  world.go_to(103_s);
  world.fail(1);
  world.go_to(104_s);
  EXPECT_DOUBLE_EQ(GpuTime::seconds(world.account().gpu_time.checkpoint), 16 * 3.0);
}

TEST(GangLives, ALateMemberMakesAnElasticGangStartAgain) {
  JobSpec spec = GangLivesWorld::gang(3);
  spec.gangs[0].min_available = 2;
  GangLivesWorld world{spec, {.last_call = 30_s, .monitor_interval = 1_s}, false};
  world.bind_member(0);
  world.bind_member(1);
  world.go_to(100_s);
  EXPECT_EQ(world.account().members, 2);
  world.bind_member(2);
  world.go_to(102_s);
  EXPECT_THAT(world.moves, ElementsAre("0s pending->starting", "30s starting->running",
                                       "101s running->starting", "101s starting->running"));
  EXPECT_EQ(world.account().members, 3);
  EXPECT_EQ(world.account().membership_changes, 1);
  EXPECT_EQ(world.account().restarts, 0);
  EXPECT_THAT(world.removed, IsEmpty());
}

TEST(GangLives, APodThatIsNoRankIsNotNeeded) {
  JobSpec spec = GangLivesWorld::gang();
  RoleSpec launcher = spec.gangs[0].roles[0];
  launcher.pods = 1;
  launcher.takes_part = false;
  spec.gangs[0].roles.push_back(launcher);
  GangLivesWorld world{spec};
  world.go_to(100_s);
  EXPECT_TRUE(world.gangs.is_needed({1}));
  EXPECT_FALSE(world.gangs.is_needed({2}));
  EXPECT_EQ(world.runs.of(world.job).gpu_milli, 16'000);
  EXPECT_FALSE(world.gangs.rank_died({2}, 8'000));
}

TEST(GangLives, AnElasticGangWithAllItsRanksTakesNoLongerForAnEvaluator) {
  GangLivesWorld world{GangLivesWorld::elastic_with_evaluator()};
  world.engine.run();
  EXPECT_THAT(world.ends, ElementsAre("1000s completed none"));
}

TEST(GangLives, AnEvaluatorThatComesLateStopsNoRank) {
  GangLivesWorld world{GangLivesWorld::elastic_with_evaluator(), GangLivesWorld::waits(), false};
  for (const uint32_t rank : {0U, 1U, 2U}) world.bind_member(rank);
  world.go_to(100_s);
  EXPECT_EQ(world.account().members, 3);
  world.bind_member(3);
  world.go_to(120_s);
  EXPECT_EQ(world.account().membership_changes, 0);
}

TEST(GangLives, AGangRestartsWithoutAnEvaluatorThatIsNotToComeBack) {
  JobSpec spec = GangLivesWorld::elastic_with_evaluator();
  spec.gangs[0].min_available = 0;  // 0: all members are needed
  GangLivesWorld world{spec};
  world.go_to(50_s);
  world.pods.remove({3}, PodEnd::Exited);
  world.pods.creation().set_retired({3}, true);  // as Companions does when a failure is ignored
  world.jobs.gang(world.jobs.pod({3}).gang).min_available = 3;
  world.go_to(100_s);
  world.fail(1);
  world.go_to(200_s);
  EXPECT_EQ(world.phases.of(world.job), JobPhase::Running);
}

}  // namespace
}  // namespace orrery
