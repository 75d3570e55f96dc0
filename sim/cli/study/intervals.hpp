// sim/cli/study/intervals.hpp -- confidence intervals of a mean, and numbers as text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace orrery {

// A confidence interval of a mean. Both ends are NaN if the interval is unknown.
struct Interval {
  double low = 0, high = 0;
  bool contains(double value) const { return low <= value && value <= high; }
  bool is_known() const { return low <= high; }  // no end is NaN
  double half() const { return (high - low) / 2; }
};

enum class Estimator : uint8_t { T, Bca };
constexpr std::array<std::string_view, 2> enum_names(Estimator) { return {"t", "bca"}; }

constexpr size_t kBcaValuesMin = 20;

// Student's t interval. Needs at least two values. The interval is exact for normally distributed
// values, and approximate for many values of another distribution.
Interval t_interval(std::span<const double> values, double confidence);
// The bootstrap interval of Efron (1987), corrected for bias and acceleration. The ends are
// quantiles of resampled means, so they lie between the smallest and the largest value. The seed of
// the resampling is fixed. Needs kBcaValuesMin values.
Interval bca_interval(std::span<const double> values, double confidence, int32_t resamples = 4'000);

struct IntervalOptions {
  double confidence = 0.95;
  Estimator estimator = Estimator::T;
};
// Returns an unknown interval if there are fewer values than the estimator needs.
Interval interval_of_mean(std::span<const double> values, const IntervalOptions& options);

double mean_of(std::span<const double> values);
double deviation_of(std::span<const double> values);  // sample deviation (n - 1)
// The sample skewness (G1 of Joanes and Gill, 1998), divided by the standard error that it has for
// normally distributed values. 0 if there are fewer than three values or all are equal.
double skewness_score(std::span<const double> values);

std::string short_text(double value);  // five digits; "–" for NaN
std::string exact_text(double value);  // parses to the same value; empty for NaN

}  // namespace orrery
