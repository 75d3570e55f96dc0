// models/control_plane/base/retry_after.hpp -- the Retry-After of a 429 response: how long the
// client must wait.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/core/enum_names.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class RetryAfterKind : uint8_t { Constant, Adaptive };
constexpr std::array<std::string_view, 2> enum_names(RetryAfterKind) {
  return {"constant", "adaptive"};
}

// The constant wait is 1 s. The adaptive wait is r seconds. At first r is 1; it stays in 1..32. The
// first dropped request of each second updates r. Let n be the number of drops in the r seconds
// before this second. If n >= 3 r, r doubles, unless r last doubled less than r seconds ago. If
// n < r, r falls by 1. Example: if r is 1 and n is 5, r becomes 2.
class RetryAfter {
 public:
  explicit RetryAfter(RetryAfterKind kind) : kind_{kind} {}
  void note_drop(Time now);
  Duration value() const { return {seconds_ * 1'000'000'000}; }

 private:
  static constexpr int64_t kSecondsMax = 32;
  struct Second {
    int64_t second = INT64_MIN;
    int64_t drops = 0;
  };
  void adapt(int64_t second);

  RetryAfterKind kind_;
  int64_t seconds_ = 1;
  int64_t doubled_at_ = INT64_MIN / 2;
  int64_t second_ = INT64_MIN;                        // second of the last drop
  std::array<Second, 2 * kSecondsMax> history_ = {};  // by second, modulo the array's size
};

}  // namespace orrery
