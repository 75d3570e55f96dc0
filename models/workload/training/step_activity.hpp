// models/workload/training/step_activity.hpp -- the exchanges of a job's steps as one activity on
// the fabric.
//
// On each link, the activity has the load of all groups in all exchanges of a step. In reality
// exchanges take turns; averaged over many steps the load on links is the same.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/hardware/machine.hpp"
#include "models/network/collectives/collective_links.hpp"
#include "models/workload/training/training_step.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct RankPlace {
  NodeId node;
  NicId nic;  // the NIC that the rank sends through
  PodId pod{};
};

// Sorts ranks as launchers do: the ranks of a node are consecutive.
std::vector<RankPlace> by_node(std::vector<RankPlace> ranks);

// Pods whose ranks are all dedicated parameter servers. `ranks` are the ranks of a gang.
std::vector<PodId> dedicated_servers(const StepPlan& plan, const std::vector<RankPlace>& ranks);

struct StepActivity {
  FabricActivity fabric;  // empty: no exchange leaves the nodes
  // Sum of the buffer sizes of a step's exchanges across nodes. In GangTraffic::Found::activity,
  // `bytes` is instead the number of bytes on the gang's heaviest link.
  Bytes bytes{};
  Bandwidth rate_max{};  // rate of these bytes without other traffic, latency included
  // Duration of the exchanges within nodes; with `network.level: alpha_beta`, of all exchanges.
  Duration inside{};
};

// `places` lists the ranks in order, node by node. The job has the GPUs `gpus` of each node, and
// every node is taken to be a `machine`. If a group of ranks that exchange data has different
// numbers of NICs on its nodes, it uses the smallest of these numbers on every node. NICs reach
// `nic_factor` of their rate.
// `times` gives the duration and pattern of each exchange without other traffic. The traffic
// between two NICs is split among `queue_pairs` flows.
StepActivity step_activity(const StepPlan& plan, const Machine& machine, GpuMask gpus,
                           std::span<const RankPlace> places, const RouteFinder& route,
                           double nic_factor = 1, const ExchangeTimes& times = {},
                           int32_t queue_pairs = 1);

}  // namespace orrery
