#include "models/control_plane/base/retry_after.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace orrery {
namespace {

void drop(RetryAfter& retry_after, int64_t second, int drops) {
  for (int i = 0; i < drops; ++i) retry_after.note_drop(Time{} + 1_s * second + 10_ms * i);
}

TEST(RetryAfter, ConstantIsOneSecondWhateverIsDropped) {
  RetryAfter retry_after{RetryAfterKind::Constant};
  for (int64_t s = 0; s < 100; ++s) drop(retry_after, s, 50);
  EXPECT_EQ(retry_after.value(), 1_s);
}

TEST(RetryAfter, AdaptiveDoublesNoFasterThanItsOwnSpanUpTo32Seconds) {
  RetryAfter retry_after{RetryAfterKind::Adaptive};
  std::vector<int64_t> seconds;
  for (int64_t s = 100; s < 170; ++s) {
    drop(retry_after, s, 50);
    seconds.push_back(retry_after.value() / 1_s);
  }
  // The value r is 1 at first and doubles after r seconds: at 101, 103, 107, 115 and 131.
  EXPECT_EQ(seconds[0], 1);
  EXPECT_EQ(seconds[1], 2);
  EXPECT_EQ(seconds[2], 2);
  EXPECT_EQ(seconds[3], 4);
  EXPECT_EQ(seconds[6], 4);
  EXPECT_EQ(seconds[7], 8);
  EXPECT_EQ(seconds[15], 16);
  EXPECT_EQ(seconds[30], 16);
  EXPECT_EQ(seconds[31], 32);
  EXPECT_EQ(seconds[69], 32);
}

TEST(RetryAfter, AdaptiveFallsByOneWhenFewAreDropped) {
  RetryAfter retry_after{RetryAfterKind::Adaptive};
  for (int64_t s = 100; s <= 107; ++s) drop(retry_after, s, 50);
  EXPECT_EQ(retry_after.value(), 8_s);
  drop(retry_after, 200, 1);
  EXPECT_EQ(retry_after.value(), 7_s);
  drop(retry_after, 300, 1);
  EXPECT_EQ(retry_after.value(), 6_s);
}

TEST(RetryAfter, AdaptiveStaysBetween) {
  RetryAfter retry_after{RetryAfterKind::Adaptive};
  for (int64_t s = 100; s <= 103; ++s) drop(retry_after, s, 50);
  EXPECT_EQ(retry_after.value(), 4_s);
  // r is the value in seconds, n the number of drops in the r seconds before. At 110 s, r = 4 and
  // n = 0: n < r, so r falls to 3. At 111 s, n = 2: n < r, so r falls to 2. From 112 s on, n = 4,
  // which is between r and 3 r, so r stays 2.
  for (int64_t s = 110; s <= 140; ++s) drop(retry_after, s, 2);
  EXPECT_EQ(retry_after.value(), 2_s);
}

}  // namespace
}  // namespace orrery
