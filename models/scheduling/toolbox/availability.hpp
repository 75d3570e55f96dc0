// models/scheduling/toolbox/availability.hpp -- expected free amount of the counted resource.
#pragma once

#include <cstdint>
#include <vector>

#include "models/scheduling/contract/job_policy_api.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// The expected free amount from now on, as a step function of time: the amount that is free now,
// plus the amounts of running jobs expected to have ended by that time, minus the amounts reserved
// for that time. Operations cost O(steps). Example: 2 GPUs are free at 10 s, and a job of 6 GPUs is
// expected to end at 100 s. Then earliest(4, ...) is 100 s. If 4 GPUs are reserved from 100 s on,
// the other 4 are free during this reservation.
class ORRERY_API Availability {
 public:
  // Starts over with the free amount and the running jobs of `board`. Each expected end is rounded
  // up to now + k * `resolution`, with k a whole number. A resolution of 0 means no rounding.
  void reset(const JobBoard& board, Duration resolution = {});
  void advance(Time now);  // forgets the time before `now`
  // The first time from which `count` is free for `span`; Time::max() if there is no such time.
  Time earliest(int64_t count, Duration span) const;
  void reserve(Time start, Duration span, int64_t count);
  size_t steps() const { return steps_.size(); }

 private:
  struct Step {
    Time from;
    int64_t free = 0;
  };
  // Index of the step that begins at `when`; makes this step if necessary.
  size_t step_from(Time when);
  std::vector<Step> steps_;  // sorted by time; the last one never ends
};

}  // namespace orrery
