// sim/core/time.hpp -- simulated time in integer nanoseconds, sizes in bytes, rates in bits per
// second.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>

#include "sim/core/int128.hpp"

namespace orrery {

// Sums and products of spans and sizes saturate at the largest int64: "for ever" plus a span is
// still for ever. Differences do not saturate, because none comes near the least int64.
constexpr int64_t saturated_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}
constexpr int64_t saturated_product(int64_t a, int64_t k) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, k, &product) ? std::numeric_limits<int64_t>::max() : product;
}

struct Duration {  // a span of time
  int64_t ns = 0;
  constexpr auto operator<=>(const Duration&) const = default;
  static constexpr Duration max() { return {std::numeric_limits<int64_t>::max()}; }
  friend constexpr Duration operator+(Duration a, Duration b) {
    return {saturated_sum(a.ns, b.ns)};
  }
  friend constexpr Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
  friend constexpr Duration operator*(Duration a, int64_t k) {
    return {saturated_product(a.ns, k)};
  }
  // Rounds towards 0.
  friend constexpr int64_t operator/(Duration a, Duration b) { return a.ns / b.ns; }
  friend constexpr Duration operator%(Duration a, Duration b) { return {a.ns % b.ns}; }
  constexpr Duration& operator+=(Duration other) { return *this = *this + other; }
  constexpr Duration& operator-=(Duration other) {
    ns -= other.ns;
    return *this;
  }
  constexpr double seconds() const { return static_cast<double>(ns) * 1e-9; }
};

struct Time {  // an instant, counted from the start of the run
  int64_t ns = 0;
  constexpr auto operator<=>(const Time&) const = default;
  static constexpr Time max() { return {std::numeric_limits<int64_t>::max()}; }
  friend constexpr Time operator+(Time t, Duration d) { return {saturated_sum(t.ns, d.ns)}; }
  friend constexpr Time operator-(Time t, Duration d) { return {t.ns - d.ns}; }
  friend constexpr Duration operator-(Time a, Time b) { return {a.ns - b.ns}; }
  constexpr double seconds() const { return static_cast<double>(ns) * 1e-9; }
};

struct Bytes {
  int64_t count = 0;
  constexpr auto operator<=>(const Bytes&) const = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return {saturated_sum(a.count, b.count)}; }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
  friend constexpr Bytes operator*(Bytes a, int64_t k) { return {saturated_product(a.count, k)}; }
};

struct Bandwidth {
  int64_t bits_per_s = 0;
  constexpr auto operator<=>(const Bandwidth&) const = default;
};

// Time to move `size` at `rate`, rounded up, so that even one byte takes time. Saturates.
constexpr Duration operator/(Bytes size, Bandwidth rate) {
  const auto bits_ns = static_cast<int128_t>(size.count) * 8 * 1'000'000'000;
  const int128_t time = (bits_ns + rate.bits_per_s - 1) / rate.bits_per_s;
  return {static_cast<int64_t>(std::min<int128_t>(time, Duration::max().ns))};
}

// The conversions from floating-point seconds or bytes. They saturate; NaN and negative numbers
// become zero.
constexpr Duration nearest_ns(double seconds) {
  if (!(seconds > 0)) return {};
  if (seconds >= 9.2e9) return Duration::max();
  return {static_cast<int64_t>(seconds * 1e9 + 0.5)};
}

constexpr Bytes nearest_bytes(double count) {
  if (!(count > 0)) return {};
  if (count >= 0x1p63) return {std::numeric_limits<int64_t>::max()};
  const auto whole = static_cast<int64_t>(count);
  return {whole + (count - static_cast<double>(whole) >= 0.5 ? 1 : 0)};
}

inline namespace literals {
constexpr Duration operator""_ns(unsigned long long v) { return {static_cast<int64_t>(v)}; }
constexpr Duration operator""_us(unsigned long long v) { return {static_cast<int64_t>(v) * 1'000}; }
constexpr Duration operator""_ms(unsigned long long v) {
  return {static_cast<int64_t>(v) * 1'000'000};
}
constexpr Duration operator""_s(unsigned long long v) {
  return {static_cast<int64_t>(v) * 1'000'000'000};
}
constexpr Duration operator""_min(unsigned long long v) { return operator""_s(v * 60); }
constexpr Duration operator""_h(unsigned long long v) { return operator""_s(v * 3600); }
constexpr Duration operator""_d(unsigned long long v) { return operator""_s(v * 86400); }
constexpr Bytes operator""_B(unsigned long long v) { return {static_cast<int64_t>(v)}; }
constexpr Bytes operator""_MiB(unsigned long long v) { return {static_cast<int64_t>(v) << 20}; }
constexpr Bytes operator""_GiB(unsigned long long v) { return {static_cast<int64_t>(v) << 30}; }
constexpr Bandwidth operator""_Gbps(unsigned long long v) {
  return {static_cast<int64_t>(v) * 1'000'000'000};
}
}  // namespace literals

static_assert(1_MiB / 400_Gbps == 20'972_ns);  // 20971.52 rounds up
static_assert(1_B / 3200_Gbps == 1_ns);

}  // namespace orrery
