// models/workload/training/pace.hpp -- the pace of a running job: work done per unit of time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// The pace differs from 1 if a job shares its GPUs, runs on another GPU model, or waits for
// exchanges between its ranks. Pauses for checkpoints do not affect it. A pace consists of whole
// numbers, so that runs are exact. Example: steps with 0.8 s of compute last 1 s. Then `work` is
// 0.8 s, `span` is 1 s, and `computing` is 80 % of `span`.
struct Pace {
  static constexpr int64_t kFull = 1'000'000, kWhole = 1'000'000'000;
  int64_t work = 1, span = 1;  // `work` is done in the time `span`; work 0: no progress
  // Billionths of `span` in which GPUs compute; in the rest of `span` they wait.
  int64_t computing = kWhole;
  int64_t share_milli = 1000;  // the job's thousandths of its GPUs' time; another job has the rest

  // The pace of a job that does `ppm` millionths of a unit of work in each unit of time.
  static constexpr Pace of_millionths(int64_t ppm, int64_t share_milli = 1000) {
    if (ppm == kFull) return {.share_milli = share_milli};
    return {.work = ppm, .span = kFull, .share_milli = share_milli};
  }
  // The pace of a gang whose steps last `step` and contain `compute` of work. If `step` is
  // Duration::max(), the present step never ends.
  static constexpr Pace of_step(Duration compute, Duration step) {
    if (step == Duration::max()) return {.work = 0, .computing = 0};
    if (step == compute) return {};
    const int128_t computing = static_cast<int128_t>(compute.ns) * kWhole / step.ns;
    return {.work = compute.ns, .span = step.ns, .computing = static_cast<int64_t>(computing)};
  }

  bool operator==(const Pace&) const = default;
  constexpr bool is_still() const { return work == 0; }
  // Work done in this time, rounded down to nanoseconds. `rest` is what earlier calls rounded off,
  // in units of 1 / span ns.
  constexpr Duration work_in(Duration time, int64_t rest = 0) const {
    if (work == span) return time;
    return {static_cast<int64_t>((static_cast<int128_t>(time.ns) * work + rest) / span)};
  }
  // How long this work takes, rounded up to nanoseconds. Saturates at Duration::max().
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
  constexpr Duration computing_in(Duration time) const {  // `time` must be without pauses
    return {static_cast<int64_t>(static_cast<int128_t>(time.ns) * computing / kWhole)};
  }
};

}  // namespace orrery
