// sim/config/value_distributions.hpp -- random durations and counts, as a scenario describes them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/config/options.hpp"
#include "sim/core/rng.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Limits of a relative frequency, so that sums stay finite.
constexpr Range kWeights{0.0, 1e9};

// Draws an index into `weights`. The probability of index i is proportional to weights[i].
size_t draw_weighted(const std::vector<double>& weights, Rng& rng);

template <class T, class C>
void check_weights(const std::vector<T>& values, const std::vector<double>& weights, C& c) {
  if (values.empty()) c.error("values", "must not be empty");
  if (weights.size() != values.size()) c.error("weights", "needs one weight for every value");
  double sum = 0;
  for (const double weight : weights) sum += weight;
  if (!weights.empty() && sum <= 0) c.error("weights", "must not all be 0");
}

struct FixedDuration {
  static constexpr std::string_view kKind = "fixed";
  Duration value = 1_h;
  template <class V>
  void fields(V& v) {
    v("value", value, "Always this long.", Required{});
  }
  Duration draw(Rng&) const { return value; }
};
struct ExponentialDuration {
  static constexpr std::string_view kKind = "exponential";
  Duration mean = 1_h;
  template <class V>
  void fields(V& v) {
    v("mean", mean, "Mean duration.", Required{});
  }
  Duration draw(Rng& rng) const { return rng.exponential(mean); }
};
struct LognormalDuration {
  static constexpr std::string_view kKind = "lognormal";
  Duration median = 1_h;
  double sigma = 1;
  std::optional<Duration> max = {};
  template <class V>
  void fields(V& v) {
    v("median", median, "Half of the durations are shorter.", Required{},
      Range{1_ns, Duration::max()});
    v("sigma", sigma, "Standard deviation of the logarithm.", Required{}, Range{0.0, 10.0});
    v("max", max, "Durations above `max` are cut to `max`. Absent: no limit.");
  }
  void check(auto& c) const {
    if (max.value_or(median) < median) {
      c.error("max", "must not be below median: most durations would be cut");
    }
  }
  Duration draw(Rng& rng) const;
};
struct UniformDuration {
  static constexpr std::string_view kKind = "uniform";
  Duration low = {}, high = 1_h;
  template <class V>
  void fields(V& v) {
    v("low", low, "The shortest duration.", Required{});
    v("high", high, "The longest duration.", Required{});
  }
  void check(auto& c) const {
    if (low > high) c.error("low", "must not be more than high");
  }
  Duration draw(Rng& rng) const;
};
struct DiscreteDuration {
  static constexpr std::string_view kKind = "discrete";
  std::vector<Duration> values = {};
  std::vector<double> weights = {};
  template <class V>
  void fields(V& v) {
    v("values", values, "The possible durations.", Required{});
    v("weights", weights, "Relative frequency of each value.", kWeights, Required{});
  }
  void check(auto& c) const { check_weights(values, weights, c); }
  Duration draw(Rng& rng) const { return values[draw_weighted(weights, rng)]; }
};
using DurationDistribution = std::variant<FixedDuration, ExponentialDuration, LognormalDuration,
                                          UniformDuration, DiscreteDuration>;

struct FixedCount {
  static constexpr std::string_view kKind = "fixed";
  int32_t value = 1;
  template <class V>
  void fields(V& v) {
    v("value", value, "Always this many.", Required{}, Range{0, 1'000'000});
  }
  int32_t draw(Rng&) const { return value; }
};
struct UniformCount {
  static constexpr std::string_view kKind = "uniform";
  int32_t low = 1, high = 1;
  template <class V>
  void fields(V& v) {
    v("low", low, "The smallest count.", Required{}, Range{0, 1'000'000});
    v("high", high, "The largest count.", Required{}, Range{0, 1'000'000});
  }
  void check(auto& c) const {
    if (low > high) c.error("low", "must not be more than high");
  }
  int32_t draw(Rng& rng) const;
};
struct DiscreteCount {
  static constexpr std::string_view kKind = "discrete";
  std::vector<int32_t> values = {};
  std::vector<double> weights = {};
  template <class V>
  void fields(V& v) {
    v("values", values, "The possible counts.", Required{});
    v("weights", weights, "Relative frequency of each value.", kWeights, Required{});
  }
  void check(auto& c) const {
    check_weights(values, weights, c);
    if (std::ranges::any_of(values, [](int32_t n) { return n < 0 || n > 1'000'000; })) {
      c.error("values", "must lie between 0 and 1000000");
    }
  }
  int32_t draw(Rng& rng) const { return values[draw_weighted(weights, rng)]; }
};
// The largest count that can be drawn.
inline int32_t greatest(const FixedCount& d) { return d.value; }
inline int32_t greatest(const UniformCount& d) { return d.high; }
int32_t greatest(const DiscreteCount& d);
using CountDistribution = std::variant<FixedCount, UniformCount, DiscreteCount>;

inline int32_t greatest(const CountDistribution& distribution) {
  return std::visit([](const auto& d) { return greatest(d); }, distribution);
}
template <class... D>
auto draw(const std::variant<D...>& distribution, Rng& rng) {
  return std::visit([&](const auto& d) { return d.draw(rng); }, distribution);
}

}  // namespace orrery
