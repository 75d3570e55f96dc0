// models/control_plane/reflector_backoff.hpp -- when a client that lost its watch lists again.
#pragma once

#include <algorithm>

#include "sim/core/rng.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// As client-go's reflector: 0.8 s, doubled up to 30 s, each stretched at random to up to twice as
// long; after two quiet minutes from the start.
class ReflectorBackoff {
 public:
  Duration next(Time now, Rng& rng) {
    if (now - last_ >= kReset) step_ = kFirst;
    last_ = now;
    const Duration base = step_;
    step_ = std::min(step_ * 2, kMost);
    return base + nearest_ns(rng.uniform() * base.seconds());
  }

 private:
  static constexpr Duration kFirst = 800_ms, kMost = 30_s, kReset = 2_min;
  Duration step_ = kFirst;
  Time last_;
};

}  // namespace orrery
