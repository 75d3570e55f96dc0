#include "models/telemetry/running_quantiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/core/rng.hpp"

namespace orrery {
namespace {

TEST(RunningQuantiles, AreNoneOfNoValue) {
  RunningQuantiles none;
  EXPECT_TRUE(std::isnan(none.quantile(50)));
  EXPECT_TRUE(std::isnan(none.mean()));
}

TEST(RunningQuantiles, OfFewValuesAreExact) {
  RunningQuantiles few;
  for (const double value : {4.0, 1.0, 3.0, 2.0}) few.add(value);
  EXPECT_EQ(few.quantile(50), 2);
  EXPECT_EQ(few.quantile(99), 4);
  EXPECT_EQ(few.mean(), 2.5);
}

TEST(RunningQuantiles, OfManyValuesAreWithinOnePartIn2048) {
  for (const double sigma : {0.1, 2.0, 6.0}) {
    RunningQuantiles many;
    std::vector<double> all;
    Rng rng{7};
    for (size_t i = 0; i < 3 * RunningQuantiles::kExactMax; ++i) {
      all.push_back(i % 5 == 0 ? 0 : rng.lognormal(3, sigma));
      many.add(all.back());
    }
    std::ranges::sort(all);
    for (const uint64_t percent : {10U, 50U, 90U, 99U, 100U}) {
      const double exact = all[(all.size() * percent + 99) / 100 - 1];
      EXPECT_NEAR(many.quantile(percent), exact, exact / 2048 + 1e-6 * exact) << percent;
    }
    EXPECT_EQ(many.count(), all.size());
  }
}

}  // namespace
}  // namespace orrery
