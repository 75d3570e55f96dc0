// models/scheduling/toolbox/required_nodes.hpp -- the nodes that a pod's required node affinity
// allows.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/workload/job/pod_spec.hpp"

namespace orrery {

// Nodes are matched only once for each distinct list of terms, because labels never change in a
// run.
class RequiredNodes {
 public:
  // `spec` must have required terms. The result stays valid as long as this object exists.
  const NodeSet& of(const ClusterState& cluster, SpecId id, const PodSpec& spec);

 private:
  struct Match {
    std::vector<SelectorTerm> any_of;
    NodeSet nodes;
  };
  std::deque<Match> matches_;      // a deque, so that results stay valid
  std::vector<uint32_t> by_spec_;  // by spec: index into matches_
};

}  // namespace orrery
