// models/workload/job/pod_news.hpp -- the news hub of pods.
#pragma once

#include <cstdint>
#include <span>

#include "sim/core/id.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

struct DeadPod {  // one life of a pod, which ended with its node
  PodId pod;
  uint64_t generation = 0;
};

// In the order of a pod's life. Emitters: JobController (J), Scheduler (S), the PodApi (A).
// Observers connect in the order of the table in models/cluster/news_order.cpp.
struct PodNews {
  Signal<std::span<const PodId>> pods_created;  // J: Pending pods, in the order of creation
  // S: a pod, or the first pod of a gang placed as a whole, found no node. Also a pod that was
  // rejected in Permit, since the rest of its gang has no node.
  Signal<PodId> no_node_found;
  Signal<PodId, NodeId> pod_assigned;    // S: node reserved: waiting in Permit, binding, bound
  Signal<PodId, NodeId> pod_unassigned;  // S: that is undone, or a bound pod left
  Signal<PodId> pod_runs;                // J: an independent pod begins to compute
  // J: the pod ended; its record is as before, its gang as after.
  Signal<PodId> pod_removed;
  // J: the scheduler observes the end of a pod that had a node. The pod's resources are free from
  // now on. Without a control plane this signal follows pod_removed at once. With one, the job may
  // be over by then, or want the pod again.
  Signal<PodId> end_observed;
  // A: Pods that died with a node are deleted, and their controllers know.
  Signal<std::span<const DeadPod>> dead_pods_gone;
};

}  // namespace orrery
