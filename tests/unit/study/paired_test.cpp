#include "sim/cli/study/paired.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/core/rng.hpp"
#include "tests/support/sanitized.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Student's table: 2.262 for nine degrees of freedom; the mean is 5.5, the deviation 3.0277.
TEST(Paired, TheIntervalOfAMeanIsThatOfStudentsTable) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const Interval interval = t_interval(values, 0.95);
  const double half = 2.2621571627 * 3.0276503541 / std::sqrt(10);
  EXPECT_NEAR(interval.low, 5.5 - half, 1e-8);
  EXPECT_NEAR(interval.high, 5.5 + half, 1e-8);
}

TEST(Paired, ADifferenceThatIsAlwaysTheSameIsKnownExactly) {
  const std::vector<double> arm{3, 8, 5}, baseline{1, 6, 3};
  const PairedDifference paired = paired_difference(arm, baseline, 0.95, 1);
  EXPECT_DOUBLE_EQ(paired.difference, 2);
  EXPECT_DOUBLE_EQ(paired.t.low, 2);
  EXPECT_DOUBLE_EQ(paired.bootstrap.high, 2);
  EXPECT_NEAR(paired.correlation, 1, 1e-12);
  EXPECT_NEAR(paired.relative(), 0.6, 1e-12);
}

// How many of a thousand studies, of pairs that share most of their noise, contain the true value.
double covered(size_t seeds, bool is_skewed, bool by_bootstrap) {
  Rng rng{7};
  constexpr int kStudies = 1000;
  constexpr double kTrue = 3;
  int held = 0;
  for (int study = 0; study < kStudies; ++study) {
    std::vector<double> arm, baseline;
    for (size_t i = 0; i < seeds; ++i) {
      const double shared = 100 + 20 * rng.normal();
      const double noise = is_skewed ? rng.exponential() - 1 : rng.normal();
      baseline.push_back(shared + rng.normal());
      arm.push_back(shared + kTrue + noise);
    }
    std::vector<double> differences;
    for (size_t i = 0; i < seeds; ++i) differences.push_back(arm[i] - baseline[i]);
    const Interval interval = by_bootstrap ? bootstrap_interval(differences, 0.95, rng.next(), 1000)
                                           : t_interval(differences, 0.95);
    held += interval.contains(kTrue) ? 1 : 0;
  }
  return held / double{kStudies};
}

TEST(Paired, IntervalsHoldTheTrueDifferenceAsOftenAsTheySay) {
  for (const size_t seeds : {5U, 10U, 30U}) {
    EXPECT_GE(covered(seeds, false, false), 0.93) << seeds;
    EXPECT_LE(covered(seeds, false, false), 0.97) << seeds;
  }
  EXPECT_GE(covered(10, true, false), 0.93);
  EXPECT_LE(covered(10, true, false), 0.97);
  if (test::kIsSanitized) return;  // it takes long
  const double bootstrap = covered(20, true, true);
  EXPECT_GE(bootstrap, 0.93);
  EXPECT_LE(bootstrap, 0.97);
}

TEST(Paired, SameSeedSameBootstrap) {
  const std::vector<double> values{1, 2, 4, 8, 16, 32};
  const Interval first = bootstrap_interval(values, 0.9, 3),
                 again = bootstrap_interval(values, 0.9, 3);
  EXPECT_EQ(first.low, again.low);
  EXPECT_EQ(first.high, again.high);
}

TEST(Paired, NoBootstrapIsMadeOfFourDifferences) {
  const std::vector<double> four{1, 2, 3, 5}, five{1, 2, 3, 5, 8}, same(4, 2.5);
  EXPECT_TRUE(std::isnan(bootstrap_interval(four, 0.95, 1).low));
  EXPECT_LT(bootstrap_interval(five, 0.95, 1).low, 3.8);
  EXPECT_EQ(bootstrap_interval(same, 0.95, 1).high, 2.5);
  const std::vector<double> one{3}, other{1};
  EXPECT_TRUE(std::isnan(paired_difference(one, other, 0.95, 1).t.low));
}

TEST(Paired, DifferencesThatAreMostlyTheSameHaveABootstrapLikeTheOthers) {
  const std::vector<double> ties{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 0.2};
  const Interval interval = bootstrap_interval(ties, 0.95, 1);
  EXPECT_GT(interval.low, 0.05);
  EXPECT_LT(interval.high, 0.5);
}

TEST(Paired, SeedsThatAreGoodForOneArmAndBadForTheOtherAreTold) {
  std::vector<double> arm, baseline;
  for (int i = 0; i < 12; ++i) {
    arm.push_back(100 + i + 0.1 * (i % 3));
    baseline.push_back(20 - i);
  }
  EXPECT_THAT(doubts(paired_difference(arm, baseline, 0.95, 1)),
              ElementsAre(HasSubstr("equal seeds widen the interval")));
  std::ranges::reverse(baseline);
  EXPECT_TRUE(doubts(paired_difference(arm, baseline, 0.95, 1)).empty());
}

TEST(Paired, TooFewSeedsAreTold) {
  const std::vector<double> one{5}, other{3};
  EXPECT_THAT(doubts(paired_difference(one, other, 0.95, 1)), ElementsAre(HasSubstr("one seed")));
  const std::vector<double> arm{5, 9, 4, 8, 6, 3, 7, 5}, baseline{6, 7, 5, 9, 5, 4, 6, 6};
  const PairedDifference unclear = paired_difference(arm, baseline, 0.95, 1);
  EXPECT_THAT(doubts(unclear), ElementsAre(HasSubstr("no difference is shown")));
  EXPECT_EQ(pairs_needed(unclear, unclear.t.half() / 2), 32U);
  std::vector<double> clear = baseline;
  for (size_t i = 0; i < clear.size(); ++i) clear[i] += 10 + 0.1 * static_cast<double>(i);
  EXPECT_TRUE(doubts(paired_difference(clear, baseline, 0.95, 1)).empty());
}

}  // namespace
}  // namespace orrery
