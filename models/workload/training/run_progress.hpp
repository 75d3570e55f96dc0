// models/workload/training/run_progress.hpp -- progress of a training run over changes of pace.
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

// The time of one GPU of the run, by use.
struct RunSpans {
  Duration useful{};  // compute saved by checkpoints, or by an orderly end
  Duration lost{};    // compute undone by a failure
  Duration checkpoint{}, exchange{};
};

// The checkpoint cycle continues when the pace changes: the next checkpoint comes after `interval`
// of compute since the last one, at any pace. advance() ends the time at one pace and must be
// called before the terms change; call change_pace() after that. The result does not depend on how
// often a run is advanced at one pace; a change of pace drops less than a nanosecond of work.
// Example: interval 60 min; 40 min at full pace, then half pace: the checkpoint begins 40 min after
// the change.
struct RunProgress {
  Time since{};             // start of the present pace
  Duration saved{};         // compute that survives a failure
  Duration resumed_from{};  // progress when a gang began to compute; 0 for pods
  Duration unsaved{};       // compute since the last checkpoint, up to `since`
  int64_t rest = 0;         // beyond `unsaved`, in fractions of a nanosecond: see Pace::work_in
  Duration half_written{};  // of a checkpoint in progress at `since`
  // Start of the unsaved compute, and its time on a GPU.
  Time unsaved_from{};
  Duration unsaved_span{};

  Duration done() const { return saved + unsaved; }  // up to `since`
};

// State of a run at one pace some time after `since`, and its activity meanwhile.
struct RunCut {
  int64_t checkpoints = 0;  // complete ones
  Duration computing;       // of that time
  Duration to_last;         // part of that before the last checkpoint began
  Duration half_written;    // of an incomplete checkpoint
  Duration unsaved;         // work since the last checkpoint
  int64_t rest = 0;         // as in RunProgress
};
// The run must not stall or end before.
RunCut cut_run(const RunProgress& run, const RunTerms& terms, Duration passed);

void resume(RunProgress& run, Time now);  // from the saved progress
inline void change_pace(RunProgress& run) { run.rest = 0; }
RunSpans advance(RunProgress& run, const RunTerms& terms, Time now);
RunSpans keep(RunProgress& run);  // all progress up to `since` is saved
RunSpans lose(RunProgress& run);  // all unsaved progress up to `since` is lost
// The progress when a checkpoint was copied, which counts as saved once it is in a store.
struct Snapshot {
  Duration done{};
  Time taken{};
  Duration unsaved_span{};
};
Snapshot snapshot(const RunProgress& run);  // as of `since`
// The run must not have failed since the snapshot.
RunSpans save(RunProgress& run, const Snapshot& snapshot);
// From `since` until this much work is done, or all; Duration::max(): never at this pace.
Duration time_until(const RunProgress& run, const RunTerms& terms, Duration done);
inline Duration time_left(const RunProgress& run, const RunTerms& terms) {
  return time_until(run, terms, terms.work);
}
// Millionths of the remaining time in which it computes, a mean if the run continues at this pace.
int32_t computing_millionths(const RunTerms& terms, Duration resumed_from);

RunSpans operator+(const RunSpans& a, const RunSpans& b);

}  // namespace orrery
