// models/workload/pace.hpp -- how fast a running job goes, against the speed its work is given for.
#pragma once

#include <cstdint>

#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// A job that shares its GPUs, or has GPUs of another model than its work was measured on, takes
// longer or less long, pauses for checkpoints included. In whole numbers, so that runs are exact.
struct Pace {
  static constexpr int64_t kFull = 1'000'000;
  int64_t ppm = kFull;         // work done in a million of time
  int64_t share_milli = 1000;  // of the time of its GPUs, the rest being another job's

  bool operator==(const Pace&) const = default;
  constexpr Duration work_in(Duration span) const {  // whole nanoseconds that are done
    if (ppm == kFull) return span;
    return {static_cast<int64_t>(static_cast<int128_t>(span.ns) * ppm / kFull)};
  }
  // How long so much work takes; saturates.
  constexpr Duration span_of(Duration work) const {
    if (ppm == kFull || work == Duration::max()) return work;
    const int128_t span = (static_cast<int128_t>(work.ns) * kFull + ppm - 1) / ppm;
    return span > Duration::max().ns ? Duration::max() : Duration{static_cast<int64_t>(span)};
  }
};

}  // namespace orrery
