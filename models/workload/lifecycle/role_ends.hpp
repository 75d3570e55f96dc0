// models/workload/lifecycle/role_ends.hpp -- which ended pods of a role are restarted.
#pragma once

#include <cstdint>

#include "models/workload/job/job_spec.hpp"

namespace orrery {

// Counts the ended pods of one role of a live job.
struct RoleEnds {
  int32_t restarts = 0;  // restarts of the role's pods after their own failures
  int32_t done = 0;  // pods that succeeded, or failed for good in a role whose failures are ignored

  // Whether a pod that ended with this exit code is restarted. Counts the restart if the pod
  // failed.
  bool restarts_after(const RoleSpec& role, int32_t exit_code) {
    const bool fails = exit_code != 0;
    const bool may = role.restart == RestartPolicy::Always ||
                     (role.restart == RestartPolicy::OnFailure && fails) ||
                     (role.restart == RestartPolicy::ExitCode && is_retryable(exit_code));
    if (!may) return false;
    if (fails && role.backoff_limit && restarts >= *role.backoff_limit) return false;
    if (fails) ++restarts;
    return true;
  }
};

}  // namespace orrery
