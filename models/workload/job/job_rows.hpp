// models/workload/job/job_rows.hpp -- rows of /jobs, /pods and /events/recoveries.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/workload/job/job.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"
#include "sim/record/column.hpp"

namespace orrery {

constexpr Time kNever{-1};  // of a stage that was not reached

// How a job ended, or in which phase the end of the run found it.
enum class JobOutcome : uint8_t { Completed, Failed, Pending, Starting, Running, Hung, Restarting };
constexpr std::array<std::string_view, 7> enum_names(JobOutcome) {
  return {"completed", "failed", "pending", "starting", "running", "hung", "restarting"};
}

enum class PodEnd : uint8_t {
  Completed,
  NodeFailed,
  GangStopped,
  JobFailed,
  RunEnded,
  RankDied,
  ScaledDown,
  Preempted
};
constexpr std::array<std::string_view, 8> enum_names(PodEnd) {
  return {"completed", "node_failed", "gang_stopped", "job_failed",
          "run_ended", "rank_died",   "scaled_down",  "preempted"};
}

struct JobRow {
  uint64_t job = 0;
  int64_t external_id = 0;
  FixedText<32> name;
  FixedText<32> user, team;
  JobKind kind = JobKind::Pods;
  JobOutcome outcome = JobOutcome::Pending;
  int32_t pods = 0, members = 0, gpus = 0, priority = 0, restarts = 0, preemptions = 0,
          membership_changes = 0;
  Time submitted, created = kNever, bound = kNever, running = kNever, ended = kNever;
  Duration wait, run, work;
  double gpu_s_useful = 0, gpu_s_lost = 0, gpu_s_checkpoint = 0, gpu_s_restore = 0, gpu_s_held = 0,
         gpu_s_hung = 0, gpu_s_exchange = 0, gpu_s_idle = 0;

  static void columns(auto&& c) {
    c("job", &JobRow::job, "serial number, in order of submission");
    c("external_id", &JobRow::external_id, "the number the trace or the scenario gives it");
    c("name", &JobRow::name, "name");
    c("user", &JobRow::user, "who submitted it");
    c("team", &JobRow::team, "team or virtual cluster");
    c("kind", &JobRow::kind, "independent pods or one communicator");
    c("outcome", &JobRow::outcome, "how it ended, or its phase at the end of the run");
    c("pods", &JobRow::pods, "pods; of a service, as many as it may have", "pods");
    c("members", &JobRow::members,
      "pods that its gangs last started with; 0: they never did, or it has none", "pods");
    c("gpus", &JobRow::gpus, "GPUs over all pods", "GPU");
    c("priority", &JobRow::priority, "priority of its pods");
    c("restarts", &JobRow::restarts, "stops of the gang, or pods lost, after which it went on");
    c("preemptions", &JobRow::preemptions, "times one of its pods made room for another", "pods");
    c("membership_changes", &JobRow::membership_changes,
      "stops of the gang to go on with members that came late");
    c("submitted", &JobRow::submitted, "when it arrived");
    c("created", &JobRow::created, "when its first pod was created; -1: never");
    c("bound", &JobRow::bound, "when enough pods first had nodes; -1: never");
    c("running", &JobRow::running, "when it first computed; -1: never");
    c("ended", &JobRow::ended, "when it ended; -1: not in this run");
    c("wait", &JobRow::wait, "from arrival until it first computed, or until the end of the run");
    c("run", &JobRow::run, "from its first computing to its end, or to the end of the run");
    c("work", &JobRow::work, "compute time asked for");
    c("useful_gpu_s", &JobRow::gpu_s_useful, "compute that was saved or finished", "GPU s");
    c("lost_gpu_s", &JobRow::gpu_s_lost, "compute thrown away when it stopped", "GPU s");
    c("exchange_gpu_s", &JobRow::gpu_s_exchange,
      "waiting within steps: for exchanges that compute does not hide, slower ranks, data",
      "GPU s");
    c("checkpoint_gpu_s", &JobRow::gpu_s_checkpoint, "writing checkpoints, half ones too", "GPU s");
    c("restore_gpu_s", &JobRow::gpu_s_restore, "loading checkpoints", "GPU s");
    c("scheduling_held_gpu_s", &JobRow::gpu_s_held,
      "reserved or bound, not yet computing nor restoring: partial gangs, start-up", "GPU s");
    c("hung_gpu_s", &JobRow::gpu_s_hung, "held after a failure that stopped the job", "GPU s");
    c("idle_gpu_s", &JobRow::gpu_s_idle, "of a service: its replicas ran without load", "GPU s");
  }
};

struct PodRow {  // one life of a pod
  uint64_t job = 0;
  int32_t rank = 0;
  NodeId node;
  GpuMask gpus = 0;
  Time created, bound = kNever, started = kNever, ended;
  int32_t attempts = 0;
  PodEnd end = PodEnd::Completed;

  static void columns(auto&& c) {
    c("job", &PodRow::job, "serial number of its job");
    c("rank", &PodRow::rank, "which pod of the job");
    c("node", &PodRow::node, "where it ran; 4294967295: nowhere");
    c("gpus", &PodRow::gpus, "bit i: GPU i of the node was its own");
    c("created", &PodRow::created, "when it entered the scheduler's queue");
    c("bound", &PodRow::bound, "when it got its node; -1: never");
    c("started", &PodRow::started, "when its containers ran; -1: never");
    c("ended", &PodRow::ended, "when it left");
    c("attempts", &PodRow::attempts, "scheduling attempts");
    c("end", &PodRow::end, "why it left");
  }
};

// One stop of a gang, or of one independent pod, and the way back. kNever: not reached.
struct RecoveryRow {
  uint64_t job = 0;
  int32_t rank = -1;    // of the independent pod; -1: the gang as a whole
  int32_t attempt = 0;  // 1: the first one
  NodeId node;
  int32_t nodes = 0;  // that the job, or the pod, held when it was struck
  int32_t gpus = 0;   // likewise
  Time failed, detected = kNever, recreated = kNever, scheduled = kNever, started = kNever,
               resumed = kNever, caught_up = kNever;
  double lost_gpu_s = 0;
  bool is_preemption = false, is_membership_change = false;

  static void columns(auto&& c) {
    c("job", &RecoveryRow::job, "serial number of the job");
    c("rank", &RecoveryRow::rank, "the independent pod that was lost; -1: the whole gang stopped");
    c("attempt", &RecoveryRow::attempt, "1: the first stop of the job");
    c("node", &RecoveryRow::node,
      "the node that failed; 4294967295: none, a process died, gave up or had to go");
    c("nodes", &RecoveryRow::nodes, "nodes held when it failed", "nodes");
    c("gpus", &RecoveryRow::gpus, "GPUs held when it failed", "GPU");
    c("failed", &RecoveryRow::failed, "when it stopped");
    c("detected", &RecoveryRow::detected, "when the failure was noticed; -1: never");
    c("recreated", &RecoveryRow::recreated, "when its last lost pod was created; -1: never");
    c("scheduled", &RecoveryRow::scheduled, "when enough pods had nodes; -1: never");
    c("started", &RecoveryRow::started, "when the start barrier was passed; -1: never");
    c("resumed", &RecoveryRow::resumed, "when it computed again, its checkpoint loaded; -1: never");
    c("caught_up", &RecoveryRow::caught_up, "when its progress was what it had been; -1: never");
    c("lost_gpu_s", &RecoveryRow::lost_gpu_s, "compute since the last checkpoint", "GPU s");
    c("is_preemption", &RecoveryRow::is_preemption,
      "nothing failed: a pod was deleted to make room for another");
    c("is_membership_change", &RecoveryRow::is_membership_change,
      "nothing failed: the gang goes on with members that came late");
  }
};

}  // namespace orrery
