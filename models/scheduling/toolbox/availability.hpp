// models/scheduling/toolbox/availability.hpp -- how much of the pool will be free when, as believed
// now.
#pragma once

#include <cstdint>
#include <vector>

#include "models/scheduling/contract/job_policy_api.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// A step function of time, from now on: what is free now, more at each expected end of a running
// job, less where a reservation was made. All that it does is O(steps).
class ORRERY_API Availability {
 public:
  // Ends are rounded up to whole `resolution`s from now on; 0: not at all.
  void reset(const JobBoard& board, Duration resolution = {});
  void advance(Time now);  // what lies before is forgotten
  // The first time from which so much is free for so long.
  Time earliest(int64_t count, Duration span) const;
  void reserve(Time start, Duration span, int64_t count);
  size_t steps() const { return steps_.size(); }

 private:
  struct Step {
    Time from;
    int64_t free = 0;
  };
  size_t step_from(Time when);  // splits the step it falls into
  std::vector<Step> steps_;     // in order; the last one lasts for ever
};

}  // namespace orrery
