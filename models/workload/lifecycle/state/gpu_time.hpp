// models/workload/lifecycle/state/gpu_time.hpp -- GPU time by use.
#pragma once

#include <cstdint>

#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Milli-GPUs times nanoseconds, exact.
struct GpuTime {
  int128_t useful = 0, lost = 0, exchange = 0, checkpoint = 0, restore = 0, held = 0, hung = 0;
  int128_t idle = 0;

  static int128_t of(int64_t gpu_milli, Duration span) {
    return static_cast<int128_t>(gpu_milli) * span.ns;
  }
  GpuTime& operator+=(const GpuTime& other) {
    useful += other.useful, lost += other.lost;
    exchange += other.exchange, checkpoint += other.checkpoint;
    restore += other.restore, held += other.held, hung += other.hung, idle += other.idle;
    return *this;
  }
  static double seconds(int128_t amount) { return static_cast<double>(amount) * 1e-12; }
};

}  // namespace orrery
