// models/workload/training/pace.hpp -- the pace of a running job relative to the speed that its
// work assumes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// The pace differs from 1 if a job shares its GPUs, runs on another GPU model, or waits for
// exchanges between its ranks. Pauses for checkpoints do not affect it. In whole numbers, so that
// runs are exact. Example: steps of 0.8 s compute that last 1 s: work 0.8 s in a span of 1 s,
// computing 80 %.
struct Pace {
  static constexpr int64_t kFull = 1'000'000, kWhole = 1'000'000'000;
  int64_t work = 1, span = 1;  // this work is done in this time; work 0: no progress
  int64_t computing = kWhole;  // billionths of that time in which GPUs compute; otherwise they wait
  int64_t share_milli = 1000;  // share of its GPUs' time; the rest belongs to another job

  // Work done per million units of time.
  static constexpr Pace of_millionths(int64_t ppm, int64_t share_milli = 1000) {
    if (ppm == kFull) return {.share_milli = share_milli};
    return {.work = ppm, .span = kFull, .share_milli = share_milli};
  }
  // Work is GPU compute: `compute` of it in each step, which lasts `step` now. Duration::max():
  // never ends.
  static constexpr Pace of_step(Duration compute, Duration step) {
    if (step == Duration::max()) return {.work = 0, .computing = 0};
    if (step == compute) return {};
    const int128_t computing = static_cast<int128_t>(compute.ns) * kWhole / step.ns;
    return {.work = compute.ns, .span = step.ns, .computing = static_cast<int64_t>(computing)};
  }

  bool operator==(const Pace&) const = default;
  constexpr bool is_still() const { return work == 0; }
  // Work done, in whole nanoseconds. `rest`: work beyond the whole nanoseconds before, in span-ths
  // of one.
  constexpr Duration work_in(Duration time, int64_t rest = 0) const {
    if (work == span) return time;
    return {static_cast<int64_t>((static_cast<int128_t>(time.ns) * work + rest) / span)};
  }
  // How long this work takes, up to the nanosecond at which it is done; saturates.
  constexpr Duration span_of(Duration amount, int64_t rest = 0) const {
    if (work == span || amount == Duration::max() || amount == Duration{}) return amount;
    if (work == 0) return Duration::max();
    const int128_t left = static_cast<int128_t>(amount.ns) * span - rest;
    if (left <= 0) return {};
    return {static_cast<int64_t>(std::min<int128_t>((left + work - 1) / work, Duration::max().ns))};
  }
  constexpr int64_t rest_after(Duration time, Duration done, int64_t rest = 0) const {
    if (work == span) return 0;
    return static_cast<int64_t>(static_cast<int128_t>(time.ns) * work + rest -
                                static_cast<int128_t>(done.ns) * span);
  }
  constexpr Duration computing_in(Duration time) const {  // of time between pauses
    return {static_cast<int64_t>(static_cast<int128_t>(time.ns) * computing / kWhole)};
  }
};

}  // namespace orrery
