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
    c("jobs", &PriorityRow::jobs, "jobs of this priority that were submitted", "jobs");
    c("jobs_ran", &PriorityRow::jobs_ran, "jobs that computed in this run", "jobs");
    c("jobs_completed", &PriorityRow::jobs_completed,
      "completed jobs, and failed or cancelled jobs for which a trace or generator gives the "
      "compute time until failure or cancellation",
      "jobs");
    c("jobs_preempted", &PriorityRow::jobs_preempted, "jobs that lost a pod to preemption", "jobs");
    c("wait_mean", &PriorityRow::wait_mean,
      "mean time from submission until a job first computed, over jobs_ran; NaN: no job computed",
      "s");
    c("wait_p50", &PriorityRow::wait_p50,
      "median time from submission until a job first computed, over jobs_ran; NaN: no job "
      "computed",
      "s");
    c("jct_mean", &PriorityRow::jct_mean,
      "mean time from submission to completion, over jobs_completed; NaN: no job completed", "s");
    c("jct_p50", &PriorityRow::jct_p50,
      "median time from submission to completion, over jobs_completed; NaN: no job completed", "s");
    c("pods_preempted", &PriorityRow::pods_preempted, "preemptions of pods of this priority's jobs",
      "pods");
    c("pods_preempted_by", &PriorityRow::pods_preempted_by,
      "preemptions of pods to make room for jobs of this priority", "pods");
    c("lost_preempted_gpu_s", &PriorityRow::gpu_s_lost_preempted,
      "GPU time of compute that jobs of this priority lost to preemption", "GPU s");
    c("lost_gpu_s", &PriorityRow::gpu_s_lost,
      "GPU time of compute that jobs of this priority lost for any reason, preemption included",
      "GPU s");
    c("useful_gpu_s", &PriorityRow::gpu_s_useful,
      "GPU time of compute that was not lost: saved in a checkpoint, finished, or under way when "
      "the run ended",
      "GPU s");
  }
};

}  // namespace orrery
