#include "sim/config/value_distributions.hpp"

#include <cmath>

namespace orrery {

size_t draw_weighted(const std::vector<double>& weights, Rng& rng) {
  double sum = 0;
  for (const double weight : weights) sum += weight;
  double left = rng.uniform() * sum;
  size_t last = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = i;
    if (left < weights[i]) return i;
    left -= weights[i];
  }
  return last;  // reached only if rounding made the sum too large
}

int32_t greatest(const DiscreteCount& d) {
  int32_t most = 0;
  for (size_t i = 0; i < std::min(d.values.size(), d.weights.size()); ++i) {
    if (d.weights[i] > 0) most = std::max(most, d.values[i]);
  }
  return most;
}

Duration LognormalDuration::draw(Rng& rng) const {
  const Duration drawn = nearest_ns(rng.lognormal(std::log(median.seconds()), sigma));
  return max.has_value() ? std::min(drawn, *max) : drawn;
}

Duration UniformDuration::draw(Rng& rng) const {
  const auto steps = static_cast<uint64_t>((high - low).ns) + 1;
  return low + Duration{static_cast<int64_t>(rng.below(steps))};
}

int32_t UniformCount::draw(Rng& rng) const {
  return low + static_cast<int32_t>(rng.below(static_cast<uint64_t>(high - low) + 1));
}

}  // namespace orrery
