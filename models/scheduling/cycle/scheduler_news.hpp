// models/scheduling/cycle/scheduler_news.hpp -- the signals of the scheduler.
#pragma once

#include "sim/core/id.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

struct SchedulerNews {
  Signal<PodId, NodeId> pod_assigned;    // reserved for the pod: waiting in Permit, binding, bound
  Signal<PodId, NodeId> pod_unassigned;  // any of these undone, or a bound pod that left
  // For a pod, or for a gang placed as a whole: its first. Also a pod that was rejected in Permit,
  // since the rest of its gang has no node.
  Signal<PodId> no_node_found;
  Signal<> tried_in_vain;  // at every kVainAttempts-th attempt since a pod was bound or created
};

}  // namespace orrery
