#include "models/control_plane/base/retry_after.hpp"

#include <algorithm>
#include <cstddef>

namespace orrery {

void RetryAfter::note_drop(Time now) {
  if (kind_ == RetryAfterKind::Constant) return;
  const int64_t second = now.ns / 1'000'000'000;
  if (second != second_) adapt(second);
  second_ = second;
  Second& present = history_[static_cast<size_t>(second) % history_.size()];
  if (present.second != second) present = {second, 0};
  ++present.drops;
}

void RetryAfter::adapt(int64_t second) {
  int64_t drops = 0;
  for (int64_t s = std::max<int64_t>(second - seconds_, 0); s < second; ++s) {
    const Second& past = history_[static_cast<size_t>(s) % history_.size()];
    if (past.second == s) drops += past.drops;
  }
  if (second - doubled_at_ >= seconds_ && drops >= 3 * seconds_) {
    seconds_ = std::min(2 * seconds_, kSecondsMax);
    doubled_at_ = second;
  } else if (drops < seconds_ && seconds_ > 1) {
    --seconds_;
  }
}

}  // namespace orrery
