// models/scheduling/job_queue/queue_statistics.hpp -- figures of the summary: slowdown of
// jobs and use of the pool.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/scheduling/contract/job_policy_api.hpp"
#include "sim/core/int128.hpp"
#include "sim/record/recorder.hpp"

namespace orrery {

// The flow time of a job is the time from its submission to its end. The bounded slowdown is flow
// time over run time, where runs below 10 s count as 10 s. It is at least 1. Example: a run of 2 s
// that ended 30 s after its submission has a bounded slowdown of 3.
class QueueStatistics {
 public:
  void pool_changes(Time now, int64_t used) {  // started jobs hold `used` from `now` on
    integral_ += static_cast<int128_t>(used_) * (now - since_).ns;
    since_ = now;
    used_ = used;
  }
  void job_ends(const QueuedJob& job, Time now) {
    constexpr double kShort = 10;
    const double flow = (now - job.submitted).seconds();
    const double slowdown = std::max(1.0, flow / std::max(job.run.seconds(), kShort));
    ++ended_;
    sum_ += slowdown;
    max_ = std::max(max_, slowdown);
  }
  void job_stops() { ++stops_; }
  void job_is_infeasible() { ++infeasible_; }
  void add_summary(Recorder& recorder, Time end, int64_t capacity) const {
    const double capacity_time = static_cast<double>(capacity) * (end - Time{}).seconds();
    const int128_t used = integral_ + static_cast<int128_t>(used_) * (end - since_).ns;
    recorder.add_summary("bounded_slowdown_mean",
                         ended_ == 0 ? 0 : sum_ / static_cast<double>(ended_), "",
                         "mean over jobs of (time from submission to end) / (run time); run "
                         "times below 10 s count as 10 s, and ratios below 1 as 1");
    recorder.add_summary("bounded_slowdown_max", max_, "", "largest bounded slowdown of a job");
    recorder.add_summary(
        "pool_used", capacity_time == 0 ? 0 : static_cast<double>(used) * 1e-9 / capacity_time, "",
        "share of all GPUs (or of the first resource of policy.job_queue.counts) held by "
        "started jobs, as a mean over the run");
    recorder.add_summary("jobs_stopped", static_cast<int64_t>(stops_), "",
                         "times that a running job was stopped and queued again, by the Plan "
                         "policy of the job queue or by a controller");
    recorder.add_summary("jobs_infeasible", static_cast<int64_t>(infeasible_), "jobs",
                         "jobs of the job queue that request more than all nodes have in total");
  }

 private:
  int128_t integral_ = 0;  // used amount of the counted resource times nanoseconds, until since_
  Time since_;
  int64_t used_ = 0;
  uint64_t ended_ = 0, stops_ = 0, infeasible_ = 0;
  double sum_ = 0, max_ = 0;
};

}  // namespace orrery
