// sim/cli/study/paired.hpp -- the difference between two arms, from pairs of runs with equal seeds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sim/cli/study/intervals.hpp"

namespace orrery {

// How the two values of a pair are compared: by their difference, or by the logarithm of their
// ratio. Times and counts vary in proportion to their size, so their log ratios are closer to a
// normal distribution.
enum class Scale : uint8_t { Difference, LogRatio };
constexpr std::array<std::string_view, 2> enum_names(Scale) { return {"difference", "log_ratio"}; }

// Equal: in every pair the two values are equal. Unclear: the interval is unknown or contains 0. On
// both scales 0 means no difference.
enum class DifferenceVerdict : uint8_t { Unclear, Less, More, Equal };
constexpr std::array<std::string_view, 4> enum_names(DifferenceVerdict) {
  return {"unclear", "less", "more", "equal"};
}

struct Estimate {
  double mean = 0;
  Interval interval = {};
};

// An arm against its baseline, seed by seed. Example: waits of 10, 20 and 30 s against 20, 40 and
// 60 s. The mean difference is -20 s. In each pair the log ratio is ln 0.5, so percent() is -50.
struct PairedDifference {
  size_t pairs = 0, equal = 0;  // equal: pairs with two equal values
  double baseline = 0;          // mean of the baseline over the pairs
  Estimate difference = {};
  std::optional<Estimate> log_ratio = {};  // empty if a value is not positive
  Scale scale = Scale::Difference;
  // Correlation of the arms over the seeds; 0 if either arm does not vary. Common random numbers
  // increase the correlation.
  double correlation = 0;
  double skewness = 0;  // skewness_score() of the differences or log ratios
  bool varies = false;  // the value of at least one arm differs between seeds

  // The difference or the log ratio, as `scale` says; 0 means no difference.
  const Estimate& estimate() const { return scale == Scale::LogRatio ? *log_ratio : difference; }
  DifferenceVerdict verdict() const;
  // The difference in percent: 100 * (g - 1), where g is the geometric mean of the pairs' ratios.
  // NaN without log ratios.
  Estimate percent() const;
  // Half-width of the interval as a fraction of the baseline. 0 if the two values of each pair are
  // equal. Otherwise infinite if the baseline is 0 or the interval is unknown.
  double relative_half() const;
};
// Compares pair by pair; `arm` and `baseline` have the same length. With fewer pairs than the
// estimator needs, intervals are NaN. If a value is not positive, there are no log ratios, and
// Scale::Difference replaces `scale`.
PairedDifference paired_difference(std::span<const double> arm, std::span<const double> baseline,
                                   Scale scale, const IntervalOptions& options);

// The total number of pairs at which the half-width of estimate().interval is `half`, if further
// pairs vary as these do. SIZE_MAX if this number is unknown or reaches a billion.
size_t pairs_needed(const PairedDifference& paired, double half);

}  // namespace orrery
