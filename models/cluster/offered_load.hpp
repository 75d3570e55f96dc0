// models/cluster/offered_load.hpp -- demand of jobs compared with the capacity of nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/hardware/cluster_state.hpp"
#include "models/scenario/scenario.hpp"

namespace orrery {

// GPU demand while jobs arrive. Counts the work of jobs, without starts, checkpoints and exchanges.
// Example: 100 jobs an hour of 8 GPUs for 0.5 h are 400 GPU-hours an hour; 128 GPUs are offered 3.1
// times their capacity.
struct OfferedLoad {
  double gpu_h_per_h = 0;  // GPU-hours that arrive in an hour: the GPUs that they keep busy
  int64_t gpus = 0;        // GPUs of the cluster
  double gpu_h = 0;        // if all jobs arrive at one instant: their GPU-hours
  int64_t traces_left_out = 0;
};

// From the first 20,000 jobs of each source, drawn with the run's seed. Traces are read only on
// request and up to 32 MB. Empty: no job requests GPUs, or no node has one.
std::optional<OfferedLoad> offered_load(const Scenario& scenario, const ClusterState& state,
                                        bool reads_traces);
// For example "7.1 times what the cluster has: 909 GPU-hours asked per hour, of 128".
std::string to_text(const OfferedLoad& load);

}  // namespace orrery
