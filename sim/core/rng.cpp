#include "sim/core/rng.hpp"

#include <bit>
#include <cmath>

#include "sim/core/scatter.hpp"

namespace orrery {

Rng::Rng(uint64_t seed) {
  for (uint64_t i = 0; i < 4; ++i) state_[i] = draw_of(seed, i);
}

uint64_t Rng::next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::uniform() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }

double Rng::exponential() { return -std::log(uniform()); }

double Rng::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  for (;;) {
    const double x = 2 * uniform() - 1;
    const double y = 2 * uniform() - 1;
    const double r = x * x + y * y;
    if (r >= 1 || r == 0) continue;
    const double factor = std::sqrt(-2 * std::log(r) / r);
    spare_normal_ = y * factor;
    has_spare_ = true;
    return x * factor;
  }
}

double Rng::weibull(double shape, double scale) {
  return scale * std::pow(exponential(), 1 / shape);
}

double Rng::lognormal(double mu, double sigma) { return std::exp(mu + sigma * normal()); }

Rng RngStreams::stream(std::string_view name, uint64_t index) const {
  uint64_t seed = run_seed_;
  seed = draw_of(seed, 0) ^ name_hash(name);
  seed = draw_of(seed, 0) ^ index;
  return Rng{draw_of(seed, 0)};
}

}  // namespace orrery
