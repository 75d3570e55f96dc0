// models/workload/training/step_activity.hpp -- the exchanges of a job's steps as one activity on
// the fabric.
//
// What all groups of all exchanges put on the links in a step, by the bytes of a step. In truth
// exchanges take turns; on the average of many steps the links see the same.
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
  NicId nic;    // the one it sends through
  PodId pod{};  // that it is in
};

// As launchers number them: those of a node one after the other.
std::vector<RankPlace> by_node(std::vector<RankPlace> ranks);

// Pods whose ranks all are dedicated parameter servers of an exchange. `ranks` are those of a gang.
std::vector<PodId> dedicated_servers(const StepPlan& plan, const std::vector<RankPlace>& ranks);

struct StepActivity {
  FabricActivity fabric;  // no uses: nothing leaves the nodes
  Bytes bytes{};          // that each rank exchanges across nodes in a step
  Bandwidth rate_max{};   // of these bytes when no other traffic is there; latency is in it
  Duration inside{};      // of the exchanges that stay in nodes
};

// Ranks are in the order of `places`, node by node, and each node gives `gpus` of such a machine.
// Of nodes with unlike numbers of ranks in a group, each takes as many NICs as the one with the
// fewest. NICs reach `nic_factor` of their rate. `times` say how long each exchange takes alone,
// and in which pattern it goes from node to node; `queue_pairs` share what a NIC sends to another.
StepActivity step_activity(const StepPlan& plan, const Machine& machine, GpuMask gpus,
                           std::span<const RankPlace> places, const RouteFinder& route,
                           double nic_factor = 1, const ExchangeTimes& times = {},
                           int32_t queue_pairs = 1);

}  // namespace orrery
