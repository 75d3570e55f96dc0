#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

NodeSet nodes_of(const GangDomain& domain, const ClusterState& cluster) {
  if (const NodeSet* const set = std::get_if<NodeSet>(&domain)) return *set;
  NodeSet nodes{cluster.nodes()};
  if (const NodeId* const node = std::get_if<NodeId>(&domain)) {
    nodes.insert(*node);
  } else {
    for (const NodeId n : cluster.in_leaf(std::get<InLeaf>(domain).leaf)) {
      if (cluster.up().contains(n)) nodes.insert(n);
    }
  }
  return nodes;
}

}  // namespace orrery
