#include "models/control_plane/controllers.hpp"

#include <algorithm>

#include "models/control_plane/token_bucket.hpp"
#include "sim/core/check.hpp"

namespace orrery {
std::vector<Duration> creation_times(const Rollout& rollout, const ControllerParams& params) {
  TokenBucket tokens{params.qps, params.burst};
  std::vector<Duration> times;
  times.reserve(static_cast<size_t>(rollout.pods));
  Duration wish{};
  int64_t batch = rollout.kind == WorkloadKind::ParallelStatefulSet ? rollout.pods : 1;
  int64_t left_in_sync = params.pods_per_sync;
  for (int64_t left = rollout.pods; left > 0;) {
    const bool is_set = rollout.kind == WorkloadKind::OrderedStatefulSet ||
                        rollout.kind == WorkloadKind::ParallelStatefulSet;
    const int64_t count = std::min({batch, left, is_set ? left : left_in_sync});
    for (int64_t i = 0; i < count; ++i) times.push_back(tokens.reserve(Time{} + wish) - Time{});
    left -= count;
    left_in_sync -= count;
    wish = times.back() + rollout.answer;
    if (rollout.kind == WorkloadKind::OrderedStatefulSet) {
      wish += rollout.start;
    } else if (left_in_sync == 0) {
      left_in_sync = params.pods_per_sync;
      batch = 1;
    } else {
      batch *= 2;
    }
  }
  return times;
}

Duration rollout_time(const Rollout& rollout, const ControllerParams& params) {
  if (rollout.pods == 0) return {};
  return creation_times(rollout, params).back() + rollout.answer + rollout.start;
}

Duration job_backoff(int32_t failures, const ControllerParams& params) {
  ORRERY_CHECK(failures > 0, "a back-off follows a failure");
  Duration wait = params.job_backoff;
  for (int32_t i = 1; i < failures && wait < params.job_backoff_max; ++i) wait = wait * 2;
  return std::min(wait, params.job_backoff_max);
}

}  // namespace orrery
