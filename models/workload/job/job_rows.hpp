// models/workload/job/job_rows.hpp -- rows of /jobs.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/workload/job/job.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/record/column.hpp"

namespace orrery {

// How a job ended, or its phase at the end of the run.
enum class JobOutcome : uint8_t {
  Completed,
  Failed,
  Pending,
  Starting,
  Running,
  Hung,
  Restarting,
  Cancelled
};
constexpr std::array<std::string_view, 8> enum_names(JobOutcome) {
  return {"completed", "failed", "pending",    "starting",
          "running",   "hung",   "restarting", "cancelled"};
}

struct JobRow {
  uint64_t job = 0;
  int64_t external_id = 0;
  FixedText<32> name;
  FixedText<32> user, team;
  JobKind kind = JobKind::Pods;
  JobOutcome outcome = JobOutcome::Pending;
  EndCause cause = EndCause::None;
  int32_t exit_code = kNoExitCode;
  int32_t pods = 0, members = 0, gpus = 0, priority = 0, restarts = 0, preemptions = 0,
          evictions = 0, membership_changes = 0;
  Time submitted, created = kNever, bound = kNever, running = kNever, ended = kNever;
  Duration wait, run, work;
  double gpu_s_useful = 0, gpu_s_lost = 0, gpu_s_checkpoint = 0, gpu_s_restore = 0, gpu_s_held = 0,
         gpu_s_hung = 0, gpu_s_exchange = 0, gpu_s_idle = 0;

  static void columns(auto&& c) {
    c("job", &JobRow::job, "serial number, in order of submission");
    c("external_id", &JobRow::external_id, "number of the job in the trace or the scenario");
    c("name", &JobRow::name, "name of the job");
    c("user", &JobRow::user, "user who submitted the job");
    c("team", &JobRow::team, "team or virtual cluster");
    c("kind", &JobRow::kind,
      "pods: independent pods; mpi_gang: gangs whose ranks share one communicator");
    c("outcome", &JobRow::outcome,
      "how the job ended, or its phase at the end of the run; hung: a gang of the job stopped, but "
      "the stop was not detected yet");
    c("cause", &JobRow::cause,
      "why the job did not complete; none: it completed, is not over, or is a service that failed "
      "because no replica ran when the service ended");
    c("exit_code", &JobRow::exit_code, "exit code; 0: success; -1: unknown");
    c("pods", &JobRow::pods, "number of pods; for a service, the maximum number of replicas",
      "pods");
    c("members", &JobRow::members,
      "pods with which the job's gangs last started; 0: no gang started, or the job has no gangs",
      "pods");
    c("gpus", &JobRow::gpus, "GPUs of all pods of the job together", "GPU");
    c("priority", &JobRow::priority, "priority of the job's pods");
    c("restarts", &JobRow::restarts,
      "restarts of gangs or independent pods of the job after failures");
    c("preemptions", &JobRow::preemptions, "times a pod of the job was preempted", "pods");
    c("evictions", &JobRow::evictions, "times a controller evicted a pod of the job", "pods");
    c("membership_changes", &JobRow::membership_changes,
      "restarts of an elastic gang to include members that came up late");
    c("submitted", &JobRow::submitted, "when the job was submitted");
    c("created", &JobRow::created, "when the first pod was created; -1: never");
    c("bound", &JobRow::bound,
      "first time at which an independent pod, or enough pods to start the gangs, had nodes; -1: "
      "never");
    c("running", &JobRow::running, "when the job first computed; -1: never");
    c("ended", &JobRow::ended, "when the job ended; -1: not in this run");
    c("wait", &JobRow::wait,
      "time from submission until the job first computed; if it never computed, until its end or "
      "the end of the run");
    c("run", &JobRow::run,
      "time from the job's first compute to its end or the end of the run; 0: it never computed");
    c("work", &JobRow::work,
      "compute time that the job needs with all members, without waits and checkpoints; if kind is "
      "pods, the time that each pod needs");
    c("useful_gpu_s", &JobRow::gpu_s_useful,
      "GPU time of compute that was not lost: saved in a checkpoint, finished, or under way when "
      "the run ended",
      "GPU s");
    c("lost_gpu_s", &JobRow::gpu_s_lost,
      "GPU time of compute that was lost when the job or its pods stopped, for example by a "
      "failure, preemption or eviction",
      "GPU s");
    c("exchange_gpu_s", &JobRow::gpu_s_exchange,
      "GPU time of waiting within training steps: for slower ranks, for input data, or for "
      "communication that compute does not hide",
      "GPU s");
    c("checkpoint_gpu_s", &JobRow::gpu_s_checkpoint,
      "GPU time spent writing checkpoints, including incomplete checkpoints", "GPU s");
    c("restore_gpu_s", &JobRow::gpu_s_restore, "GPU time spent loading checkpoints", "GPU s");
    c("scheduling_held_gpu_s", &JobRow::gpu_s_held,
      "GPU time of reserved or bound pods that neither compute nor load a checkpoint, for example "
      "in incomplete gangs or during start-up. Excludes hung_gpu_s",
      "GPU s");
    c("hung_gpu_s", &JobRow::gpu_s_hung,
      "GPU time that pods of a stopped gang held until the stop was detected", "GPU s");
    c("idle_gpu_s", &JobRow::gpu_s_idle,
      "GPU time that running replicas of a service spent without load", "GPU s");
  }
};

}  // namespace orrery
