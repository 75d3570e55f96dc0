// models/workload/training/run_progress.hpp -- how far a run of training is, whatever paces it went
// at.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/workload/training/pace.hpp"
#include "models/workload/training/training_progress.hpp"
#include "sim/core/int128.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// What a run is to do, and how fast it goes now.
struct RunTerms {
  Duration work;
  CheckpointPlan plan;
  Pace pace;
};

// What one GPU of the run spent its time on.
struct RunSpans {
  Duration useful{};  // compute that whole checkpoints keep, or that an orderly end keeps
  Duration lost{};    // compute that a failure undid
  Duration checkpoint{}, exchange{};
};

// The checkpoint cycle goes on when the pace changes: the next checkpoint comes after `interval` of
// compute since the last one, at whatever paces. advance() ends the time at one pace and must be
// called before the terms change, change_pace() then. However often a run is advanced at one pace,
// it is where it would be otherwise; a change drops less than a nanosecond of work.
struct RunProgress {
  Time since{};             // of the present pace
  Duration saved{};         // compute that survives a failure
  Duration resumed_from{};  // what was saved when a gang began to compute; of pods 0
  Duration unsaved{};       // compute since then, up to `since`
  int64_t rest = 0;         // beyond `unsaved`, in parts of a nanosecond: see Pace::work_in
  Duration half_written{};  // of a checkpoint that was being written at `since`
  // Of the compute that is not saved: since when, and how much time of a GPU it took.
  Time unsaved_from{};
  Duration unsaved_span{};

  Duration done() const { return saved + unsaved; }  // up to `since`
};

// Where a run at one pace stands so long after `since`, and what it did meanwhile.
struct RunCut {
  int64_t checkpoints = 0;  // whole ones, written
  Duration computing;       // of that time
  Duration to_last;         // of that, before the last of these checkpoints was begun
  Duration half_written;    // of one that was not finished
  Duration unsaved;         // work since the last checkpoint
  int64_t rest = 0;         // as in RunProgress
};
// It must not stand still, and not end before.
RunCut cut_run(const RunProgress& run, const RunTerms& terms, Duration passed);

void resume(RunProgress& run, Time now);  // from what is saved
inline void change_pace(RunProgress& run) { run.rest = 0; }
RunSpans advance(RunProgress& run, const RunTerms& terms, Time now);
RunSpans keep(RunProgress& run);  // all that is done up to `since` is saved
RunSpans lose(RunProgress& run);  // all that is not saved, up to `since`
// What a run had done when a checkpoint was copied, to be saved once it is in a store.
struct Snapshot {
  Duration done{};
  Time taken{};
  Duration unsaved_span{};
};
Snapshot snapshot(const RunProgress& run);  // as of `since`
// The run did not fail since it was taken.
RunSpans save(RunProgress& run, const Snapshot& snapshot);
// From `since` until it has done so much, or all; Duration::max(): never at this pace.
Duration time_until(const RunProgress& run, const RunTerms& terms, Duration done);
inline Duration time_left(const RunProgress& run, const RunTerms& terms) {
  return time_until(run, terms, terms.work);
}
// Millionths of the time under way that compute, the mean over a run that goes on at this pace.
int32_t computing_millionths(const RunTerms& terms, Duration resumed_from);

RunSpans operator+(const RunSpans& a, const RunSpans& b);

}  // namespace orrery
