// models/workload/lifecycle/runs/run.hpp -- the computing of a job or of an independent pod, as
// data.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/workload/job/ending.hpp"
#include "models/workload/lifecycle/state/recovery_log.hpp"
#include "models/workload/training/pace.hpp"
#include "models/workload/training/run_progress.hpp"
#include "sim/core/int128.hpp"
#include "sim/engine/event.hpp"

namespace orrery {

// How a run stops by itself.
struct RunStop {
  Ending ending;          // after: the progress at which it does; cause none: all work is done
  PodId pod;              // a process of this pod ended; invalid: the run as a whole did
  bool is_final = false;  // recorded, or by a limit: it is not tried again
  bool is_done() const { return ending.cause == EndCause::None; }
};

struct Run {
  RunProgress progress;
  int128_t unsaved = 0;  // GPU time of the compute that is not saved; a counted job's GPUs vary
  Duration redo_until;   // progress that it had at the failure it recovers from
  RecoveryLog::Handle recovery;
  EventId event;               // it ends, or a checkpoint is due, copied or written
  std::optional<RunStop> end;  // before its work is done
  RunStop next;                // with its event, if that ends it
  uint32_t starts = 0;
};

// Of a gang, a counted job or a service.
struct JobRun : Run {
  Pace pace;
  Duration computed;                   // since its last failure, up to progress.since
  Duration work, checkpoint_interval;  // on the members and GPUs that it has
  int64_t gpu_milli = 0;               // of the pods that compute, those of independent ones, too
  int64_t serving_gpu_milli = 0;       // of dedicated parameter servers
  bool is_paused = false;              // it copies or writes a checkpoint that goes to a store
  bool is_traced = false;      // its steps are played, and it ends and saves between two of them
  bool is_saving = false;      // asynchronously, the last snapshot
  bool is_suspending = false;  // writes its last checkpoint; what it computed is booked
  Snapshot snapshot;           // the last one
  Duration restart;            // at least so long to load what it saved when it was suspended
  // Of checkpoints on local disks: whose disks hold the last one, empty if none do, and since when;
  // and what lies elsewhere, because it was suspended: progress, and GPU time.
  std::vector<NodeId> saved_on;
  Time saved_at;
  Duration safe;
  int128_t safe_useful = 0;
};

// What becomes of a gang from this moment on, unless something changes.
struct RunNow {
  RunTerms terms;
  RunProgress progress;    // up to now, if it runs
  Time restore_from;       // when it begins to load its checkpoint; max: not known
  bool is_paused = false;  // for a checkpoint that is an event
};

}  // namespace orrery
