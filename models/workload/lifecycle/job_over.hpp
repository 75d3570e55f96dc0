// models/workload/lifecycle/job_over.hpp -- why a job ends, and why a healthy pod is deleted.
#pragma once

#include "models/workload/job/ending.hpp"
#include "models/workload/job/job.hpp"
#include "models/workload/job/pod_row.hpp"

namespace orrery {

struct JobOver {
  JobPhase phase = JobPhase::Completed;
  EndCause cause = EndCause::None;
  int32_t exit_code = 0;

  static JobOver failed(EndCause cause, int32_t exit_code = kNoExitCode) {
    const bool is_cancelled = cause == EndCause::Cancelled;
    return {is_cancelled ? JobPhase::Cancelled : JobPhase::Failed, cause, exit_code};
  }
  static JobOver failed(const Ending& ending) { return failed(ending.cause, ending.exit_code); }
};

struct Disruption {
  PodEnd end = PodEnd::Preempted;
  int32_t by_priority = 0;  // priority of the preemptor
};

}  // namespace orrery
