#include "models/control_plane/base/latency_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/core/rng.hpp"

namespace orrery {
namespace {

TEST(LatencyHistogram, QuantilesAreWrongByLessThanAPercent) {
  Rng rng{1};
  LatencyHistogram histogram;
  std::vector<int64_t> spans;
  for (int i = 0; i < 100'000; ++i) {
    spans.push_back(nearest_ns(rng.lognormal(-6, 2)).ns);
    histogram.add(Duration{spans.back()});
  }
  std::ranges::sort(spans);
  for (const double part : {0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<size_t>(std::ceil(part * 100'000)) - 1;
    const auto exact = static_cast<double>(spans[rank]);
    EXPECT_NEAR(static_cast<double>(histogram.quantile(part).ns), exact, exact / 128) << part;
  }
  EXPECT_EQ(histogram.count(), 100'000U);
}

TEST(LatencyHistogram, ShortSpansAndTheMeanAreExact) {
  LatencyHistogram histogram;
  for (const int64_t ns : {0, 1, 63, 64, 127}) histogram.add(Duration{ns});
  EXPECT_EQ(histogram.quantile(0.2), Duration{0});
  EXPECT_EQ(histogram.quantile(0.6), Duration{63});
  EXPECT_EQ(histogram.quantile(1), Duration{127});
  EXPECT_DOUBLE_EQ(histogram.mean_s(), 51e-9);
}

TEST(LatencyHistogram, HoldsTheLongestSpan) {
  LatencyHistogram histogram;
  histogram.add(Duration::max());
  EXPECT_GT(histogram.quantile(0.5).seconds(), 9.1e9);
}

TEST(LatencyHistogram, AddsUpAndRestarts) {
  LatencyHistogram a, b;
  EXPECT_TRUE(std::isnan(a.mean_s()));
  EXPECT_EQ(a.quantile(0.5), Duration{});
  a.add(10_ns);
  b.add(30_ns);
  a.add(b);
  EXPECT_EQ(a.count(), 2U);
  EXPECT_EQ(a.quantile(1), 30_ns);
  a.clear();
  EXPECT_EQ(a.count(), 0U);
  a.add(b);
  EXPECT_EQ(a.quantile(0.5), 30_ns);
}

}  // namespace
}  // namespace orrery
