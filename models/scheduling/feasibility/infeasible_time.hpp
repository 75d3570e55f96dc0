// models/scheduling/feasibility/infeasible_time.hpp -- GPU time held by jobs that can never
// complete.
#pragma once

#include <cstdint>

#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"
#include "sim/record/recorder.hpp"

namespace orrery {

class InfeasibleTime {
 public:
  void add_job() { ++jobs_; }
  void holds(Time now, int64_t gpu_milli) {  // the amount that the jobs hold from `now` on
    milli_ns_ = up_to(now);
    since_ = now;
    gpu_milli_ = gpu_milli;
  }
  void add_summary(Recorder& recorder, Time end) const {
    recorder.add_summary("infeasible_gang_jobs", static_cast<int64_t>(jobs_), "jobs",
                         "jobs that held nodes while their unplaced pods would not fit even if no "
                         "other job ran; jobs in a deadlock are not counted");
    recorder.add_summary("gpu_hours_infeasible", static_cast<double>(up_to(end)) * 1e-12 / 3600,
                         "GPU h",
                         "GPU time held by jobs whose unplaced pods would not fit even if no other "
                         "job ran; jobs in a deadlock are not counted");
  }

 private:
  int128_t up_to(Time when) const {
    return milli_ns_ + static_cast<int128_t>(gpu_milli_) * (when - since_).ns;
  }

  uint64_t jobs_ = 0;
  int64_t gpu_milli_ = 0;
  int128_t milli_ns_ = 0;  // GPU time until `since_`
  Time since_;
};

}  // namespace orrery
