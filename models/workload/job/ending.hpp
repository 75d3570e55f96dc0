// models/workload/job/ending.hpp -- how and why jobs and pods end.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/config/value_distributions.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Why a job or a pod ended. None: it succeeded, or the control plane ended it, for example by
// preemption or scaling.
enum class EndCause : uint8_t {
  None,
  Error,        // an error of the program or the user
  OutOfMemory,  // the kernel's OOM killer
  Cancelled,    // cancelled by its user
  TimeLimit,    // it computed for longer than its limit
  NodeFailed,
  ProcessDied,  // its process died with its GPU, or because it could not communicate
};
constexpr std::array<std::string_view, 7> enum_names(EndCause) {
  return {"none",       "error",       "out_of_memory", "cancelled",
          "time_limit", "node_failed", "process_died"};
}

constexpr int32_t kNoExitCode = -1;                  // no kubelet reported an exit code
constexpr int32_t kKilled = 137, kTerminated = 143;  // 128 + SIGKILL, 128 + SIGTERM

// Kubeflow and KubeDL (pkg/util/train) retry these exit codes. All other codes are permanent.
constexpr bool is_retryable(int32_t exit_code) {
  return exit_code == 130 || exit_code == 137 || exit_code == 138 || exit_code == 143;
}

// How a job or a pod ends. `after`: the work computed until the end.
struct Ending {
  Duration after;
  int32_t exit_code = 0;
  EndCause cause = EndCause::None;
};

// One way in which pods of a role may end.
struct DrawnEndingParams {
  static constexpr std::string_view kDoc =
      "A way in which pods of a role end. If several ends are drawn, the earliest counts.";

  EndCause cause = EndCause::Error;
  double chance = 0;
  int32_t exit_code = 1;
  DurationDistribution after = ExponentialDuration{};

  template <class V>
  void fields(V& v) {
    v("cause", cause, "Cause that the tables /jobs and /pods give for this end.");
    v("chance", chance,
      "Probability of this end. Whether it occurs is drawn at each start of a pod; for the ranks "
      "of a gang, once per role at each start of the gang.",
      Range{0.0, 1.0}, Required{});
    v("exit_code", exit_code,
      "Exit code of the containers. 0 means success and requires `cause: none`; other codes "
      "require another cause. A gang that ends with exit code 0 completes.",
      Range{0, 255});
    v("after", after,
      "Compute time from the latest start of the pod or gang to this end, at least 1 ms. If the "
      "work is done earlier, the pod succeeds.");
  }
  template <class C>
  void check(C& c) const {
    if ((cause == EndCause::None) != (exit_code == 0)) {
      c.error("cause", "must be none if exit_code is 0, and only then");
    }
  }
};

}  // namespace orrery
