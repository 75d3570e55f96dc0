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

// The constant wait is 1 s. The adaptive wait of r seconds, from 1 to 32, is updated at the first
// dropped request of each second. It doubles if at least 3 r requests were dropped in the r seconds
// before, and if its last doubling was r or more seconds ago. It falls by 1 s if fewer than r
// requests were dropped in these r seconds. Example: from r = 1, five drops in the last second make
// it 2.
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
