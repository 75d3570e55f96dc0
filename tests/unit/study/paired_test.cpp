#include "sim/cli/study/paired.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sim/cli/study/doubts.hpp"

namespace orrery {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr IntervalOptions kT{};
constexpr IntervalOptions kBca{.estimator = Estimator::Bca};

auto is_doubt(DoubtKind kind, const std::string& text) {
  return AllOf(Field(&Doubt::kind, kind), Field(&Doubt::text, HasSubstr(text)));
}

// The values have mean 5.5 and standard deviation 3.0277. 2.262 is Student's t for nine degrees of
// freedom.
TEST(Paired, TheIntervalOfAMeanIsThatOfStudentsTable) {
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const Interval interval = t_interval(values, 0.95);
  const double half = 2.2621571627 * 3.0276503541 / std::sqrt(10);
  EXPECT_NEAR(interval.low, 5.5 - half, 1e-8);
  EXPECT_NEAR(interval.high, 5.5 + half, 1e-8);
}

TEST(Paired, ADifferenceThatIsAlwaysTheSameIsKnownExactly) {
  const std::vector<double> arm{3, 8, 5}, baseline{1, 6, 3};
  const PairedDifference paired = paired_difference(arm, baseline, Scale::Difference, kT);
  EXPECT_DOUBLE_EQ(paired.difference.mean, 2);
  EXPECT_DOUBLE_EQ(paired.difference.interval.low, 2);
  EXPECT_DOUBLE_EQ(paired.difference.interval.high, 2);
  EXPECT_NEAR(paired.correlation, 1, 1e-12);
  EXPECT_EQ(paired.verdict(), DifferenceVerdict::More);
}

// Shares of about 0.02 % in five seeds. Four differences are 1e-5, the fifth is -1e-5. A
// bootstrap-t interval would be [-30.8, 0.0002]: a third of the resamples omit the fifth value, so
// their standard error is about 0.
TEST(Paired, AShareOfFewNearlyEqualSamplesHasASaneInterval) {
  const std::vector<double> arm{2.1e-4, 2.1e-4, 2.1e-4, 2.1e-4, 1.9e-4};
  const std::vector<double> baseline{2e-4, 2e-4, 2e-4, 2e-4, 2e-4};
  const auto [mean, interval] = paired_difference(arm, baseline, Scale::Difference, kT).difference;
  EXPECT_NEAR(mean, 6e-6, 1e-12);
  // 2.776445 is Student's t for four degrees of freedom; 4e-6 is the standard error.
  EXPECT_NEAR(interval.low, 6e-6 - 2.776445 * 4e-6, 1e-11);
  EXPECT_NEAR(interval.high, 6e-6 + 2.776445 * 4e-6, 1e-11);
}

// The arm takes 0.46 s longer on average, because of one seed. A bootstrap-t interval would be
// [-0.29, 10292].
TEST(Paired, ADifferenceOfTimesOfFewNearlyEqualSamplesHasASaneInterval) {
  const std::vector<double> arm{100.0, 100.0, 100.0, 100.0, 102.3};
  const std::vector<double> baseline(5, 100.0);
  const PairedDifference paired = paired_difference(arm, baseline, Scale::LogRatio, kT);
  EXPECT_NEAR(paired.difference.mean, 0.46, 1e-12);
  EXPECT_NEAR(paired.difference.interval.low, 0.46 - 2.776445 * 0.46, 1e-6);
  EXPECT_NEAR(paired.difference.interval.high, 0.46 + 2.776445 * 0.46, 1e-6);
  EXPECT_NEAR(paired.percent().interval.high, 1.735, 0.01);
  EXPECT_EQ(paired.verdict(), DifferenceVerdict::Unclear);
}

// In three pairs the arm takes 50 %, 1 % and 30 % of the baseline. The t interval of the arithmetic
// mean of the differences would include reductions by more than 100 %.
TEST(Paired, NothingFallsByMoreThanAHundredPercent) {
  const std::vector<double> arm{50, 1, 30}, baseline{100, 100, 100};
  const PairedDifference paired = paired_difference(arm, baseline, Scale::LogRatio, kT);
  const auto [mean, interval] = paired.percent();
  EXPECT_NEAR(mean, 100 * (std::cbrt(0.5 * 0.01 * 0.3) - 1), 1e-9);
  EXPECT_GT(interval.low, -100);
  EXPECT_LT(100 * paired.difference.interval.low / paired.baseline, -100);
}

TEST(Paired, ValuesThatAreNotPositiveHaveNoRatios) {
  const std::vector<double> arm{0, 3, 4}, baseline{1, 2, 2};
  const PairedDifference paired = paired_difference(arm, baseline, Scale::LogRatio, kT);
  EXPECT_EQ(paired.scale, Scale::Difference);
  EXPECT_TRUE(std::isnan(paired.percent().mean));
}

TEST(Paired, FewSeedsAreDoubtedUnlessEachPairIsEqual) {
  const std::vector<double> baseline{6, 7, 5, 9, 5}, more{8, 10, 7, 12, 7};
  EXPECT_THAT(doubts(paired_difference(more, baseline, Scale::Difference, kT), Estimator::T),
              ElementsAre(is_doubt(DoubtKind::FewSeeds, "only 5 seeds")));
  EXPECT_THAT(doubts(paired_difference(baseline, baseline, Scale::Difference, kT), Estimator::T),
              IsEmpty());
}

// One of 20 values is far above the others. The interval of BCa reaches further up than down; a t
// interval would be symmetric.
TEST(Paired, BcaLeansWithTheValuesAndStaysAmongThem) {
  std::vector<double> values(20, 1.0);
  for (size_t i = 0; i < 10; ++i) values[i] = 2.0;
  values[0] = 10;
  const Interval bca = interval_of_mean(values, kBca), again = interval_of_mean(values, kBca);
  EXPECT_EQ(bca.low, again.low);
  EXPECT_EQ(bca.high, again.high);
  const double mean = mean_of(values);
  EXPECT_GT(bca.high - mean, mean - bca.low);
  EXPECT_GE(bca.low, 1);
  EXPECT_LE(bca.high, 10);
}

TEST(Paired, BcaIsNotMadeOfFewValues) {
  const std::vector<double> few(kBcaValuesMin - 1, 1.0), same(kBcaValuesMin, 2.5);
  EXPECT_FALSE(interval_of_mean(few, kBca).is_known());
  EXPECT_EQ(interval_of_mean(same, kBca).low, 2.5);
}

TEST(Paired, OneSeedHasNoInterval) {
  const std::vector<double> one{5}, other{3};
  const PairedDifference paired = paired_difference(one, other, Scale::LogRatio, kT);
  EXPECT_FALSE(paired.difference.interval.is_known());
  EXPECT_EQ(paired.verdict(), DifferenceVerdict::Unclear);
  EXPECT_TRUE(std::isinf(paired.relative_half()));
  EXPECT_THAT(doubts(paired, Estimator::T),
              ElementsAre(is_doubt(DoubtKind::FewSeeds, "one seed says nothing")));
}

TEST(Paired, SeedsThatAreGoodForOneArmAndBadForTheOtherAreDoubted) {
  std::vector<double> arm, baseline;
  for (int i = 0; i < 12; ++i) {
    arm.push_back(100 + i + 0.1 * (i % 3));
    baseline.push_back(20 - i);
  }
  EXPECT_THAT(doubts(paired_difference(arm, baseline, Scale::Difference, kT), Estimator::T),
              ElementsAre(is_doubt(DoubtKind::Opposed, "equal seeds widen the interval")));
}

TEST(Paired, AnUnclearDifferenceNamesTheSeedsThatItTakes) {
  const std::vector<double> arm{5, 9, 4, 8, 6, 3, 7, 5, 6, 4},
      baseline{6, 7, 5, 9, 5, 4, 6, 6, 5, 5};
  const PairedDifference unclear = paired_difference(arm, baseline, Scale::Difference, kT);
  EXPECT_THAT(doubts(unclear, Estimator::T),
              ElementsAre(is_doubt(DoubtKind::NotShown, "the interval contains 0")));
  EXPECT_EQ(pairs_needed(unclear, unclear.difference.interval.half() / 2), 40U);
  std::vector<double> clear = baseline;
  for (size_t i = 0; i < clear.size(); ++i) clear[i] += 10 + 0.1 * static_cast<double>(i);
  EXPECT_THAT(doubts(paired_difference(clear, baseline, Scale::Difference, kT), Estimator::T),
              IsEmpty());
}

TEST(Paired, WhatNoSeedChangesIsNotAMatterOfChance) {
  const std::vector<double> arm(5, 2.0), baseline(5, 3.0);
  EXPECT_THAT(doubts(paired_difference(arm, baseline, Scale::Difference, kT), Estimator::T),
              ElementsAre(is_doubt(DoubtKind::NothingRandom, "permute_ties")));
}

TEST(Paired, TiedAndSkewedPairsNameTheCoverageMeasured) {
  const std::vector<double> baseline{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  std::vector<double> tied = baseline, skewed = baseline;
  for (const size_t i : {0U, 1U, 2U}) tied[i] += 1 + 0.1 * static_cast<double>(i);
  for (size_t i = 0; i < 10; ++i) skewed[i] += i == 4 ? 40 : 1 + 0.01 * static_cast<double>(i);
  const auto of = [&](const std::vector<double>& arm) {
    return doubts(paired_difference(arm, baseline, Scale::Difference, kT), Estimator::T);
  };
  EXPECT_THAT(of(tied), ::testing::Contains(is_doubt(DoubtKind::Coverage,
                                                     "7 of 10 pairs are equal: "
                                                     "95 % intervals of such samples contained the "
                                                     "true value in 78 % of synthetic studies")));
  EXPECT_THAT(of(skewed), ::testing::Contains(is_doubt(DoubtKind::Coverage, "are skewed")));
}

}  // namespace
}  // namespace orrery
