// models/workload/job/job_news.hpp -- what a job controller tells others.
#pragma once

#include <cstdint>
#include <span>

#include "models/workload/job/job.hpp"
#include "models/workload/job/job_usage.hpp"
#include "models/workload/job/recovery_row.hpp"
#include "sim/core/id.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

struct JobNews {
  Signal<JobId> job_arrived;                    // Pending, no pod created yet
  Signal<std::span<const PodId>> pods_created;  // Pending pods, in the order of creation
  Signal<PodId> pod_removed;                    // all given back; record as before, gang as after
  Signal<NodeId, SpecId> room_learned;  // the scheduler learns late that a pod there is gone
  Signal<JobId, JobPhase, JobPhase> phase_changed;  // before, after
  Signal<PodId> pod_runs;                           // an independent pod begins to compute
  Signal<JobId, int64_t> counted_holds;             // a counted job has so many milli-GPUs now
  Signal<JobId> job_over;                           // last look before JobTable::remove
  Signal<JobId> job_suspended;                      // Pending again, without pods
  Signal<PodId, int64_t> rank_dead;  // so many milli-GPUs of a pod whose job hangs do nothing now
  Signal<JobId> pace_changed;        // of a job that runs
  Signal<const RecoveryRow&> recovered;
  Signal<const WorkDone&> work_done;
  Signal<const WorkSettled&> work_settled;
};

}  // namespace orrery
