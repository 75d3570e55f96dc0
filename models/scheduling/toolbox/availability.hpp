// models/scheduling/toolbox/availability.hpp -- expected free amount of the pool over time.
#pragma once

#include <cstdint>
#include <vector>

#include "models/scheduling/contract/job_policy_api.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// A step function of time, from now on: what is free now, plus the count of each running job from
// its expected end, minus each reservation in its span. Operations cost O(steps). Example: 2 GPUs
// free at 10 s, and a job of 6 expected to end at 100 s: earliest(4, ...) is 100 s. After a
// reservation of 4 there, 4 are free from 100 s until it ends.
class ORRERY_API Availability {
 public:
  // Ends are rounded up to whole `resolution`s from now on; 0: not rounded.
  void reset(const JobBoard& board, Duration resolution = {});
  void advance(Time now);  // forgets the past
  // The first time from which `count` is free for `span`.
  Time earliest(int64_t count, Duration span) const;
  void reserve(Time start, Duration span, int64_t count);
  size_t steps() const { return steps_.size(); }

 private:
  struct Step {
    Time from;
    int64_t free = 0;
  };
  size_t step_from(Time when);  // splits the step that contains the time
  std::vector<Step> steps_;     // in order; the last one never ends
};

}  // namespace orrery
