// models/cluster/offered_load.hpp -- demand of jobs compared with the capacity of nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/hardware/cluster_state.hpp"
#include "models/scenario/scenario.hpp"

namespace orrery {

// GPU time that arriving jobs request, compared with the GPUs of the cluster. Only the work of jobs
// is counted, without starts, checkpoints and exchanges. Example: 100 jobs an hour, each with 8
// GPUs for 0.5 h, request 400 GPU-hours an hour. That is 3.1 times the capacity of 128 GPUs.
struct OfferedLoad {
  // GPU-hours requested in an hour. A job that never ends adds its number of GPUs.
  double gpu_h_per_h = 0;
  int64_t gpus = 0;  // GPUs of the cluster
  // GPU-hours requested by sources whose hourly rate is undefined. The rate of a source is
  // undefined if more than 20,000 of its jobs arrive at time 0. The rates of all sources are
  // undefined if the run has no `until` and all jobs arrive at time 0.
  double gpu_h = 0;
  int64_t traces_left_out = 0;
};

// Reads up to 20,000 jobs of each source. Random jobs are drawn with the run's seed. If
// `reads_traces` is false, all traces are left out. Otherwise a trace is left out if it is
// shuffled, has more than 32 MiB or cannot be read. The result is empty if no job requests GPUs or
// no node has a GPU.
std::optional<OfferedLoad> offered_load(const Scenario& scenario, const ClusterState& state,
                                        bool reads_traces);
// For example "7.1 times what the cluster has: 909 GPU-hours requested per hour, 128 available".
std::string to_text(const OfferedLoad& load);

}  // namespace orrery
