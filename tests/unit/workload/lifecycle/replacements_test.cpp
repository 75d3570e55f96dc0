#include "models/workload/lifecycle/pods/replacements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/lives_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A job of two pods, each on the node of its rank.
struct ReplacementsWorld : LivesWorld {
  explicit ReplacementsWorld(const JobControllerParams& waits, JobKind kind = JobKind::Pods)
      : LivesWorld{{.params = waits}}, job{admit(make_job(kind, 2, 8, 100_s))} {
    create(job);
    for (uint32_t rank = 0; rank < 2; ++rank) bind({rank}, {rank});
    pods.creation().appeared.connect([this](PodId) { created.push_back(engine.now()); });
  }
  LostPod lose(uint32_t rank) {
    pods.remove({rank}, PodEnd::NodeFailed);
    return {.pod = {rank},
            .generation = jobs.pod({rank}).generation,
            .is_replaced = true,
            .at = engine.now()};
  }
  JobId job;
  std::vector<Time> created;  // again
};

TEST(Replacements, APodComesBackAfterTheDetectionAndTheDelay) {
  ReplacementsWorld world{{.failure_detection = 7_s, .restart_delay = 10_s}};
  world.replacements.lost({0}, world.lose(0));
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
  world.replacements.lost({0}, world.lose(0));
  world.create(world.job);
  world.engine.run();
  EXPECT_THAT(world.created, ElementsAre(Time{}));
}

TEST(Replacements, TheLostPodsOfAGangThatIsDownWaitForIt) {
  ReplacementsWorld world{{.failure_detection = 5_s}, JobKind::MpiGang};
  world.phases.set(world.job, JobPhase::Starting);
  world.phases.set(world.job, JobPhase::Hung);
  world.replacements.lost({0}, world.lose(0));
  world.engine.run();
  EXPECT_THAT(world.created, IsEmpty());
}

TEST(Replacements, WhoeverHearsOfNodesNoticesNothingAlone) {
  ReplacementsWorld world{{.hang_timeout = 3_min}};
  EXPECT_EQ(world.replacements.node_detection(), kExplicitFailure);
  EXPECT_EQ(world.replacements.gang_patience(), kExplicitFailure);
  world.replacements.expect_news_of_nodes(world.cluster.nodes());
  EXPECT_EQ(world.replacements.node_detection(), Duration::max());
  EXPECT_EQ(world.replacements.gang_patience(), 3_min);
  EXPECT_EQ(world.replacements.exit_detection(), kExplicitFailure);
  world.replacements.lost({0}, world.lose(0));
  world.engine.run();
  EXPECT_THAT(world.created, IsEmpty());
}

TEST(Replacements, NewsOfANodeIsOfThePodsThatItLostUntilThen) {
  ReplacementsWorld world{{}};
  world.replacements.expect_news_of_nodes(world.cluster.nodes());
  world.replacements.lost({0}, world.lose(0));
  world.go_to(10_s);
  world.replacements.lost({0}, world.lose(1));  // the node was up again in between
  const auto pods = [&](Time lost_by) {
    std::vector<PodId> known;
    for (const LostPod& lost : world.replacements.known_lost({0}, lost_by)) {
      known.push_back(lost.pod);
    }
    return known;
  };
  EXPECT_THAT(pods(Time{} + 9_s), ElementsAre(PodId{0}));
  EXPECT_THAT(pods(Time{} + 10_s), ElementsAre(PodId{1}));
  EXPECT_THAT(pods(Time{} + 20_s), IsEmpty());
}

}  // namespace
}  // namespace orrery
