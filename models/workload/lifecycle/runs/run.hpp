// models/workload/lifecycle/runs/run.hpp -- the state of a computing job or independent pod.
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
  Ending ending;  // `after`: progress at a planned stop, else 0; cause None: the run succeeded
  PodId pod;      // a process of this pod ended; invalid: the whole run ended
  bool is_final = false;  // JobSpec::ending, or the time limit: never retried
  bool is_done() const { return ending.cause == EndCause::None; }
};

struct Run {
  RunProgress progress;
  int128_t unsaved = 0;  // GPU time of unsaved compute
  Duration redo_until;   // progress at the failure from which the run recovers
  RecoveryLog::Handle recovery;
  // The next event of the run: a checkpoint is loaded, due, copied or written, or the run ends.
  EventId event;
  // The planned end (PlannedEnds); no effect if all work is done earlier.
  std::optional<RunStop> end;
  RunStop next;  // how `event` ends the run, if it does
  uint32_t starts = 0;
};

// The run of a gang, a counted job (Job::is_counted) or a service. In other jobs each pod has its
// own Run, and JobRun holds `gpu_milli` and the values common to these runs: `pace`, `work` and
// `checkpoint_interval`.
struct JobRun : Run {
  Pace pace;
  // Time in phase Running since the last failure or preemption, up to progress.since. Includes
  // pauses for checkpoints.
  Duration computed;
  Duration work, checkpoint_interval;  // compute times with its present members and GPUs
  int64_t gpu_milli = 0;               // of computing pods
  int64_t serving_gpu_milli = 0;       // GPUs of dedicated parameter servers
  // Compute is paused while a checkpoint is copied or written, or waits for the previous
  // checkpoint.
  bool is_paused = false;
  bool is_traced = false;  // the steps are simulated, so the run ends and saves only between steps
  bool is_saving = false;  // the last snapshot is being written asynchronously
  // The job is being suspended and writes a checkpoint. Its compute already counts as saved.
  bool is_suspending = false;
  Snapshot snapshot;  // the last snapshot; the next checkpoint begins checkpoint_interval later
  Duration restart;   // least time to load what the job saved when it was suspended
  // Nodes whose local disks hold the last checkpoint; empty: no checkpoint is on local disks.
  std::vector<NodeId> saved_on;
  Time saved_at;  // when the checkpoint on `saved_on` was complete
  // Progress and useful GPU time that the last suspension saved. The loss of local disks does not
  // undo them.
  Duration safe;
  int128_t safe_useful = 0;
};

// The run of a gang or counted job at one instant. Unless an event intervenes, its future follows
// from these values.
struct RunNow {
  RunTerms terms;
  RunProgress progress;  // up to now, if running
  Time restore_from;     // when the job begins to load its checkpoint; max: unknown
  // Whether a checkpoint event or a suspension pauses compute. Checkpoints in terms.plan do not
  // count, because they have no events.
  bool is_paused = false;
};

}  // namespace orrery
