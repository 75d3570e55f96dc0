// models/workload/job/pod_news.hpp -- signals about pods.
#pragma once

#include <cstdint>
#include <span>

#include "sim/core/id.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

struct DeadPod {  // one life of a pod that ended with its node
  PodId pod;
  uint64_t generation = 0;
};

// The signals are in the order of a pod's life. Emitters: JobController (J), Scheduler (S), the
// PodApi (A). models/cluster/news_order.cpp orders each signal's observers.
struct PodNews {
  Signal<std::span<const PodId>> pods_created;  // J: Pending pods, in the order of creation
  // S: no node was found for a pod. For a gang that is placed as a whole, the PodId is that of the
  // gang's first pod. Also emitted for a pod rejected in Permit, for example because other pods of
  // its gang got no node. Not emitted if the pod has a nominated node, where preemption makes room.
  Signal<PodId> no_node_found;
  // S: a node is reserved for the pod. The Permit point and the binding follow.
  Signal<PodId, NodeId> pod_assigned;
  Signal<PodId, NodeId> pod_unassigned;  // S: the reservation is undone, or a bound pod has left
  Signal<PodId> pod_runs;                // J: an independent pod begins to compute
  // J: the pod ended. The pod's entry in the JobTable still shows the state before the end; the
  // entry of its gang no longer counts the pod.
  Signal<PodId> pod_removed;
  // J: the scheduler observes the end of a pod that had a node; the pod's resources are free from
  // now on. Without a control plane this signal follows pod_removed at once. With a control plane,
  // the job may already be over at this signal, or the pod may already be due for re-creation.
  Signal<PodId> end_observed;
  // A: pods that died with a node are deleted, and their controllers have observed the deletion.
  Signal<std::span<const DeadPod>> dead_pods_gone;
};

}  // namespace orrery
