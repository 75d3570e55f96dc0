#include "models/workload/lifecycle/companions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/lives_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A gang whose pod 0 is a rank and whose other pods have the role `evaluator`. Each pod is bound as
// soon as it is created, and its containers run 2 s later. If the role's restart policy allows
// it, an evaluator is recreated 10 s after its exit.
struct CompanionsWorld : LivesWorld {
  explicit CompanionsWorld(const RoleSpec& evaluator, int32_t min_available = 0)
      : LivesWorld{{.params = {.pod_start = {.median = 2_s}, .restart_delay = 10_s}}} {
    watch(companions.over);
    news.pods_created.connect([this](std::span<const PodId> created) {
      for (const PodId pod : created) {
        bind(pod, {pod.index});
        pods.starts().begin(pod);
      }
    });
    pods.leaving.connect([this](PodId pod, PodEnd why) {
      left.push_back(std::to_string(engine.now().ns / 1'000'000'000) + "s " +
                     std::to_string(pod.index) + " " + std::string{name_of(why)});
    });
    JobSpec spec = make_job(JobKind::MpiGang, 1, 8, 1'000_s);
    spec.gangs[0].roles.push_back(evaluator);
    spec.gangs[0].min_available = min_available;
    job = admit(spec);
    companions.admitted(job);
    create(job);
  }
  // The role of an evaluator that fails 20 s after each of its starts.
  static RoleSpec failing(int32_t exit_code = 1) {
    RoleSpec role;
    role.spec.gpus = 8;
    role.takes_part = false;
    role.endings = {{.chance = 1, .exit_code = exit_code, .after = FixedDuration{20_s}}};
    return role;
  }

  Companions companions{sim(), jobs, accounts, pods, replacements};
  JobId job;
  std::vector<std::string> left;  // pods that left, such as "22s 1 exited" for pod 1
};

TEST(Companions, OneThatFailedComesBackAlone) {
  CompanionsWorld world{CompanionsWorld::failing()};
  world.go_to(60_s);
  EXPECT_THAT(world.left, ElementsAre("22s 1 exited", "54s 1 exited"));
  EXPECT_THAT(world.ends, IsEmpty());
  EXPECT_EQ(world.accounts.counters().pods_failed, 2u);
  EXPECT_EQ(world.accounts.of(world.job).restarts, 0);  // restarts of the gang
}

TEST(Companions, OneThatMayNotComeBackFailsTheJob) {
  RoleSpec role = CompanionsWorld::failing();
  role.restart = RestartPolicy::Never;
  CompanionsWorld world{role};
  world.go_to(60_s);
  EXPECT_THAT(world.ends, ElementsAre("22s failed error"));
}

TEST(Companions, OneWhoseFailureIsIgnoredStaysAway) {
  RoleSpec role = CompanionsWorld::failing();
  role.restart = RestartPolicy::Never;
  role.failure = RoleFailure::Ignored;
  CompanionsWorld world{role};
  world.go_to(60_s);
  EXPECT_THAT(world.ends, IsEmpty());
  world.create(world.job);
  EXPECT_EQ(world.jobs.pod({1}).state, PodState::Absent);
}

TEST(Companions, ARoleIsHeldToNoMoreThanThePodsThatMayStillCome) {
  RoleSpec role = CompanionsWorld::failing();
  role.restart = RestartPolicy::Never;
  role.failure = RoleFailure::Ignored;
  role.pods = role.min_available = 2;
  CompanionsWorld world{role, 2};
  const Job& job = world.jobs.job(world.job);
  const RoleId evaluators{job.first_role.index + 1};
  world.go_to(10_s);
  EXPECT_EQ(world.jobs.role(evaluators).min_available, 2);
  EXPECT_EQ(world.jobs.role(evaluators).bound, 2);
  world.go_to(60_s);
  EXPECT_EQ(world.jobs.role(evaluators).min_available, 0);
  EXPECT_EQ(world.jobs.role(evaluators).bound, 0);
  EXPECT_TRUE(world.jobs.has_quorum(world.job));
}

TEST(Companions, OneThatSucceededIsNoFailure) {
  RoleSpec role = CompanionsWorld::failing(0);
  role.endings[0].cause = EndCause::None;
  CompanionsWorld world{role};
  world.go_to(60_s);
  EXPECT_THAT(world.ends, IsEmpty());
  EXPECT_EQ(world.accounts.counters().pods_failed, 0u);
}

TEST(Companions, OneHasAsManyRestartsAsItsBackoffLimitSays) {
  RoleSpec role = CompanionsWorld::failing();
  role.backoff_limit = 1;
  CompanionsWorld world{role};
  world.go_to(100_s);
  EXPECT_THAT(world.ends, ElementsAre("54s failed error"));
}

TEST(Companions, OneThatIsRemovedBeforeDoesNotExit) {
  CompanionsWorld world{CompanionsWorld::failing()};
  world.go_to(10_s);
  world.pods.remove({1}, PodEnd::CleanedUp);
  world.go_to(100_s);
  EXPECT_THAT(world.left, ElementsAre("10s 1 cleaned_up"));
  EXPECT_EQ(world.accounts.counters().pods_failed, 0u);
}

TEST(Companions, OneThatComesBackIsDrawnANewEnd) {
  CompanionsWorld world{CompanionsWorld::failing()};
  world.go_to(10_s);
  world.pods.remove({1}, PodEnd::NodeFailed);
  world.create(world.job);
  world.go_to(40_s);
  EXPECT_THAT(world.left, ElementsAre("10s 1 node_failed", "32s 1 exited"));
}

TEST(Companions, OneThatRunsOnAfterItsJobDoesNotExit) {
  CompanionsWorld world{CompanionsWorld::failing()};
  world.go_to(10_s);
  world.companions.leave({1});
  world.go_to(100_s);
  EXPECT_THAT(world.left, IsEmpty());
}

TEST(Companions, RanksAreNone) {
  RoleSpec role = CompanionsWorld::failing();
  role.takes_part = true;
  CompanionsWorld world{role};
  world.go_to(60_s);
  EXPECT_THAT(world.left, IsEmpty());
}

}  // namespace
}  // namespace orrery
