// models/workload/training/run_progress.hpp -- progress of a training run whose pace may change.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/workload/training/pace.hpp"
#include "models/workload/training/training_progress.hpp"
#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Work, checkpoint plan and present pace of a run.
struct RunTerms {
  Duration work;
  CheckpointPlan plan;
  Pace pace;
};

// How one GPU of the run spent its time. Each advance() reports the checkpoint and exchange time
// since the last advance() or resume(). Compute is reported only when it is saved (useful) or
// undone (lost).
struct RunSpans {
  Duration useful{};  // compute saved by checkpoints, or by an orderly end
  Duration lost{};    // compute undone by a failure
  Duration checkpoint{}, exchange{};
};

// A checkpoint begins once the run has done as much work since the last one as it does in
// `interval` at full pace. Example: the interval is 60 min, and the run goes at full pace for 40
// min, then at half pace. The remaining 20 min of work take 40 min, so the checkpoint begins 40 min
// after the change.
//
// To change the pace, first call advance() with the old pace, then change_pace(). A change drops
// less than a nanosecond of work. The result does not depend on the number of calls of advance()
// between two changes.
struct RunProgress {
  Time since{};             // time of the last resume() or advance()
  Duration saved{};         // compute that survives a failure
  Duration resumed_from{};  // progress when a gang began to compute; 0 for pods
  Duration unsaved{};       // compute since the last checkpoint, up to `since`
  int64_t rest = 0;         // work beyond `unsaved`, in units of 1 / span ns: see Pace::work_in
  Duration half_written{};  // time spent on a checkpoint that is incomplete at `since`
  Time unsaved_from{};      // when the unsaved compute began
  Duration unsaved_span{};  // time that each GPU has computed since then, without waits

  Duration done() const { return saved + unsaved; }  // up to `since`
};

// State of a run at the time `since` + `passed`, and what the run did during `passed`. The pace is
// constant during `passed`.
struct RunCut {
  int64_t checkpoints = 0;  // number of checkpoints that were completed
  Duration computing;       // part of `passed` outside of checkpoints
  Duration to_last;         // part of `computing` before the last complete checkpoint began
  Duration half_written;    // time spent on an incomplete checkpoint
  Duration unsaved;         // work since the last checkpoint
  int64_t rest = 0;         // as in RunProgress
};
// The run must not stand still, and must not end before `passed` is over.
RunCut cut_run(const RunProgress& run, const RunTerms& terms, Duration passed);

void resume(RunProgress& run, Time now);  // continues from the saved progress
inline void change_pace(RunProgress& run) { run.rest = 0; }
RunSpans advance(RunProgress& run, const RunTerms& terms, Time now);
RunSpans keep(RunProgress& run);  // all progress up to `since` is saved
RunSpans lose(RunProgress& run);  // all unsaved progress up to `since` is lost
// The progress that a checkpoint contains. Call save() after the checkpoint has been written.
// Until then this progress is not saved.
struct Snapshot {
  Duration done{};
  Time taken{};
  Duration unsaved_span{};
};
Snapshot snapshot(const RunProgress& run);  // as of `since`
// The run must not have failed since the snapshot.
RunSpans save(RunProgress& run, const Snapshot& snapshot);
// Time from `since` until run.done() reaches the parameter `done`, at the pace of `terms`;
// Duration::max() if this never happens.
Duration time_until(const RunProgress& run, const RunTerms& terms, Duration done);
// Time from `since` until all work is done.
inline Duration time_left(const RunProgress& run, const RunTerms& terms) {
  return time_until(run, terms, terms.work);
}
// The part of a run's time that is spent computing, in millionths. The run starts with the progress
// `resumed_from` and does all remaining work at the pace of `terms`.
int32_t computing_millionths(const RunTerms& terms, Duration resumed_from);

RunSpans operator+(const RunSpans& a, const RunSpans& b);

}  // namespace orrery
