// models/telemetry/timeline_rows.hpp -- rows of /timeline/cluster, /timeline/teams,
// /timeline/useful.
#pragma once

#include <cstdint>

#include "sim/core/time.hpp"
#include "sim/record/column.hpp"

namespace orrery {

struct ClusterSample {
  Time time;
  double gpus_total = 0, gpus_up = 0, gpus_allocated = 0, gpus_reported = 0, gpu_power_watts = 0,
         gpus_power = 0, gpus_computing = 0;
  uint64_t pods_pending = 0, gangs_pending = 0;
  uint32_t jobs_running = 0, jobs_pending = 0, nodes_down = 0;
  uint64_t failures = 0, recoveries = 0;

  static void columns(auto&& c) {
    c("time", &ClusterSample::time, "end of the interval; GPU columns are means over it");
    c("gpus_total", &ClusterSample::gpus_total, "all GPUs", "GPU");
    c("gpus_up", &ClusterSample::gpus_up, "GPUs of nodes that are up", "GPU");
    c("gpus_allocated", &ClusterSample::gpus_allocated,
      "reserved for pods, or held by counted jobs", "GPU");
    c("gpus_reported", &ClusterSample::gpus_reported,
      "used as nvidia-smi reports it: computing, or spinning in a busy wait", "GPU");
    c("gpu_power_watts", &ClusterSample::gpu_power_watts, "power of all GPUs that are up", "W");
    c("gpus_power", &ClusterSample::gpus_power,
      "power above idle: how many computing GPUs would draw it", "GPU");
    c("gpus_computing", &ClusterSample::gpus_computing,
      "computing; each run counts with its mean share of compute; unlike in /timeline/useful, "
      "compute that failures undid counts",
      "GPU");
    c("pods_pending", &ClusterSample::pods_pending, "created and not bound", "pods");
    c("gangs_pending", &ClusterSample::gangs_pending, "gangs with such pods", "gangs");
    c("jobs_running", &ClusterSample::jobs_running, "in phase running", "jobs");
    c("jobs_pending", &ClusterSample::jobs_pending, "in phase pending", "jobs");
    c("nodes_down", &ClusterSample::nodes_down, "down now, or yet to join", "nodes");
    c("failures", &ClusterSample::failures, "how often nodes that were up broke so far");
    c("recoveries", &ClusterSample::recoveries, "jobs and pods that redid their lost work so far");
  }
};

struct TeamSample {
  Time time;
  FixedText<32> team;
  double gpus_allocated = 0;
  uint32_t jobs_pending = 0, jobs_running = 0;

  static void columns(auto&& c) {
    c("time", &TeamSample::time, "the instant");
    c("team", &TeamSample::team, "team or virtual cluster");
    c("gpus_allocated", &TeamSample::gpus_allocated,
      "reserved for its pods, or held by its counted jobs", "GPU");
    c("jobs_pending", &TeamSample::jobs_pending, "in phase pending", "jobs");
    c("jobs_running", &TeamSample::jobs_running, "in phase running", "jobs");
  }
};

struct UsefulSample {
  Time time;
  double gpus_useful = 0;

  static void columns(auto&& c) {
    c("time", &UsefulSample::time, "end of the interval; the mean is over it");
    c("gpus_useful", &UsefulSample::gpus_useful,
      "compute that no later failure undid, at the time when it was done; its sum over time is "
      "that of useful_gpu_s in /jobs; written only at the end",
      "GPU");
  }
};

}  // namespace orrery
