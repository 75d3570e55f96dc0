// sim/cli/study/paired.hpp -- what pairs of runs with the same random numbers say of two arms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sim/cli/study/intervals.hpp"

namespace orrery {

// What is compared within a pair: value minus value, or the logarithm of value over value. Times
// and counts vary in proportion to their size, so that their log ratios are nearer to normal.
enum class Scale : uint8_t { Difference, LogRatio };
constexpr std::array<std::string_view, 2> enum_names(Scale) { return {"difference", "log_ratio"}; }

// Equal: each pair is. Unclear: the interval holds the value of no difference.
enum class DifferenceVerdict : uint8_t { Unclear, Less, More, Equal };
constexpr std::array<std::string_view, 4> enum_names(DifferenceVerdict) {
  return {"unclear", "less", "more", "equal"};
}

struct Estimate {
  double mean = 0;
  Interval interval = {};
};

// An arm against the one that it is compared with, seed by seed.
struct PairedDifference {
  size_t pairs = 0, equal = 0;  // equal: of the pairs, those whose two values are
  double baseline = 0;          // its mean over the pairs
  Estimate difference = {};
  std::optional<Estimate> log_ratio = {};  // none: some value is not positive
  Scale scale = Scale::Difference;
  // Correlation of the arms over the seeds: how much common random numbers helped. 0 if either does
  // not vary.
  double correlation = 0;
  double skewness = 0;  // skewness_score() on the scale
  bool varies = false;  // some seed gives another value than the first, in either arm

  // On the scale, in which 0 is no difference.
  const Estimate& estimate() const { return scale == Scale::LogRatio ? *log_ratio : difference; }
  DifferenceVerdict verdict() const;
  // Of the typical (geometric mean) ratio of a pair: more than -100. NaN without log ratios.
  Estimate percent() const;
  // Half of the interval as a part of the baseline; infinite if that is 0 or little is known.
  double relative_half() const;
};
// Both of the same length. With less pairs than the estimator needs, intervals are NaN. On the
// scale of differences if there are no log ratios.
PairedDifference paired_difference(std::span<const double> arm, std::span<const double> baseline,
                                   Scale scale, const IntervalOptions& options);

// So many pairs would narrow the interval to this half width on the scale, if they vary as those at
// hand do.
size_t pairs_needed(const PairedDifference& paired, double half);

}  // namespace orrery
