#include "sim/cli/study/paired.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "sim/core/check.hpp"
#include "sim/core/scatter.hpp"

namespace orrery {
namespace {

constexpr size_t kFewPairs = 5;
constexpr Interval kUnknownInterval{std::numeric_limits<double>::quiet_NaN(),
                                    std::numeric_limits<double>::quiet_NaN()};

double standard_error(std::span<const double> values) {
  return deviation_of(values) / std::sqrt(static_cast<double>(values.size()));
}

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

double quantile(std::vector<double>& values, double part) {
  const auto last = static_cast<double>(values.size() - 1);
  const auto at = static_cast<std::ptrdiff_t>(std::floor(part * last + 0.5));
  std::ranges::nth_element(values, values.begin() + at);
  return values[static_cast<size_t>(at)];
}

}  // namespace

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double deviation_of(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

Interval t_interval(std::span<const double> values, double confidence) {
  ORRERY_CHECK(values.size() >= 2, "one value has no interval");
  const boost::math::students_t t{static_cast<double>(values.size() - 1)};
  const double half = boost::math::quantile(t, 0.5 + confidence / 2) * standard_error(values);
  const double mean = mean_of(values);
  return {mean - half, mean + half};
}

Interval bootstrap_interval(std::span<const double> values, double confidence, uint64_t seed,
                            int32_t resamples) {
  ORRERY_CHECK(values.size() >= 2, "one value has no interval");
  const double mean = mean_of(values), error = standard_error(values);
  if (error == 0) return {mean, mean};
  if (values.size() < kFewPairs) return kUnknownInterval;
  uint64_t draws = 0;
  const auto drawn = [&] {  // so that orrery.comparison in Python draws the same
    return values[static_cast<size_t>(((draw_of(seed, draws++) >> 32U) * values.size()) >> 32U)];
  };
  std::vector<double> sample(values.size()), scores;
  scores.reserve(static_cast<size_t>(resamples));
  for (int32_t i = 0; i < resamples; ++i) {
    std::ranges::generate(sample, drawn);
    const auto is_first = [&](double value) { return value == sample.front(); };
    if (std::ranges::all_of(sample, is_first)) continue;  // its standard error says nothing
    scores.push_back((mean_of(sample) - mean) / standard_error(sample));
  }
  if (scores.empty()) return {mean, mean};
  const double tail = (1 - confidence) / 2;
  return {mean - quantile(scores, 1 - tail) * error, mean - quantile(scores, tail) * error};
}

double PairedDifference::relative_half() const {
  return baseline == 0 ? 0 : std::abs(t.half() / baseline);
}

PairedDifference paired_difference(std::span<const double> arm, std::span<const double> baseline,
                                   double confidence, uint64_t seed) {
  ORRERY_CHECK(arm.size() == baseline.size(), "each value of an arm has one to compare with");
  std::vector<double> differences;
  for (size_t i = 0; i < arm.size(); ++i) differences.push_back(arm[i] - baseline[i]);
  PairedDifference paired{
      .pairs = arm.size(), .baseline = mean_of(baseline), .difference = mean_of(differences)};
  if (paired.pairs < 2) {
    paired.t = paired.bootstrap = kUnknownInterval;
    return paired;
  }
  paired.t = t_interval(differences, confidence);
  paired.bootstrap = bootstrap_interval(differences, confidence, seed);
  paired.correlation = correlation_of(arm, baseline);
  return paired;
}

std::vector<std::string> doubts(const PairedDifference& paired) {
  if (paired.pairs < 2) return {"one seed says nothing about chance"};
  std::vector<std::string> found;
  if (paired.pairs < kFewPairs) {
    found.push_back("only " + std::to_string(paired.pairs) +
                    " seeds: the interval trusts that differences are normal");
  }
  if (paired.t.half() == 0) return found;
  if (paired.correlation < -2.6 / std::sqrt(static_cast<double>(paired.pairs))) {
    found.push_back(
        "what is good for one arm is bad for the other, seed by seed: equal seeds widen "
        "the interval here");
  }
  if (paired.t.contains(0)) {
    const size_t needed = pairs_needed(paired, std::abs(paired.difference) / 2);
    found.push_back("no difference is shown: the interval holds 0" +
                    (needed == SIZE_MAX ? std::string{}
                                        : "; some " + std::to_string(needed) +
                                              " seeds could show one as large as this"));
  } else if (paired.bootstrap.contains(0)) {
    found.push_back("t and bootstrap disagree on whether there is a difference");
  }
  return found;
}

size_t pairs_needed(const PairedDifference& paired, double half) {
  if (half <= 0 || paired.pairs < 2) return SIZE_MAX;
  const double times = paired.t.half() / half;
  const double pairs = std::ceil(static_cast<double>(paired.pairs) * times * times);
  return pairs < 1e9 ? std::max<size_t>(static_cast<size_t>(pairs), 2) : SIZE_MAX;
}

}  // namespace orrery
