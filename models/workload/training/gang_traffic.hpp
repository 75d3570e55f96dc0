// models/workload/training/gang_traffic.hpp -- locations of a gang's ranks, and the network traffic
// of the gang's steps.
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

// The nodes and GPUs of a gang's running pods.
struct GangPlaces {
  struct Share {  // the gang's GPUs and CPUs on its first node of a machine type
    uint32_t machine = 0;
    GpuMask gpus = 0;
    int64_t cpu_milli = 0;  // requested by the gang's pods on that node; 0: no limit
  };
  std::vector<RankPlace> ranks;  // one for each GPU of the running pods, in order of ranks
  std::vector<NodeId> nodes;     // each node once, in id order
  // One for each machine type. All nodes of a type are assumed to be like the type's first node.
  std::vector<Share> shares;
};

// If a gang's nodes differ, the slowest type sets the pace. The exchanges take as long as on the
// machine type with the longest exchange_time(). If the step has a model, compute takes as long as
// on the GPU type with the fewest FLOP/s.
class GangTraffic {
 public:
  // `network` is null with `network.level: alpha_beta`. All arguments must outlive this object.
  GangTraffic(const ClusterState& cluster, const JobTable& jobs, std::span<const Machine> machines,
              Network* network, ExchangeTimes times);

  GangPlaces places_of(JobId job) const;
  StepPlan plan_of(JobId job, const GangPlaces& places) const;
  struct Found {
    StepActivity activity;      // `bytes` is for the gang's heaviest link, which has weight 1
    std::vector<LinkUse> load;  // routes of the gang over each link, for adaptive routing
    bool has_detour = false;
  };
  // Finds the gang's traffic on the present routes of the network. `held` is the load of the gang's
  // old routes. Adaptive routing does not count this load, because new routes replace the old ones.
  Found find(JobId job, const StepPlan& plan, const GangPlaces& places,
             std::span<const LinkUse> held) const;
  // For each rank, the bytes that it sends, relative to `activity.bytes`. Ranks that share a NIC
  // send equal amounts. The result is empty without a fabric.
  std::vector<double> nic_parts(const GangPlaces& places, const StepActivity& activity) const;

 private:
  const ClusterState& cluster_;
  const JobTable& jobs_;
  std::span<const Machine> machines_;
  Network* network_;
  ExchangeTimes times_;
  // By machine type and GPU: index of the nearest NIC among the node's compute NICs.
  std::vector<std::vector<uint32_t>> nic_of_gpu_;
};

}  // namespace orrery
