// models/control_plane/base/backoff.hpp -- exponential backoff.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/core/check.hpp"
#include "sim/core/rng.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// A rule without state: its user stores the last wait or the number of failures. Example, from 1 s
// up to 5 s: 1 s, 2 s, 4 s, 5 s, 5 s.
struct Backoff {
  Duration first, max;

  // The wait after a failure. `last_wait` is the wait after the previous failure, or zero after the
  // first failure.
  constexpr Duration next(Duration last_wait) const {
    return last_wait == Duration{} ? first : std::min(last_wait * 2, max);
  }
  // The wait after this many failures in a row.
  Duration after(int32_t failures) const {
    ORRERY_CHECK(failures > 0, "a backoff follows at least one failure");
    return std::min(first * (int64_t{1} << std::min(failures - 1, 62)), max);
  }
};

// A random wait between one and two times `wait`, as client-go spreads its retries.
inline Duration jittered(Duration wait, Rng& rng) {
  return nearest_ns(wait.seconds() * (1 + rng.uniform()));
}

}  // namespace orrery
