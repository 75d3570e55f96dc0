// models/workload/gang_exchanges.hpp -- what exchanges between ranks cost the gangs that run.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/hardware/machine.hpp"
#include "models/network/network.hpp"
#include "models/workload/job_controller.hpp"
#include "models/workload/job_table.hpp"
#include "models/workload/training_step.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Sets the paces of gangs that have a step. Alone, the exchanges of a step take as long as NCCL's
// tuner says. On the network a gang is one flow that never ends: its uses are what a step puts on
// each link, scaled so that its heaviest link has weight 1, and it asks for no more than it could
// move alone. Its exchanges then take as long as that link takes at the rate it gets. So links are
// shared as if gangs exchanged all the time: the most that they can hinder one another.
class GangExchanges {
 public:
  // `network`: null with level: alpha_beta. All must outlive it.
  GangExchanges(const ClusterState& cluster, const JobTable& jobs,
                std::span<const Machine> machines, JobController& controller, Network* network);
  GangExchanges(const GangExchanges&) = delete;
  GangExchanges& operator=(const GangExchanges&) = delete;

  void phase_changed(JobId job, JobPhase after);
  // Of a gang that runs: how it is placed, what a step is and how long its exchanges take now.
  struct View {
    const StepPlan* plan = nullptr;
    Duration alone{}, exchange{};  // of a step; max: they cannot go on
    FlowId flow{};
  };
  View view(JobId job) const;

 private:
  struct Gang {
    bool is_running = false;
    StepPlan plan{};
    Duration alone{};
    Duration exchange{};
    double heaviest_bits = 0;  // of a step, on its heaviest link
    bool is_connected = true;
    FlowId flow{};
  };
  struct Rank {  // one GPU
    NodeId node;
    NicId nic;
  };
  void begin(JobId job);
  void end(JobId job);
  void reroute();
  void find_ranks(JobId job);
  void add_group(const StepTraffic& traffic, size_t first, Gang& gang);
  std::vector<LinkUse> uses_of(Gang& gang);
  void connect(Gang& gang, JobId job);
  void rate_changed(FlowId flow);
  void set_pace(JobId job);

  const ClusterState& cluster_;
  const JobTable& jobs_;
  std::span<const Machine> machines_;
  JobController& controller_;
  Network* network_;
  std::vector<std::vector<uint32_t>> nic_of_gpu_;  // by machine: which compute NIC, by GPU
  std::vector<Gang> gangs_;                        // by job
  std::vector<JobId> job_of_flow_;                 // by index of the flow
  std::vector<Rank> ranks_;                        // scratch, of one gang
  std::vector<double> bits_;                       // scratch, by link
  std::vector<LinkId> used_;                       // scratch
  std::vector<NicId> nics_;                        // scratch
};

}  // namespace orrery
