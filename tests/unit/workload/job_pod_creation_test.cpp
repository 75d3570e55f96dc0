#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/job_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;

JobSpec gang_of(int32_t pods) { return make_job(JobKind::MpiGang, pods, 8, 1_s); }

TEST(PodCreation, TwoJobsThatArriveTogetherInterleaveTheirPods) {
  JobWorld world{{.nodes = 1, .binds = false}};
  world.add({gang_of(4), gang_of(4)});
  world.run();
  const auto ids = [](std::vector<uint32_t> list) {
    std::vector<PodId> pods;
    for (const uint32_t i : list) pods.push_back({i});
    return pods;
  };
  EXPECT_THAT(world.creations,
              ElementsAre(ids({0}), ids({4}), ids({1, 2}), ids({5, 6}), ids({3}), ids({7})));
}

TEST(PodCreation, ASyncCreatesAtMostFiveHundredPodsAndStartsSlowlyAgain) {
  JobWorld world{{.nodes = 1, .binds = false}};
  world.add({gang_of(503)});
  world.run();
  std::vector<size_t> sizes;
  for (const auto& batch : world.creations) sizes.push_back(batch.size());
  EXPECT_THAT(sizes, ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 245, 1, 2));
}

TEST(PodCreation, WorkersLimitHowManyJobsTakeTurns) {
  JobWorld world{{.nodes = 1, .params = {.concurrent_syncs = 1}, .binds = false}};
  world.add({gang_of(2), gang_of(1)});
  world.run();
  ASSERT_EQ(world.creations.size(), 3u);
  EXPECT_EQ(world.creations[2][0], PodId{2});
}

}  // namespace
}  // namespace orrery
