// sim/core/rng.hpp -- random streams by name: a new stream never changes another stream's numbers.
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
  double uniform();      // in (0, 1), without 0 and 1
  double normal();       // mean 0, deviation 1 (polar method: no libm trigonometry)
  double exponential();  // mean 1
  double weibull(double shape, double scale);
  double lognormal(double mu, double sigma);  // mu and sigma of the logarithm
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
  // The stream of this name and index, as in stream("faults.node", node.index). Its numbers depend
  // on the run's seed, the name and the index, and not on draws from other streams.
  Rng stream(std::string_view name, uint64_t index = 0) const;
  uint64_t seed() const { return run_seed_; }

 private:
  uint64_t run_seed_;
};

}  // namespace orrery
