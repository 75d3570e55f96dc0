// models/cluster/offered_load.hpp -- what jobs ask for, against what nodes have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/hardware/cluster_state.hpp"
#include "models/scenario/scenario.hpp"

namespace orrery {

// Of GPUs, while jobs arrive. The work of jobs counts, and no start, checkpoint or exchange.
struct OfferedLoad {
  double gpu_h_per_h = 0;  // GPU-hours that arrive in an hour, so the GPUs that they keep busy
  int64_t gpus = 0;        // that there are
  double gpu_h = 0;        // of jobs that all arrive at one instant, where no other jobs do
  int64_t traces_left_out = 0;
};

// By the first 20,000 jobs of each source, as the run's seed draws them. Traces are read only if
// that is asked for, and no larger than 32 MB: others are left out. None: no job asks for GPUs, or
// no node has one.
std::optional<OfferedLoad> offered_load(const Scenario& scenario, const ClusterState& state,
                                        bool reads_traces);
// "7.1 times what the cluster has: 909 GPU-hours asked per hour, of 128".
std::string to_text(const OfferedLoad& load);

}  // namespace orrery
