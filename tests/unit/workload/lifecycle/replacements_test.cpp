#include "models/workload/lifecycle/pods/replacements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/lives_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A job of two pods: rank 0 on node 0, rank 1 on node 1.
struct ReplacementsWorld : LivesWorld {
  explicit ReplacementsWorld(const JobControllerParams& waits, JobKind kind = JobKind::Pods)
      : LivesWorld{{.params = waits}}, job{admit(make_job(kind, 2, 8, 100_s))} {
    create(job);
    for (uint32_t rank = 0; rank < 2; ++rank) bind({rank}, {rank});
    pods.creation().appeared.connect([this](PodId) { created.push_back(engine.now()); });
  }
  LostPod lose(uint32_t rank) {
    pods.remove({rank}, PodEnd::NodeFailed);
    return {.life = {{rank}, jobs.pod({rank}).generation}, .is_replaced = true};
  }
  JobId job;
  std::vector<Time> created;  // times at which pods were created again
};

TEST(Replacements, APodComesBackAfterTheDetectionAndTheDelay) {
  ReplacementsWorld world{{.failure_detection = 7_s, .restart_delay = 10_s}};
  world.replacements.lost(world.lose(0));
  world.engine.run();
  EXPECT_THAT(world.created, ElementsAre(Time{} + 17_s));
}

TEST(Replacements, TheDelayDoublesWithEachRestartUpToItsMaximum) {
  ReplacementsWorld world{{.restart_delay = 10_s, .restart_delay_max = 35_s}};
  const std::vector<Duration> delays{10_s, 10_s, 20_s, 35_s, 35_s};
  for (size_t restarts = 0; restarts < delays.size(); ++restarts) {
    world.accounts.of(world.job).restarts = static_cast<int32_t>(restarts);
    EXPECT_EQ(world.replacements.delay(world.job), delays[restarts]) << restarts;
  }
}

TEST(Replacements, APodThatIsBackAlreadyIsNotCreatedAgain) {
  ReplacementsWorld world{{.failure_detection = 5_s}};
  world.replacements.lost(world.lose(0));
  world.create(world.job);
  world.engine.run();
  EXPECT_THAT(world.created, ElementsAre(Time{}));
}

TEST(Replacements, TheLostPodsOfAGangThatIsDownWaitForIt) {
  ReplacementsWorld world{{.failure_detection = 5_s}, JobKind::MpiGang};
  world.phases.set(world.job, JobPhase::Starting);
  world.phases.set(world.job, JobPhase::Hung);
  world.replacements.lost(world.lose(0));
  world.engine.run();
  EXPECT_THAT(world.created, IsEmpty());
}

TEST(Replacements, WithAnApiDeadNodesAreNoticedByDeletionsAlone) {
  ReplacementsWorld world{{.hang_timeout = 3_min}};
  EXPECT_EQ(world.replacements.node_detection(), kExplicitFailure);
  EXPECT_EQ(world.replacements.gang_patience(), kExplicitFailure);
  world.replacements.expect_deletions();
  EXPECT_EQ(world.replacements.node_detection(), Duration::max());
  EXPECT_EQ(world.replacements.gang_patience(), 3_min);
  EXPECT_EQ(world.replacements.exit_detection(), kExplicitFailure);
  world.replacements.lost(world.lose(0));
  world.engine.run();
  EXPECT_THAT(world.created, IsEmpty());
}

TEST(Replacements, ADeletionIsOfOneLifeOfAPod) {
  ReplacementsWorld world{{}};
  world.replacements.expect_deletions();
  const LostPod first = world.lose(0), other = world.lose(1);
  world.replacements.lost(first);
  world.replacements.lost(other);
  ASSERT_TRUE(world.replacements.deleted(first.life));
  EXPECT_FALSE(world.replacements.deleted(first.life)) << "reported once";
  world.create(world.job);  // creates both lost pods again
  EXPECT_FALSE(world.replacements.deleted(other.life)) << "nobody waits for it any more";
  world.bind({1}, {1});
  const LostPod again = world.lose(1);
  world.replacements.lost(again);
  EXPECT_FALSE(world.replacements.deleted(other.life)) << "an earlier life";
  EXPECT_TRUE(world.replacements.deleted(again.life));
}

}  // namespace
}  // namespace orrery
