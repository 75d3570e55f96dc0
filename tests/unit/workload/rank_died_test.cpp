// Deaths of processes on nodes that stay up. Suspensions of gangs, while a node of the gang fails
// or while a pod of the gang is being created.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/job_world.hpp"

namespace orrery {
namespace {

using testing::ElementsAre;

JobWorld::Options with_timeout(std::optional<Duration> hang_timeout) {
  JobWorld::Options options;
  options.nodes = 2;
  options.params.hang_timeout = hang_timeout;
  options.params.restart_delay = 20_s;
  return options;
}

// A gang of two pods with 8 GPUs each. The gang writes a checkpoint every 50 s. At 130 s a process
// of the second pod dies and, at the same instant, a process of the first pod.
struct DyingRank {
  explicit DyingRank(std::optional<Duration> hang_timeout, RestartScope scope = RestartScope::Gang)
      : world{with_timeout(hang_timeout)} {
    JobSpec job = make_job(JobKind::MpiGang, 2, 8, 200_s);
    job.checkpoint_interval = 50_s;
    job.restart_scope = scope;
    world.add({job});
    world.engine.at(Time{} + 130_s, Label{"test.rank_died"}, [this] {
      was_hit = world.controller.rank_died({1}, kMilli);
      second_hit = world.controller.rank_died({0}, kMilli);
    });
    world.controller.rank_dead.connect([this](PodId, int64_t milli) { dead += milli; });
  }
  JobWorld world;
  bool was_hit = false, second_hit = true;
  int64_t dead = 0;
};

TEST(RankDied, TheOthersHangUntilTheTimeOutAndTheGangStartsAgain) {
  DyingRank dying{60_s};
  dying.world.run();
  EXPECT_TRUE(dying.was_hit);
  EXPECT_FALSE(dying.second_hit) << "a job that hangs cannot hang again";
  EXPECT_EQ(dying.dead, kMilli);
  EXPECT_THAT(dying.world.phases, ElementsAre("0s pending->running", "130s running->hung",
                                              "190s hung->restarting", "210s restarting->pending",
                                              "210s pending->running", "310s running->completed"));
  const JobRow job = dying.world.job_rows().at(0);
  EXPECT_DOUBLE_EQ(job.gpu_s_lost, 16 * 30.0);  // the compute since the checkpoint at 100 s
  EXPECT_DOUBLE_EQ(job.gpu_s_hung, 16 * 60.0);
  EXPECT_DOUBLE_EQ(job.gpu_s_useful, 16 * 200.0);
  const RecoveryRow recovery = dying.world.recoveries().at(0);
  EXPECT_FALSE(recovery.node.is_valid());
  EXPECT_EQ(recovery.failed, Time{} + 130_s);
  EXPECT_EQ(recovery.detected, Time{} + 190_s);
  EXPECT_EQ(recovery.gpus, 16);
}

TEST(RankDied, WithScopeGangAllPodsAreCreatedAgain) {
  DyingRank dying{60_s, RestartScope::Gang};
  dying.world.run();
  const auto pods = dying.world.pod_rows();
  ASSERT_EQ(pods.size(), 4u);
  EXPECT_EQ(pods[0].end, PodEnd::GangStopped);
  EXPECT_EQ(pods[1].end, PodEnd::GangStopped);
}

TEST(RankDied, WithScopePodOnlyItsOwnPodIs) {
  DyingRank dying{60_s, RestartScope::Pod};
  dying.world.run();
  const auto pods = dying.world.pod_rows();
  ASSERT_EQ(pods.size(), 3u);
  EXPECT_EQ(pods[0].end, PodEnd::RankDied);
  EXPECT_EQ(pods[0].rank, 1);
  EXPECT_EQ(pods[0].ended, Time{} + 190_s);
  EXPECT_EQ(dying.world.job_rows().at(0).ended, Time{} + 310_s);
}

TEST(RankDied, WithoutATimeOutNobodyNoticesForEver) {
  DyingRank dying{std::nullopt};
  dying.world.run();
  EXPECT_EQ(dying.world.engine.now(), Time{} + 130_s) << "nothing is left to happen";
  EXPECT_FALSE(dying.world.controller.goes_on({0}));
  dying.world.controller.finish(Time{} + 1130_s);
  const JobRow job = dying.world.job_rows().at(0);
  EXPECT_EQ(job.outcome, JobOutcome::Hung);
  EXPECT_DOUBLE_EQ(job.gpu_s_hung, 16 * 1000.0);
  EXPECT_EQ(dying.world.recoveries().at(0).detected, kNever);
}

TEST(RankDied, IndependentPodsAndGangsThatDoNotRunAreLeftAlone) {
  JobWorld world{with_timeout(60_s)};
  JobSpec starting = make_job(JobKind::MpiGang, 1, 8, 100_s);
  starting.init = 50_s;
  world.add({make_job(JobKind::Pods, 1, 8, 100_s), starting});
  bool pods = true, start = true;
  world.engine.at(Time{} + 10_s, Label{"test.rank_died"}, [&] {
    pods = world.controller.rank_died({0}, kMilli);
    start = world.controller.rank_died({1}, kMilli);
  });
  world.run();
  EXPECT_FALSE(pods);
  EXPECT_FALSE(start);
  EXPECT_EQ(world.controller.counters().completed, 2u);
}

TEST(RankDied, AHungGangIsNoticedWhenANodeOfItFails) {
  JobWorld world{with_timeout(std::nullopt)};
  world.add({make_job(JobKind::MpiGang, 2, 8, 100_s)});
  world.engine.at(Time{} + 20_s, Label{"test.rank_died"},
                  [&] { EXPECT_TRUE(world.controller.rank_died({1}, 1000)); });
  world.fail_at(Time{} + 60_s, {0});
  world.run();
  EXPECT_EQ(world.job_rows().at(0).outcome, JobOutcome::Completed);
  EXPECT_EQ(world.job_rows().at(0).ended, Time{} + 60_s + 25_s + 100_s);
}

TEST(Suspension, ThatIsStruckEndsAtOnce) {
  JobWorld world{with_timeout(std::nullopt)};
  world.add({make_job(JobKind::MpiGang, 2, 8, 100_s)});
  int suspensions = 0;
  world.controller.job_suspended.connect([&](JobId) { ++suspensions; });
  world.engine.at(Time{} + 20_s, Label{"test.suspend"},
                  [&] { EXPECT_TRUE(world.controller.suspend({0}, 60_s, {})); });
  world.fail_at(Time{} + 30_s, {0});
  world.run(Time{} + 40_s);
  EXPECT_EQ(suspensions, 1);
  EXPECT_EQ(world.jobs.job({0}).phase, JobPhase::Pending);
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 0);
  world.controller.finish(Time{} + 40_s);
  EXPECT_DOUBLE_EQ(world.job_rows().at(0).gpu_s_checkpoint, 16 * 10.0);
  EXPECT_DOUBLE_EQ(world.job_rows().at(0).gpu_s_useful, 16 * 20.0);
}

// The scheduler observes the pod of rank 2 ten seconds late, and all other pods at once.
class LateThird final : public PodApi {
 public:
  explicit LateThird(JobWorld& world) : world_{world} {}
  void create(PodId pod, Reply reply) override {
    reply(Creation::Answered);
    if (pod.index != 2) return reply(Creation::Known);
    world_.engine.after(10_s, Label{"test.pod_known"},
                        [reply = std::move(reply)] { reply(Creation::Known); });
  }
  void bind(PodId /*pod*/, NodeId /*node*/, Done done) override { done(true); }
  void start(PodId /*pod*/, NodeId /*node*/, Started started) override { started({}); }
  void evict(PodId /*pod*/, Reply /*reply*/) override {}
  void nominated(PodId /*pod*/) override {}
  void scheduling_failed(PodId /*pod*/) override {}
  void removed(PodId pod, NodeId node, Observed observed) override {
    called_back += pod.index == 2 && !node.is_valid() ? 1 : 0;
    if (observed) observed();
  }
  int called_back = 0;

 private:
  JobWorld& world_;
};

TEST(Suspension, CallsBackPodsThatAreOnTheirWay) {
  JobWorld::Options options = with_timeout(std::nullopt);
  options.params.last_call = {};
  JobWorld world{options};
  LateThird api{world};
  world.controller.use(api);
  JobSpec elastic = make_job(JobKind::MpiGang, 3, 8, 100_s);
  elastic.gangs[0].min_available = 2;
  world.add({elastic});
  world.engine.at(Time{} + 5_s, Label{"test.suspend"},
                  [&] { EXPECT_TRUE(world.controller.suspend({0}, {}, {})); });
  world.run(Time{} + 1_min);
  EXPECT_EQ(api.called_back, 1);
  EXPECT_EQ(world.jobs.pod({2}).state, PodState::Absent);
  EXPECT_EQ(world.jobs.gang({0}).created, 0);
  EXPECT_EQ(world.cluster.gpu_milli_allocated(), 0);
}

}  // namespace
}  // namespace orrery
