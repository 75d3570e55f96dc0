// sim/cli/study/paired.hpp -- what pairs of runs with the same random numbers say of two arms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace orrery {

// Of a mean: it lies between the ends with the confidence asked for.
struct Interval {
  double low = 0, high = 0;
  bool contains(double value) const { return low <= value && value <= high; }
  double half() const { return (high - low) / 2; }
};

// Student's t, for differences that are normal or for many of them. Needs two values at least.
Interval t_interval(std::span<const double> values, double confidence);
// Bootstrap-t: resampled means in units of their own standard errors, which holds for skewed values
// too. Needs two values; with fewer than five that differ the ends are NaN, and with fewer than
// eight it is no better than the t. Same seed, same ends.
Interval bootstrap_interval(std::span<const double> values, double confidence, uint64_t seed,
                            int32_t resamples = 4'000);

double mean_of(std::span<const double> values);
double deviation_of(std::span<const double> values);  // of the sample: n - 1 below

// An arm against the one that it is compared with: value minus value, seed by seed.
struct PairedDifference {
  size_t pairs = 0;
  double baseline = 0;    // its mean over the pairs
  double difference = 0;  // the mean of the differences
  Interval t = {}, bootstrap = {};
  // Correlation of the arms over the seeds: how much common random numbers helped. 0 if either does
  // not vary.
  double correlation = 0;

  // Parts of the baseline; 0 if that is 0.
  double relative() const { return baseline == 0 ? 0 : difference / baseline; }
  double relative_half() const;
};
// Both of the same length; with less than two pairs the intervals are NaN.
PairedDifference paired_difference(std::span<const double> arm, std::span<const double> baseline,
                                   double confidence, uint64_t seed);

// Why the pairs cannot support a claim about their difference; empty: they can.
std::vector<std::string> doubts(const PairedDifference& paired);
// So many pairs would narrow the interval to this half width, if they vary as those at hand do.
size_t pairs_needed(const PairedDifference& paired, double half);

}  // namespace orrery
