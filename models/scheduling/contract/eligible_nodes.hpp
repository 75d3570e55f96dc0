// models/scheduling/contract/eligible_nodes.hpp -- which nodes a pod may go to, by what it says
// itself: its node name, required node affinity and tolerations. Whether there is room, and whether
// the node is up, is another question.
#pragma once

#include <span>

#include "models/hardware/cluster_state.hpp"
#include "models/scheduling/contract/status.hpp"
#include "models/workload/job/pod_spec.hpp"

namespace orrery {

// Nodes that match one of the terms; a term without requirements matches nothing.
ORRERY_API NodeSet matching_nodes(const ClusterState& cluster,
                                  std::span<const SelectorTerm> any_of);
// By name and labels alone, which stay as they are for a whole run.
ORRERY_API NodeSet matching_nodes(const ClusterState& cluster, const PodSpec& spec);
// Whether a node lets the pod in now: not cordoned, and no NoSchedule or NoExecute taint that the
// pod does not tolerate.
ORRERY_API bool is_open_to(const ClusterState& cluster, const PodSpec& spec, NodeId node);
// Both.
ORRERY_API NodeSet eligible_nodes(const ClusterState& cluster, const PodSpec& spec);

}  // namespace orrery
