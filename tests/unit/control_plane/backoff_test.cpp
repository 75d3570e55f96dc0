#include "models/control_plane/base/backoff.hpp"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr Backoff kUpToFive{.first = 1_s, .max = 5_s};

TEST(Backoff, EachWaitIsTwiceTheLastUpToTheLongest) {
  Duration wait = {};
  for (const Duration expected : {1_s, 2_s, 4_s, 5_s, 5_s}) {
    wait = kUpToFive.next(wait);
    EXPECT_EQ(wait, expected);
  }
}

TEST(Backoff, TheWaitAfterSoManyFailuresIsThatOfAsManySteps) {
  Duration wait = {};
  for (int32_t failures = 1; failures < 200; ++failures) {
    wait = kUpToFive.next(wait);
    EXPECT_EQ(kUpToFive.after(failures), wait) << failures;
  }
  EXPECT_EQ((Backoff{.first = 1_s, .max = Duration::max()}.after(1'000)), Duration::max())
      << "it does not overflow";
}

TEST(Backoff, AJitteredWaitIsBetweenOnceAndTwiceAsLong) {
  Rng rng{7};
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Duration wait = jittered(10_s, rng);
    ASSERT_GE(wait, 10_s);
    ASSERT_LE(wait, 20_s);
    sum += wait.seconds();
  }
  EXPECT_NEAR(sum / 10'000, 15, 0.2) << "uniform: 7 standard errors of 0.029 s";
}

}  // namespace
}  // namespace orrery
