// models/workload/training/gang_traffic.hpp -- locations of a gang's ranks, and the exchanges of
// its steps there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/hardware/machine.hpp"
#include "models/network/collectives/exchange_times.hpp"
#include "models/network/network.hpp"
#include "models/workload/job/job_table.hpp"
#include "models/workload/training/step_activity.hpp"
#include "models/workload/training/training_step.hpp"
#include "sim/core/id.hpp"

namespace orrery {

// The GPUs of a gang with running pods.
struct GangPlaces {
  struct Share {  // GPUs and CPUs of its first node with this machine
    uint32_t machine = 0;
    GpuMask gpus = 0;
    int64_t cpu_milli = 0;  // 0: no limit
  };
  std::vector<RankPlace> ranks;  // in order of ranks
  std::vector<NodeId> nodes;     // each node once, in id order
  std::vector<Share> shares;     // by machine; other nodes of the machine count as equal
};

// If nodes differ, the slowest kind sets the pace: the GPUs with the fewest FLOP/s, and the machine
// on which an exchange takes longest.
class GangTraffic {
 public:
  // `network` is null with level: alpha_beta. All must outlive it.
  GangTraffic(const ClusterState& cluster, const JobTable& jobs, std::span<const Machine> machines,
              Network* network, ExchangeTimes times);

  GangPlaces places_of(JobId job) const;
  StepPlan plan_of(JobId job, const GangPlaces& places) const;
  struct Found {
    StepActivity activity;      // in bytes on the heaviest link, which has weight 1
    std::vector<LinkUse> load;  // routes over each link, for adaptive routing
    bool has_detour = false;
  };
  // By present routes, which replace those with the load `held`.
  Found find(JobId job, const StepPlan& plan, const GangPlaces& places,
             std::span<const LinkUse> held) const;
  // The share of the activity's bytes that each rank sends, by NIC. Empty without a fabric.
  std::vector<double> nic_parts(const GangPlaces& places, const StepActivity& activity) const;

 private:
  const ClusterState& cluster_;
  const JobTable& jobs_;
  std::span<const Machine> machines_;
  Network* network_;
  ExchangeTimes times_;
  std::vector<std::vector<uint32_t>> nic_of_gpu_;  // by machine: compute NIC by GPU
};

}  // namespace orrery
