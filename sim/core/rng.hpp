// sim/core/rng.hpp -- random streams addressed by name, so adding one never shifts another.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// xoshiro256** with its own samplers, because std:: distributions differ between libraries.
class Rng {
 public:
  explicit Rng(uint64_t seed);
  uint64_t next();
  // Uniform in [0, bound); `bound` must be positive.
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<uint128_t>(next()) * bound) >> 64);
  }
  double uniform();      // (0, 1), never 0 nor 1
  double normal();       // mean 0, deviation 1 (polar method: no libm trigonometry)
  double exponential();  // mean 1
  double weibull(double shape, double scale);
  double lognormal(double mu, double sigma);  // of the underlying normal
  Duration exponential(Duration mean) { return nearest_ns(exponential() * mean.seconds()); }
  bool chance(double probability) { return uniform() < probability; }

 private:
  uint64_t state_[4];
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

class RngStreams {
 public:
  explicit RngStreams(uint64_t run_seed) : run_seed_{run_seed} {}
  // stream("faults.node", node.index): same name and index, same numbers, independent of other
  // draws.
  Rng stream(std::string_view name, uint64_t index = 0) const;
  uint64_t seed() const { return run_seed_; }

 private:
  uint64_t run_seed_;
};

}  // namespace orrery
