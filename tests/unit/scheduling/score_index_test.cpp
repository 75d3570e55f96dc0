#include "models/scheduling/framework/score_index.hpp"

#include <gtest/gtest.h>

#include <array>

namespace orrery {
namespace {

using Scores = std::array<int64_t, 2>;

size_t classes_in_use(const ScoreIndex& index) {
  size_t used = 0;
  for (size_t c = 0; c < index.classes(); ++c) used += index.count(c) > 0 ? 1 : 0;
  return used;
}

TEST(ScoreIndex, PutsNodesWithTheSameScoresTogether) {
  ScoreIndex index;
  index.reset(10, 2);
  for (uint32_t n = 0; n < 10; ++n) index.insert({n}, Scores{n % 2 == 0 ? 7 : -3, 1});
  index.erase({4});
  index.erase({4});
  EXPECT_EQ(index.size(), 9u);
  ASSERT_EQ(index.classes(), 2u);
  EXPECT_EQ(index.class_of({2}), index.class_of({8}));
  const size_t even = index.class_of({2});
  EXPECT_EQ(index.count(even), 4u);
  EXPECT_EQ(index.score(even, 0), 7);
  EXPECT_EQ(index.score(index.class_of({3}), 0), -3);
  EXPECT_FALSE(index.nodes(even).contains({4}));
  EXPECT_TRUE(index.nodes(even).contains({0}));
}

TEST(ScoreIndex, ForgetsClassesThatNobodyIsInBeforeThereAreTooMany) {
  ScoreIndex index;
  index.reset(2, 2);
  index.insert({1}, Scores{-1, -1});
  for (int64_t i = 0; i < 2000; ++i) {
    index.insert({0}, Scores{i, i % 3});
    ASSERT_EQ(index.score(index.class_of({0}), 0), i);
    ASSERT_EQ(index.score(index.class_of({1}), 0), -1);
    index.erase({0});
  }
  EXPECT_TRUE(index.is_usable());
  EXPECT_EQ(classes_in_use(index), 1u);
  EXPECT_LE(index.classes(), 512u);
}

TEST(ScoreIndex, GivesUpWhereHardlyAnyNodesAreAlike) {
  ScoreIndex index;
  index.reset(600, 2);
  for (uint32_t n = 0; n < 600; ++n) index.insert({n}, Scores{n, 0});
  EXPECT_FALSE(index.is_usable());
  index.erase({0});
  index.reset(600, 2);
  EXPECT_TRUE(index.is_usable());
  EXPECT_EQ(index.size(), 0u);
}

}  // namespace
}  // namespace orrery
