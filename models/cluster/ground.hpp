// models/cluster/ground.hpp -- nodes, fabric and jobs of a run, built before the Cluster.
#pragma once

#include "models/control_plane/control_plane_params.hpp"
#include "models/hardware/cluster_state.hpp"
#include "models/network/fabric/build_fabric.hpp"
#include "models/scenario/cluster_params.hpp"
#include "models/scenario/scenario.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/config/node.hpp"

namespace orrery {

// State that the components of the Cluster share and change. The constructor builds nodes and
// fabric; `jobs` is empty at first.
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
