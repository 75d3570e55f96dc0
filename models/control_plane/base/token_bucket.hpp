// models/control_plane/base/token_bucket.hpp -- client-side rate limiting.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sim/core/time.hpp"

namespace orrery {

// Gives out `qps` tokens a second and stores at most `burst`. Tokens are reserved in order, ahead
// of time. If the bucket stored nothing, token k would be due at d_k = max(d_(k-1), now) + 1 / qps.
// With the stored tokens it is due at max(now, d_k - burst / qps). Example: qps 10, burst 2, three
// tokens at 0 s: d_k is 0.1, 0.2 and 0.3 s, so two tokens are due at once and the third at 0.1 s.
class TokenBucket {
 public:
  TokenBucket(double qps, int32_t burst)
      : interval_{std::max<int64_t>(std::llround(1e9 / qps), 1)}, burst_{burst} {}
  Time earliest(Time now) const { return std::max(now, next_ - interval_ * (burst_ - 1)); }
  Time reserve(Time now) {
    const Time due = earliest(now);
    next_ = std::max(next_, now) + interval_;
    return due;
  }

 private:
  Duration interval_;
  int64_t burst_;
  Time next_;
};

}  // namespace orrery
