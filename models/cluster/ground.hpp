// models/cluster/ground.hpp -- what a cluster stands on: nodes, fabric and jobs.
#pragma once

#include "models/control_plane/control_plane_params.hpp"
#include "models/hardware/cluster_state.hpp"
#include "models/network/fabric/build_fabric.hpp"
#include "models/scenario/cluster_params.hpp"
#include "models/scenario/scenario.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/config/node.hpp"

namespace orrery {

// Built from the scenario before the Cluster, whose components share and change it. `jobs` is empty
// at first.
struct Ground {
  explicit Ground(const Scenario& scenario);
  // Reports mistakes that show only once the nodes are built, such as faults of unknown nodes.
  void check(const Scenario& scenario, const config::Node& root, Diagnostics& diagnostics) const;
  ClusterState state;
  BuiltPools built;
  BuiltFabric fabric;  // empty unless network.level is flow
  JobTable jobs;
};

// Reports mistakes that show only once the pools are built, such as joins of unknown pools.
// `section` is the document's `control_plane`.
void check_control_plane(const ControlPlaneParams& params, const BuiltPools& built,
                         const config::Node& section, Diagnostics& diagnostics);

}  // namespace orrery
