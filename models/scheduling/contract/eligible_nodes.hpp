// models/scheduling/contract/eligible_nodes.hpp -- the nodes that a pod's own spec allows: node
// name, required node affinity and tolerations. Free resources are not considered, nor whether
// nodes are up.
#pragma once

#include <span>

#include "models/hardware/cluster_state.hpp"
#include "models/scheduling/contract/status.hpp"
#include "models/workload/job/pod_spec.hpp"

namespace orrery {

// Nodes that match one of the terms. A term without requirements matches no node.
ORRERY_API NodeSet matching_nodes(const ClusterState& cluster,
                                  std::span<const SelectorTerm> any_of);
// Nodes that the spec's node name and required node affinity allow. The result never changes in a
// run, because names and labels of nodes do not.
ORRERY_API NodeSet matching_nodes(const ClusterState& cluster, const PodSpec& spec);
// Whether the node admits the pod now: the pod tolerates all NoSchedule and NoExecute taints of the
// node and, if the node is cordoned, the cordon.
ORRERY_API bool is_open_to(const ClusterState& cluster, const PodSpec& spec, NodeId node);
// Nodes that are in matching_nodes() and for which is_open_to() holds.
ORRERY_API NodeSet eligible_nodes(const ClusterState& cluster, const PodSpec& spec);

}  // namespace orrery
