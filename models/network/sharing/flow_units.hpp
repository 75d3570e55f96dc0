// models/network/sharing/flow_units.hpp -- progress of flows in whole numbers.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Rates are counted in units of 2^-16 bit/s, and progress in this unit times 1 ns. Both are whole
// numbers, so what is left of a flow does not depend on how often the flow is read.
struct FlowUnits {
  static constexpr int128_t kPerBit = int128_t{65536} * 1'000'000'000;
  static constexpr int128_t kPerByte = 8 * kPerBit;
  static constexpr int128_t kLeftOver = kPerBit / 1000;    // a rest of at most this counts as 0
  static constexpr int128_t kInstant = int128_t{1} << 71;  // a rate without limit

  static int128_t of_rate(double bits_per_s) {
    const double units = bits_per_s * 65536;
    // 64-bit arithmetic is much cheaper.
    if (units < 0x1p62) return static_cast<int64_t>(units + 0.5);
    return units < static_cast<double>(kInstant) ? static_cast<int128_t>(units + 0.5) : kInstant;
  }
  static double bits(int128_t moved) {
    const double rest = static_cast<double>(moved % kPerBit) / static_cast<double>(kPerBit);
    return static_cast<double>(moved / kPerBit) + rest;
  }
  // Time until the first nanosecond at which no more than kLeftOver is left; empty if there is no
  // such nanosecond.
  static std::optional<Duration> time_to_move(int128_t left, int128_t rate) {
    left -= kLeftOver;
    if (left <= 0 || rate >= kInstant) return Duration{};
    if (rate == 0) return {};
    const int128_t ns = (left + rate - 1) / rate;
    if (ns >= Duration::max().ns) return {};
    return Duration{static_cast<int64_t>(ns)};
  }
};

}  // namespace orrery
