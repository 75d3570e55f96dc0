#include "sim/cli/study/intervals.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "sim/core/check.hpp"
#include "sim/core/scatter.hpp"

namespace orrery {
namespace {

constexpr Interval kUnknownInterval{std::numeric_limits<double>::quiet_NaN(),
                                    std::numeric_limits<double>::quiet_NaN()};
constexpr uint64_t kResamplingSeed = 1;

double standard_error(std::span<const double> values) {
  return deviation_of(values) / std::sqrt(static_cast<double>(values.size()));
}

double sum_of_powers(std::span<const double> values, int power) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += std::pow(value - mean, power);
  return sum;
}

std::vector<double> resampled_means(std::span<const double> values, int32_t resamples) {
  std::vector<double> means(static_cast<size_t>(resamples));
  uint64_t draws = 0;
  for (double& mean : means) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      sum += values[((draw_of(kResamplingSeed, draws++) >> 32U) * values.size()) >> 32U];
    }
    mean = sum / static_cast<double>(values.size());
  }
  std::ranges::sort(means);
  return means;
}

}  // namespace

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double deviation_of(std::span<const double> values) {
  if (values.size() < 2) return 0;
  return std::sqrt(sum_of_powers(values, 2) / static_cast<double>(values.size() - 1));
}

double skewness_score(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double squares = sum_of_powers(values, 2);
  if (values.size() < 3 || squares <= 0) return 0;
  const double biased = std::sqrt(n) * sum_of_powers(values, 3) / std::pow(squares, 1.5);
  const double skewness = biased * std::sqrt(n * (n - 1)) / (n - 2);
  return skewness / std::sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)));
}

Interval t_interval(std::span<const double> values, double confidence) {
  ORRERY_CHECK(values.size() >= 2, "one value has no interval");
  const boost::math::students_t t{static_cast<double>(values.size() - 1)};
  const double half = boost::math::quantile(t, 0.5 + confidence / 2) * standard_error(values);
  const double mean = mean_of(values);
  return {mean - half, mean + half};
}

// The ends belong to p = (1 - confidence) / 2 and p = (1 + confidence) / 2. Each end is the
// quantile of the resampled means at
//   Phi(z0 + (z0 + z_p) / (1 - a * (z0 + z_p))).
// Phi is the standard normal distribution function, and z_p is Phi's quantile for p. z0 (`bias`) is
// Phi's quantile for the share of resampled means below `mean`; means equal to `mean` count half.
// `acceleration`, a in the formula, is the skewness of the values divided by 6 sqrt(n).
Interval bca_interval(std::span<const double> values, double confidence, int32_t resamples) {
  ORRERY_CHECK(values.size() >= kBcaValuesMin, "the bootstrap of few values is worse than t");
  const double mean = mean_of(values), squares = sum_of_powers(values, 2);
  if (squares <= 0) return {mean, mean};
  const std::vector<double> means = resampled_means(values, resamples);
  const auto [first, last] = std::ranges::equal_range(means, mean);
  const auto below = static_cast<double>(first - means.begin());
  const auto equal = static_cast<double>(last - first);
  const double count = resamples, part = (below + equal / 2) / count;
  const boost::math::normal normal;
  const double bias = boost::math::quantile(normal, std::clamp(part, 1 / count, 1 - 1 / count));
  const double acceleration = sum_of_powers(values, 3) / (6 * std::pow(squares, 1.5));
  const auto end = [&](double probability) {
    const double z = bias + boost::math::quantile(normal, probability);
    const double at = boost::math::cdf(normal, bias + z / (1 - acceleration * z));
    const double place = std::clamp(std::floor(at * count), 0.0, count - 1);
    return means[static_cast<size_t>(place)];
  };
  return {end((1 - confidence) / 2), end((1 + confidence) / 2)};
}

Interval interval_of_mean(std::span<const double> values, const IntervalOptions& options) {
  if (options.estimator == Estimator::Bca) {
    return values.size() < kBcaValuesMin ? kUnknownInterval
                                         : bca_interval(values, options.confidence);
  }
  return values.size() < 2 ? kUnknownInterval : t_interval(values, options.confidence);
}

std::string short_text(double value) {
  if (std::isnan(value)) return "–";
  char text[40];
  std::snprintf(text, sizeof text, "%.5g", value);
  return text;
}

std::string exact_text(double value) {
  if (std::isnan(value)) return "";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

}  // namespace orrery
