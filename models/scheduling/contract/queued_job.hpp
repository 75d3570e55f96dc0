// models/scheduling/contract/queued_job.hpp -- a job in the job queue, as policies see it.
#pragma once

#include <cstdint>

#include "models/hardware/resources.hpp"
#include "models/scheduling/contract/job_tree.hpp"
#include "models/workload/training/pace.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class QueuedState : uint8_t {
  Arrived,  // this instant; not in the queue yet
  Waiting,
  Held,       // an Admit rejected it
  Running,    // it holds its resources, whether or not it computes already
  Stopping,   // writes its checkpoint
  Infeasible  // it requests more than the cluster has
};

struct JobAsk {            // the request of a job
  int64_t count = 0;       // of the counted resource, as ClusterState counts it
  int64_t units = 0;       // the count in whole CPUs or GPUs
  Resources request = {};  // of all pods together
  Duration run = {};       // requested run time; negative: unknown
};

struct RunEstimate {        // the job queue's estimate of a job's whole run time
  Duration run = {};        // after corrections
  Duration first = {};      // at the arrival of the job
  int32_t corrections = 0;  // because the job exceeded its estimate
};

// A stretch is the time from a start of a job to its next stop or end.
struct JobProgress {
  Time started{-1};        // of the present stretch, or the last one
  Duration setup = {};     // time before the job computes in the present stretch
  Pace pace = {};          // of the present stretch
  Duration executed = {};  // compute up to `counted_from`, in time at full pace
  Time counted_from = {};  // since when the job runs at this pace
  Time expected_end = {};  // while it runs: always later than now
};

struct QueuedJob {
  JobSlot slot = kNoJob;
  JobId id = {};
  uint64_t serial = 0;
  uint32_t user = 0, team = 0, application = 0;  // numbered in order of their first job
  int32_t priority = 0;
  QueuedState state = QueuedState::Arrived;
  Time submitted = {};
  Time queued = {};  // when its present wait began
  JobAsk ask = {};
  RunEstimate estimate = {};
  JobProgress progress = {};
  JobSlot partner = kNoJob;   // the job on the same GPUs
  Resources held = {};        // of the pool; one of two partners holds for both
  Duration run = {};          // once the job is over: its real run time
  bool is_over = false;       // it ended this instant, and the job queue has not processed that yet
  bool has_computed = false;  // since it started

  bool is_running() const { return state == QueuedState::Running; }
  bool has_started() const { return progress.started >= Time{}; }
  Duration executed_by(Time now) const {
    const JobProgress& p = progress;
    const bool has_run = is_running() && now > p.counted_from;
    return has_run ? p.executed + p.pace.work_in(now - p.counted_from) : p.executed;
  }
  Time end_by_estimate() const {
    return progress.counted_from + progress.pace.span_of(estimate.run - progress.executed);
  }
  Duration left(Time now) const {  // by the estimate
    const Duration done = executed_by(now);
    return done < estimate.run ? estimate.run - done : Duration{};
  }
};

}  // namespace orrery
