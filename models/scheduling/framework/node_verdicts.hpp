// models/scheduling/framework/node_verdicts.hpp -- verdicts of node-local Filters, kept per pod
// spec.
#pragma once

#include <memory>
#include <vector>

#include "models/scheduling/framework/plugins.hpp"
#include "models/scheduling/framework/spec_cache.hpp"

namespace orrery {

// A verdict that depends on one node and the pod's spec alone is computed on demand and kept until
// the node changes. A burst of alike pods costs one scan of the nodes. A pod whose spec never comes
// again costs only the nodes that its search visits.
class NodeVerdicts {
 public:
  NodeVerdicts(const ClusterState& cluster, const Plugins& plugins);

  // Nodes that changed since the last time are stale.
  SpecCache& of(const Cycle& cycle);
  // Works out what is stale of `nodes`. Returns whether anything was.
  bool look_at(const Cycle& cycle, SpecCache& cache, const NodeSet& nodes);
  bool look_at_all(const Cycle& cycle, SpecCache& cache);
  // Feasible nodes of the latest look_at() that found something stale.
  const NodeSet& newly_feasible() const { return looked_at_.nodes(); }
  // How many more pods of the spec fit, by whole GPUs alone; the spec must ask for some.
  int64_t gpu_capacity(const Cycle& cycle, SpecCache& cache, const GangDomain* domain);

 private:
  void look_at_asked(const Cycle& cycle, SpecCache& cache);
  void start_over(SpecCache& cache, SpecId spec) const;
  void count_capacity(const PodSpec& spec, SpecCache& cache) const;

  const ClusterState& cluster_;
  const Plugins& plugins_;
  const size_t caches_max_;
  std::vector<std::unique_ptr<SpecCache>> caches_;  // by SpecId, modulo the most; null: never seen
  Candidates looked_at_;                            // scratch of look_at()
  NodeSet asked_;                                   // likewise
};

}  // namespace orrery
