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
  Arrived,  // at this instant, and not in the queue yet
  Waiting,
  Held,       // an Admit rejected it
  Running,    // it has what it asked for, whether or not it computes already
  Stopping,   // writes its checkpoint
  Infeasible  // asks for more than there is
};

struct JobAsk {            // what a job asks for
  int64_t count = 0;       // of the counted resource, as ClusterState counts it
  int64_t units = 0;       // the same in whole CPUs or GPUs
  Resources request = {};  // of all pods together
  Duration run = {};       // as its user requested it; negative: not known
};

struct RunEstimate {        // how long the job queue believes the whole run of a job to be
  Duration run = {};        // as last corrected
  Duration first = {};      // as given when the job arrived
  int32_t corrections = 0;  // because the job ran longer
};

// A stretch is the time from a start of a job to its next stop or end.
struct JobProgress {
  Time started{-1};        // of the present stretch, or the last one
  Duration setup = {};     // of the present stretch, before the job computes
  Pace pace = {};          // of the present stretch
  Duration executed = {};  // up to `counted_from`, as at full pace
  Time counted_from = {};  // since when the job runs at that pace
  Time expected_end = {};  // while it runs: later than now, whenever a policy looks
};

struct QueuedJob {
  JobSlot slot = kNoJob;
  JobId id = {};
  uint64_t serial = 0;
  uint32_t user = 0, team = 0, application = 0;  // numbered in order of their first job
  int32_t priority = 0;
  QueuedState state = QueuedState::Arrived;
  Time submitted = {};
  Time queued = {};  // when it began to wait, anew after each stop
  JobAsk ask = {};
  RunEstimate estimate = {};
  JobProgress progress = {};
  JobSlot partner = kNoJob;  // that runs on the same GPUs
  Resources held = {};       // out of the pool; of two partners one holds for both
  Duration run = {};         // once it is over: what it was
  bool is_over = false;      // it ended this instant, and that is not taken in yet

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
