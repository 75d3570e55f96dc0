// models/workload/lifecycle/role_ends.hpp -- effects of the ends of a role's pods.
#pragma once

#include <cstdint>

#include "models/workload/job/job_spec.hpp"

namespace orrery {

// Of one role of a live job.
struct RoleEnds {
  int32_t restarts = 0;  // restarts of its pods after they ended by themselves
  int32_t done = 0;      // pods that succeeded, or failed in a role whose failures are ignored

  // Whether a pod with this exit code is restarted; counts the restart.
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
