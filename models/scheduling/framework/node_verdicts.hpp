// models/scheduling/framework/node_verdicts.hpp -- cached verdicts of node-local Filters, per pod
// spec.
#pragma once

#include <memory>
#include <vector>

#include "models/scheduling/framework/plugins.hpp"
#include "models/scheduling/framework/spec_cache.hpp"

namespace orrery {

// A verdict that depends only on a node and the pod's spec is computed on demand and cached until
// the node changes. A burst of equal pods costs one scan of the nodes. A pod with a new spec costs
// only the nodes that its search visits.
class NodeVerdicts {
 public:
  NodeVerdicts(const ClusterState& cluster, const Plugins& plugins);

  // Marks nodes that changed since the last call as stale.
  SpecCache& of(const Cycle& cycle);
  // Computes stale verdicts on `nodes`. Returns whether there were any.
  bool look_at(const Cycle& cycle, SpecCache& cache, const NodeSet& nodes);
  bool look_at_all(const Cycle& cycle, SpecCache& cache);
  // Feasible nodes of the latest look_at() that computed something.
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
  NodeSet asked_;                                   // scratch of look_at()
};

}  // namespace orrery
