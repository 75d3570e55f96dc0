#include "models/scheduling/contract/eligible_nodes.hpp"

#include <algorithm>

namespace orrery {
namespace {

const Taint kCordon{"node.kubernetes.io/unschedulable", "", TaintEffect::NoSchedule};

bool lets_in(const PodSpec& spec, const Taint& taint) {
  return taint.effect == TaintEffect::PreferNoSchedule ||
         std::ranges::any_of(spec.tolerations,
                             [&](const Toleration& t) { return t.tolerates(taint); });
}

}  // namespace

NodeSet matching_nodes(const ClusterState& cluster, std::span<const SelectorTerm> any_of) {
  NodeSet nodes{cluster.nodes()};
  for (const SelectorTerm& term : any_of) {
    if (!term.all_of.empty()) nodes |= cluster.matching(term);
  }
  return nodes;
}

NodeSet matching_nodes(const ClusterState& cluster, const PodSpec& spec) {
  NodeSet nodes = spec.required_terms.empty() ? NodeSet::all(cluster.nodes())
                                              : matching_nodes(cluster, spec.required_terms);
  if (!spec.node_name.empty()) {
    nodes.keep_if([&](NodeId n) { return cluster.name(n) == spec.node_name; });
  }
  return nodes;
}

bool is_open_to(const ClusterState& cluster, const PodSpec& spec, NodeId node) {
  for (size_t t = 0; t < cluster.taints().size(); ++t) {
    const bool has_it = cluster.with_taint(t).contains(node);
    if (has_it && !lets_in(spec, cluster.taints()[t])) return false;
  }
  return !cluster.cordoned().contains(node) || lets_in(spec, kCordon);
}

NodeSet eligible_nodes(const ClusterState& cluster, const PodSpec& spec) {
  NodeSet nodes = matching_nodes(cluster, spec);
  for (size_t t = 0; t < cluster.taints().size(); ++t) {
    if (!lets_in(spec, cluster.taints()[t])) nodes -= cluster.with_taint(t);
  }
  if (!lets_in(spec, kCordon)) nodes -= cluster.cordoned();
  return nodes;
}

}  // namespace orrery
