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
      "GPUs reserved for pods, or held by jobs without pods (policy.driver: counting)", "GPU");
    c("gpus_reported", &ClusterSample::gpus_reported,
      "GPUs in use, as nvidia-smi reports it: computing, or spinning in a busy wait", "GPU");
    c("gpu_power_watts", &ClusterSample::gpu_power_watts, "power of all GPUs that are up", "W");
    c("gpus_power", &ClusterSample::gpus_power,
      "power that all GPUs draw beyond their idle power, divided by what one computing GPU draws "
      "beyond its idle power",
      "GPU");
    c("gpus_computing", &ClusterSample::gpus_computing,
      "computing GPUs; the GPUs of a running job count with the job's mean share of time in "
      "compute. Compute that a failure later undid is included here, but not in /timeline/useful",
      "GPU");
    c("pods_pending", &ClusterSample::pods_pending, "pods that are created and not bound", "pods");
    c("gangs_pending", &ClusterSample::gangs_pending,
      "gangs with a pod that is created and not bound", "gangs");
    c("jobs_running", &ClusterSample::jobs_running,
      "jobs in phase running, which compute or write checkpoints", "jobs");
    c("jobs_pending", &ClusterSample::jobs_pending,
      "jobs in phase pending, which wait for nodes or, without pods, for GPUs", "jobs");
    c("nodes_down", &ClusterSample::nodes_down,
      "nodes that are not up now, including those that have not joined yet or were removed",
      "nodes");
    c("failures", &ClusterSample::failures, "how often nodes that were up have failed so far");
    c("recoveries", &ClusterSample::recoveries,
      "recoveries finished so far; a recovery is finished when a gang or an independent pod has "
      "redone its lost work");
  }
};

struct TeamSample {
  Time time;
  FixedText<32> team;
  double gpus_allocated = 0;
  uint32_t jobs_pending = 0, jobs_running = 0;

  static void columns(auto&& c) {
    c("time", &TeamSample::time, "time of the sample");
    c("team", &TeamSample::team, "team or virtual cluster");
    c("gpus_allocated", &TeamSample::gpus_allocated,
      "GPUs reserved for the team's pods, or held by the team's jobs without pods (policy.driver: "
      "counting)",
      "GPU");
    c("jobs_pending", &TeamSample::jobs_pending,
      "jobs in phase pending, which wait for nodes or, without pods, for GPUs", "jobs");
    c("jobs_running", &TeamSample::jobs_running,
      "jobs in phase running, which compute or write checkpoints", "jobs");
  }
};

struct UsefulSample {
  Time time;
  double gpus_useful = 0;

  static void columns(auto&& c) {
    c("time", &UsefulSample::time, "end of the interval; `gpus_useful` is the mean over it");
    c("gpus_useful", &UsefulSample::gpus_useful,
      "computing GPUs; compute that a later failure or preemption undid does not count. The "
      "integral over the run is the sum of useful_gpu_s in /jobs",
      "GPU");
  }
};

}  // namespace orrery
