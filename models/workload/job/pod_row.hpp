// models/workload/job/pod_row.hpp -- rows of /pods.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/workload/job/job.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/record/column.hpp"

namespace orrery {

enum class PodEnd : uint8_t {
  Completed,
  NodeFailed,
  GangStopped,
  JobFailed,
  RunEnded,
  RankDied,
  ScaledDown,
  Preempted,
  Exited,
  CleanedUp,
  Evicted
};
constexpr std::array<std::string_view, 11> enum_names(PodEnd) {
  return {"completed",   "node_failed", "gang_stopped", "job_failed", "run_ended", "rank_died",
          "scaled_down", "preempted",   "exited",       "cleaned_up", "evicted"};
}

struct PodRow {  // one life of a pod
  uint64_t job = 0;
  int32_t rank = 0;
  NodeId node;
  GpuMask gpus = 0;
  Time created, bound = kNever, started = kNever, ended;
  int64_t attempts = 0;
  PodEnd end = PodEnd::Completed;
  EndCause cause = EndCause::None;
  int32_t exit_code = kNoExitCode;

  static void columns(auto&& c) {
    c("job", &PodRow::job, "serial number of the job");
    c("rank", &PodRow::rank,
      "number of the pod in the job; a pod that replaces it has the same number");
    c("node", &PodRow::node, "node to which it was bound");
    c("gpus", &PodRow::gpus,
      "bit mask: bit i is set if the pod held GPU i of its node, or a share of GPU i");
    c("created", &PodRow::created, "when it entered the scheduler's queue");
    c("bound", &PodRow::bound,
      "when it was bound; with a control plane, when its kubelet observed the binding; -1: never");
    c("started", &PodRow::started, "when its containers began to run; -1: never");
    c("ended", &PodRow::ended, "when it ended, or the end of the run");
    c("attempts", &PodRow::attempts, "number of its scheduling attempts");
    c("end", &PodRow::end,
      "why it ended. gang_stopped: its gang stopped as a whole; job_failed: the job failed or was "
      "cancelled; rank_died: its process died; cleaned_up: the job completed before the pod; "
      "exited: its containers failed, or exited with 0 in a pod that is restarted or is no rank "
      "(takes_part: false); evicted: by a controller of policy.controllers");
    c("cause", &PodRow::cause,
      "if `end` is exited: cause of the exit; if `end` is job_failed: why the job ended; otherwise "
      "none");
    c("exit_code", &PodRow::exit_code,
      "exit code of its containers; 137: killed; 143: terminated; -1: unknown");
  }
};

}  // namespace orrery
