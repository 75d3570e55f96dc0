// Pods that died with their nodes and are still in the API.
#include "models/control_plane/nodes/dead_pods.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<uint32_t> ids(const std::vector<DeadPod>& pods) {
  std::vector<uint32_t> found;
  for (const DeadPod& pod : pods) found.push_back(pod.pod.index);
  return found;
}

TEST(DeadPods, AreGoneOnceAllObjectsAreDeleted) {
  DeadPods dead{2};
  dead.died({1}, {{5}, 1}, 50);
  dead.died({1}, {{6}, 1}, 60);
  EXPECT_THAT(dead.begin({0}), IsEmpty()) << "of another node";
  EXPECT_THAT(dead.begin({1}), ElementsAre(50, 60));
  EXPECT_THAT(dead.begin({1}), IsEmpty()) << "they are being deleted";
  EXPECT_THAT(ids(dead.deleted({1})), IsEmpty());
  EXPECT_THAT(ids(dead.deleted({1})), ElementsAre(5, 6));
}

TEST(DeadPods, ALaterLossIsNotAmongThoseBeingDeleted) {
  DeadPods dead{1};
  dead.died({0}, {{5}, 1}, 50);
  EXPECT_THAT(dead.begin({0}), ElementsAre(50));
  dead.died({0}, {{6}, 1}, 60);  // the node came up and died again
  EXPECT_THAT(ids(dead.deleted({0})), ElementsAre(5));
  EXPECT_THAT(dead.begin({0}), ElementsAre(60));
  EXPECT_THAT(ids(dead.deleted({0})), ElementsAre(6));
}

TEST(DeadPods, DeletionsOfANodeThatOverlapEndTogether) {
  DeadPods dead{1};
  dead.died({0}, {{5}, 1}, 50);
  dead.died({0}, {{6}, 1}, 60);
  EXPECT_THAT(dead.begin({0}), ElementsAre(50, 60));
  EXPECT_THAT(ids(dead.deleted({0})), IsEmpty());
  dead.died({0}, {{7}, 1}, 70);
  EXPECT_THAT(dead.begin({0}), ElementsAre(70));
  EXPECT_THAT(ids(dead.deleted({0}, 2)), ElementsAre(5, 6, 7));
}

}  // namespace
}  // namespace orrery
