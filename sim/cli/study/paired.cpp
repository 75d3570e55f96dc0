#include "sim/cli/study/paired.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

double correlation_of(std::span<const double> a, std::span<const double> b) {
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

Estimate estimate_of(std::span<const double> values, const IntervalOptions& options) {
  return {mean_of(values), interval_of_mean(values, options)};
}

}  // namespace

DifferenceVerdict PairedDifference::verdict() const {
  if (equal == pairs && pairs > 0) return DifferenceVerdict::Equal;
  const auto& [mean, interval] = estimate();
  if (!interval.is_known() || interval.contains(0)) return DifferenceVerdict::Unclear;
  return mean < 0 ? DifferenceVerdict::Less : DifferenceVerdict::More;
}

Estimate PairedDifference::percent() const {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (!log_ratio) return {kNone, {kNone, kNone}};
  const auto in_percent = [](double logarithm) { return 100 * std::expm1(logarithm); };
  const auto& [mean, interval] = *log_ratio;
  return {in_percent(mean), {in_percent(interval.low), in_percent(interval.high)}};
}

double PairedDifference::relative_half() const {
  const double half = scale == Scale::LogRatio ? percent().interval.half() / 100
                                               : std::abs(difference.interval.half() / baseline);
  return std::isfinite(half) ? half : equal == pairs ? 0 : std::numeric_limits<double>::infinity();
}

PairedDifference paired_difference(std::span<const double> arm, std::span<const double> baseline,
                                   Scale scale, const IntervalOptions& options) {
  ORRERY_CHECK(arm.size() == baseline.size(), "each value of an arm has one to compare with");
  std::vector<double> differences, log_ratios;
  PairedDifference paired{.pairs = arm.size(), .baseline = mean_of(baseline)};
  for (size_t i = 0; i < arm.size(); ++i) {
    paired.equal += arm[i] == baseline[i] ? 1 : 0;
    paired.varies = paired.varies || arm[i] != arm[0] || baseline[i] != baseline[0];
    differences.push_back(arm[i] - baseline[i]);
    if (arm[i] > 0 && baseline[i] > 0) log_ratios.push_back(std::log(arm[i] / baseline[i]));
  }
  paired.difference = estimate_of(differences, options);
  if (log_ratios.size() == arm.size()) paired.log_ratio = estimate_of(log_ratios, options);
  if (paired.log_ratio) paired.scale = scale;
  paired.correlation = correlation_of(arm, baseline);
  paired.skewness = skewness_score(paired.scale == Scale::LogRatio ? log_ratios : differences);
  return paired;
}

size_t pairs_needed(const PairedDifference& paired, double half) {
  const double times = paired.estimate().interval.half() / half;
  if (!(half > 0) || !std::isfinite(times)) return SIZE_MAX;
  const double pairs = std::ceil(static_cast<double>(paired.pairs) * times * times);
  return pairs < 1e9 ? std::max<size_t>(static_cast<size_t>(pairs), 2) : SIZE_MAX;
}

}  // namespace orrery
