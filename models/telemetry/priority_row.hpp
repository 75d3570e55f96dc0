// models/telemetry/priority_row.hpp -- rows of /priorities.
#pragma once

#include <cstdint>

#include "sim/record/column.hpp"

namespace orrery {

struct PriorityRow {
  int32_t priority = 0;
  uint64_t jobs = 0, jobs_ran = 0, jobs_completed = 0, jobs_preempted = 0;
  double wait_mean = 0, wait_p50 = 0, jct_mean = 0, jct_p50 = 0;
  uint64_t pods_preempted = 0, pods_preempted_by = 0;
  double gpu_s_lost_preempted = 0, gpu_s_lost = 0, gpu_s_useful = 0;

  static void columns(auto&& c) {
    c("priority", &PriorityRow::priority, "priority of the jobs, as in /jobs");
    c("jobs", &PriorityRow::jobs, "jobs that arrived", "jobs");
    c("jobs_ran", &PriorityRow::jobs_ran, "jobs that computed in this run", "jobs");
    c("jobs_completed", &PriorityRow::jobs_completed,
      "jobs that completed, or reached the end that a trace recorded", "jobs");
    c("jobs_preempted", &PriorityRow::jobs_preempted, "jobs that lost a pod to preemption", "jobs");
    c("wait_mean", &PriorityRow::wait_mean,
      "time from submission until a job first computed, as a mean over jobs_ran; NaN: there are "
      "none",
      "s");
    c("wait_p50", &PriorityRow::wait_p50, "its median", "s");
    c("jct_mean", &PriorityRow::jct_mean,
      "time from submission to completion, as a mean over jobs_completed; NaN: there are none",
      "s");
    c("jct_p50", &PriorityRow::jct_p50, "its median", "s");
    c("pods_preempted", &PriorityRow::pods_preempted,
      "preemptions suffered: pods of these jobs preempted for others", "pods");
    c("pods_preempted_by", &PriorityRow::pods_preempted_by,
      "preemptions caused: pods of other jobs preempted for these", "pods");
    c("lost_preempted_gpu_s", &PriorityRow::gpu_s_lost_preempted,
      "compute of these jobs lost to preemption", "GPU s");
    c("lost_gpu_s", &PriorityRow::gpu_s_lost,
      "compute of these jobs lost for any reason, preemption included", "GPU s");
    c("useful_gpu_s", &PriorityRow::gpu_s_useful, "compute that was saved or finished", "GPU s");
  }
};

}  // namespace orrery
