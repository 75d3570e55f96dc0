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
  Arrived,  // the job queue has not processed the job's arrival yet
  Waiting,
  Held,       // an Admit rejected the job
  Running,    // the job holds its resources; perhaps it does not compute yet
  Stopping,   // the job writes its checkpoint
  Infeasible  // the job requests more than the cluster has
};

struct JobAsk {  // the request of a job
  // Amount of the counted resource (JobBoard::counts()), in thousandths for CPUs and GPUs.
  int64_t count = 0;
  int64_t units = 0;       // `count` in whole CPUs or GPUs, rounded up
  Resources request = {};  // sum over all pods
  Duration run = {};       // requested run time; negative: unknown
};

struct RunEstimate {        // the job queue's estimate of a job's whole run time
  Duration run = {};        // the estimate after corrections
  Duration first = {};      // the estimate at the arrival of the job
  int32_t corrections = 0;  // how often the estimate was too short and was extended
};

// A stretch is the time from one start of a job to its next stop or end.
struct JobProgress {
  Time started{-1};        // start of the present or last stretch; negative: the job never started
  Duration setup = {};     // time before the job computes, in the present stretch
  Pace pace = {};          // pace in the present stretch
  Duration executed = {};  // compute done until `counted_from`, as time at full pace
  Time counted_from = {};  // when compute at `pace` began, or is expected to begin after setup
  Time expected_end = {};  // valid while the job runs, and later than now
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
  JobSlot partner = kNoJob;  // the other job on the same GPUs, if any
  Resources held = {};       // amounts taken out of the pool; of two partners one holds nothing
  Duration run = {};         // real run time, once the job is over
  // Whether the job ended and has not returned its resources yet: see
  // policy.job_queue.costs.release_delay.
  bool is_over = false;
  bool has_computed = false;  // whether it has computed since its latest start

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
  Duration left(Time now) const {  // compute that remains, according to the estimate
    const Duration done = executed_by(now);
    return done < estimate.run ? estimate.run - done : Duration{};
  }
};

}  // namespace orrery
