// models/workload/lifecycle/job_state.hpp -- what the job controller alone knows of a live job and
// its pods.
#pragma once

#include <cstdint>
#include <vector>

#include "models/workload/job/job_rows.hpp"
#include "models/workload/lifecycle/job_controller_params.hpp"
#include "models/workload/lifecycle/recovery_log.hpp"
#include "models/workload/training/pace.hpp"
#include "models/workload/training/run_progress.hpp"
#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"
#include "sim/engine/event.hpp"

namespace orrery {

// Milli-GPUs times nanoseconds, exact; by what the GPUs were held for.
struct GpuTime {
  int128_t useful = 0, lost = 0, exchange = 0, checkpoint = 0, restore = 0, held = 0, hung = 0;
  int128_t idle = 0;

  static int128_t of(int64_t gpu_milli, Duration span) {
    return static_cast<int128_t>(gpu_milli) * span.ns;
  }
  GpuTime& operator+=(const GpuTime& other) {
    useful += other.useful, lost += other.lost;
    exchange += other.exchange, checkpoint += other.checkpoint;
    restore += other.restore, held += other.held, hung += other.hung, idle += other.idle;
    return *this;
  }
  static double seconds(int128_t amount) { return static_cast<double>(amount) * 1e-12; }
};

// The computing of a gang, or of an independent pod.
struct Run {
  // When barrier and communicator are done and the checkpoint is loaded; max: not known.
  Time restore_from = Time::max();
  RunProgress progress;
  int128_t unsaved = 0;  // GPU time of the compute that is not saved; a counted job's GPUs vary
  Duration redo_until;   // progress that it had at the failure it recovers from
  RecoveryLog::Handle recovery;
};

// What becomes of a gang from this moment on, unless something changes.
struct RunNow {
  RunTerms terms;
  RunProgress progress;    // up to now, if it runs
  Time restore_from;       // as in Run
  bool is_paused = false;  // for a checkpoint that is an event
};

// How long a job may compute; max: for ever.
inline Duration time_limit(const Job& job, Overruns overruns) {
  const bool has_limit = overruns == Overruns::Kill && job.requested >= Duration{};
  return has_limit ? job.requested : Duration::max();
}

struct JobCounters {
  uint64_t submitted = 0, completed = 0, failed = 0;  // jobs
  uint64_t pods_created = 0, pods_lost = 0;           // lost: on a node that failed
  uint64_t pods_preempted = 0;
  int128_t gpu_lost_preempted = 0;  // of GpuTime::lost
  uint64_t restarts = 0, membership_changes = 0;
};

struct LostPod {  // on a dead node
  PodId pod;
  uint64_t generation = 0;
  bool is_replaced = false;  // alone; else its gang comes back as a whole
  bool fails_job = false;    // that has no restarts left
  Time at = {};              // when
};

struct PodRun {
  EventId event;               // independent pods: it starts to compute, or completes
  Time held_from;              // since when its GPUs are not accounted for
  bool is_reserved = false;    // Pending, and a node is kept for it
  Run run;                     // of an independent pod
  bool is_wanted = false;      // Absent, and to be created
  bool is_on_its_way = false;  // Absent, and being created
  bool is_retired = false;     // Absent, and one more than its service shall have now
  bool is_awaited = false;     // Bound, and its job waits until it is known when it starts
  bool is_up = false;          // of an elastic job: its containers run
};

struct JobState {
  EventId event;      // gangs: it starts to compute, completes, is found dead, or comes back
  Run run;            // of a gang
  Pace pace;          // of a gang, or of a counted job
  Duration computed;  // of a gang: since its last failure, up to progress.since
  Duration work, checkpoint_interval;  // as Job says, or as GangStart does
  Time held_from;                      // of a counted job that starts: accounted for up to then
  int64_t gpu_milli = 0;               // of the bound pods
  int64_t run_gpu_milli = 0;  // of the pods that compute: of the gang's run, or independent ones
  int64_t serving_gpu_milli = 0;             // of the gang's dedicated parameter servers
  int32_t bound = 0, running = 0, done = 0;  // pods; those that run are bound, too
  int32_t wanted = 0;                        // pods to be created
  int32_t awaited = 0;                       // of a gang that starts: pods that are awaited
  Time barrier;             // when the others' containers run; max: an elastic gang gathers members
  Time called;              // of an elastic gang that gathers: when enough were up; kNever: not yet
  int32_t members = 0;      // of a gang: that took part in the last start
  int32_t create_from = 0;  // no pod before this rank is wanted
  int32_t ready_below = 0;  // of an ordered StatefulSet: all before this rank are
  int32_t replicas = 0;     // of a service: that there shall be
  int32_t restarts = 0;
  int32_t preemptions = 0;  // of its pods
  int32_t membership_changes = 0;
  uint32_t pods_started = 0;     // all in all, of independent ones
  bool is_queued = false;        // for pod creation
  bool is_struck = false;        // by the node failure that is being handled
  bool is_paused = false;        // it copies or writes a checkpoint that goes to a store
  bool is_traced = false;        // its steps are played, and it ends and saves between two of them
  bool is_saving = false;        // asynchronously, the last snapshot
  Snapshot snapshot;             // the last one
  std::vector<NodeId> saved_on;  // whose disks hold the last checkpoint; empty: it lies elsewhere
  Time saved_at;                 // when it was
  Time noticed;                  // when somebody finds out that it hangs; max: never
  PodId dead_pod;                // a process of it died, and its node did not
  bool is_suspending = false;    // writes its last checkpoint; what it computed is accounted for
  bool is_preempted = false;     // it hangs for a pod that made room for another
  bool is_failing = false;       // restarts are used up; only the detection is to come
  Time first_created = kNever, first_bound = kNever, first_running = kNever;
  GpuTime gpu_time;
};

}  // namespace orrery
