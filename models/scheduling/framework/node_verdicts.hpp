// models/scheduling/framework/node_verdicts.hpp -- cached verdicts of node-local Filters, per pod
// spec.
#pragma once

#include <memory>
#include <vector>

#include "models/scheduling/framework/plugins.hpp"
#include "models/scheduling/framework/spec_cache.hpp"

namespace orrery {

// A verdict that depends only on a node and the pod's spec is computed when it is first needed,
// and cached until the node changes. So a burst of equal pods costs at most one verdict for
// each node, and one more each time that a node changes.
class NodeVerdicts {
 public:
  NodeVerdicts(const ClusterState& cluster, const Plugins& plugins);

  // Returns the cache of the pod's spec. Verdicts of nodes that changed since the last call for
  // this spec become stale.
  SpecCache& of(const Cycle& cycle);
  // Computes the stale verdicts: look_at() for `nodes`, look_at_all() for all nodes. Both return
  // whether a verdict was stale.
  bool look_at(const Cycle& cycle, SpecCache& cache, const NodeSet& nodes);
  bool look_at_all(const Cycle& cycle, SpecCache& cache);
  // The nodes found feasible by the latest look_at() or look_at_all() that computed a verdict.
  const NodeSet& newly_feasible() const { return looked_at_.nodes(); }
  // Number of pods of the spec that fit on the idle GPUs of feasible nodes in the domain. Other
  // resources are not counted. A null domain is the whole cluster. The spec must request whole
  // GPUs.
  int64_t gpu_capacity(const Cycle& cycle, SpecCache& cache, const GangDomain* domain);

 private:
  void look_at_asked(const Cycle& cycle, SpecCache& cache);
  void start_over(SpecCache& cache, SpecId spec) const;
  void count_capacity(const PodSpec& spec, SpecCache& cache) const;

  const ClusterState& cluster_;
  const Plugins& plugins_;
  const size_t caches_max_;
  std::vector<std::unique_ptr<SpecCache>> caches_;  // by SpecId % caches_max_; null: not used yet
  Candidates looked_at_;                            // scratch: candidates of one call
  NodeSet asked_;                                   // scratch: nodes of one call
};

}  // namespace orrery
