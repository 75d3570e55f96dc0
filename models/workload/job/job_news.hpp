// models/workload/job/job_news.hpp -- signals about jobs.
#pragma once

#include <cstdint>

#include "models/workload/job/job.hpp"
#include "models/workload/job/job_usage.hpp"
#include "models/workload/job/recovery_row.hpp"
#include "sim/core/id.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

// JobController emits all signals. The order of their observers is in
// models/cluster/news_order.cpp.
struct JobNews {
  Signal<JobId> job_arrived;                        // Pending, no pod created yet
  Signal<JobId, JobPhase, JobPhase> phase_changed;  // before, after
  Signal<JobId> pace_changed;   // the pace of a running job changed, or the job paused or resumed
  Signal<JobId> job_suspended;  // Pending again, without pods
  // A gang's failure is detected: ranks died or gave up. The gang's remaining pods still hold their
  // nodes.
  Signal<JobId> gang_failed;
  // Milli-GPUs held now by a counted job: see JobTable::add_counted.
  Signal<JobId, int64_t> counted_holds;
  // A process of the pod died. The number: milli-GPUs of the process. These GPUs are idle while the
  // job hangs.
  Signal<PodId, int64_t> rank_dead;
  Signal<JobId> job_over;  // last chance to read the job, before JobTable::remove()
  Signal<const RecoveryRow&> recovered;
  Signal<const WorkDone&> work_done;
  Signal<const WorkSettled&> work_settled;
};

}  // namespace orrery
