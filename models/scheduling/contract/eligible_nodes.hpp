// models/scheduling/contract/eligible_nodes.hpp -- the nodes that a pod's own spec allows: node
// name, required node affinity and tolerations. Free room and the state of nodes are not
// considered.
#pragma once

#include <span>

#include "models/hardware/cluster_state.hpp"
#include "models/scheduling/contract/status.hpp"
#include "models/workload/job/pod_spec.hpp"

namespace orrery {

// Nodes that match one of the terms; a term without requirements matches nothing.
ORRERY_API NodeSet matching_nodes(const ClusterState& cluster,
                                  std::span<const SelectorTerm> any_of);
// By name and labels alone, which never change in a run.
ORRERY_API NodeSet matching_nodes(const ClusterState& cluster, const PodSpec& spec);
// Whether the node admits the pod now: not cordoned, and no NoSchedule or NoExecute taint that the
// pod does not tolerate.
ORRERY_API bool is_open_to(const ClusterState& cluster, const PodSpec& spec, NodeId node);
// Both conditions.
ORRERY_API NodeSet eligible_nodes(const ClusterState& cluster, const PodSpec& spec);

}  // namespace orrery
