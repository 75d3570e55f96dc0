#include "models/workload/training/run_progress.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

// The interval of terms.plan is an amount of compute. In the returned plan, the interval is the
// time that this compute takes.
CheckpointPlan paced(const RunTerms& terms) {
  return {terms.pace.span_of(terms.plan.interval), terms.plan.write};
}

}  // namespace

RunCut cut_run(const RunProgress& run, const RunTerms& terms, Duration passed) {
  ORRERY_CHECK(passed >= Duration{}, "a run is cut after it began");
  const Pace& pace = terms.pace;
  const auto& [interval, write] = terms.plan;
  const Duration since = passed + run.half_written;
  const int64_t planned = checkpoints_of(terms.work - run.saved, terms.plan);
  RunCut cut;
  if (planned > 0) {
    // Checkpoint k is complete after (k * interval - unsaved) of work and k writes.
    const int128_t each = static_cast<int128_t>(interval.ns) * pace.span +
                          static_cast<int128_t>(write.ns) * pace.work;
    const int128_t all = static_cast<int128_t>(since.ns) * pace.work +
                         static_cast<int128_t>(run.unsaved.ns) * pace.span + run.rest;
    cut.checkpoints = static_cast<int64_t>(std::min<int128_t>(all / each, planned));
  }
  const Duration saved = interval * cut.checkpoints;
  if (cut.checkpoints > 0) cut.to_last = pace.span_of(saved - run.unsaved, run.rest);
  // No checkpoint follows the last interval, so all time after the last checkpoint is compute.
  const bool is_last = cut.checkpoints == planned;
  const Duration goal = (is_last ? terms.work - run.saved : saved + interval) - run.unsaved;
  const Duration most = pace.span_of(goal, run.rest), rest = since - write * cut.checkpoints;
  ORRERY_CHECK(!is_last || rest <= most, "a run is not cut after its end");
  cut.computing = std::min(rest, most);
  cut.half_written = rest - cut.computing;
  const Duration done = std::min(pace.work_in(cut.computing, run.rest), goal);
  cut.unsaved = run.unsaved + done - saved;
  cut.rest = pace.rest_after(cut.computing, done, run.rest);
  return cut;
}

void resume(RunProgress& run, Time now) {
  run = {.since = now, .saved = run.saved, .unsaved_from = now};
}

RunSpans advance(RunProgress& run, const RunTerms& terms, Time now) {
  const Pace& pace = terms.pace;
  const Duration passed = now - run.since;
  run.since = now;
  RunSpans spans;
  const bool is_writing = run.half_written > Duration{};
  if (pace.is_still() && !is_writing) {
    spans.exchange = passed;
    return spans;
  }
  if (pace.is_still()) {
    const Duration wrote = std::min(passed, terms.plan.write - run.half_written);
    run.half_written += wrote;
    if (run.half_written == terms.plan.write) spans = keep(run);
    spans.checkpoint = wrote;
    spans.exchange = passed - wrote;
    return spans;
  }
  const RunCut cut = cut_run(run, terms, passed);
  const auto add_unsaved = [&](Duration time) {
    const Duration computing = pace.computing_in(time);
    run.unsaved_span += computing;
    spans.exchange += time - computing;
  };
  if (cut.checkpoints > 0) {
    add_unsaved(cut.to_last);
    spans.useful = run.unsaved_span;
    run.saved += terms.plan.interval * cut.checkpoints;
    run.unsaved_span = {};
    add_unsaved(cut.computing - cut.to_last);
    run.unsaved_from = now - (cut.computing - cut.to_last + cut.half_written);
  } else {
    add_unsaved(cut.computing);
  }
  spans.checkpoint = passed - cut.computing;
  run.unsaved = cut.unsaved;
  run.rest = cut.rest;
  run.half_written = cut.half_written;
  return spans;
}

RunSpans keep(RunProgress& run) {
  const RunSpans spans{.useful = run.unsaved_span};
  run.saved += run.unsaved;
  run.unsaved = run.half_written = run.unsaved_span = {};
  run.unsaved_from = run.since;
  return spans;
}

Snapshot snapshot(const RunProgress& run) { return {run.done(), run.since, run.unsaved_span}; }

RunSpans save(RunProgress& run, const Snapshot& snapshot) {
  const RunSpans spans{.useful = snapshot.unsaved_span};
  run.unsaved = run.done() - snapshot.done;
  run.saved = snapshot.done;
  run.unsaved_span -= snapshot.unsaved_span;
  run.unsaved_from = snapshot.taken;
  return spans;
}

RunSpans lose(RunProgress& run) {
  const RunSpans spans{.lost = run.unsaved_span};
  run.rest = 0;
  run.unsaved = run.half_written = run.unsaved_span = {};
  run.unsaved_from = run.since;
  return spans;
}

Duration time_until(const RunProgress& run, const RunTerms& terms, Duration done) {
  const Pace& pace = terms.pace;
  if (pace.is_still()) return run.done() >= done ? Duration{} : Duration::max();
  const Duration to_go = done - run.saved;
  const Duration computing = pace.span_of(std::max(to_go - run.unsaved, Duration{}), run.rest);
  if (computing == Duration::max()) return computing;
  const int128_t writes =
      static_cast<int128_t>(checkpoints_of(to_go, terms.plan)) * terms.plan.write.ns;
  const int128_t time = computing.ns + writes - run.half_written.ns;
  return {static_cast<int64_t>(std::clamp<int128_t>(time, 0, Duration::max().ns))};
}

int32_t computing_millionths(const RunTerms& terms, Duration resumed_from) {
  if (terms.pace.is_still()) return 0;
  const double share = static_cast<double>(terms.pace.computing) / Pace::kWhole;
  const Duration work_left = terms.pace.span_of(terms.work - resumed_from);
  return static_cast<int32_t>(std::lround(share * compute_fraction(work_left, paced(terms)) * 1e6));
}

RunSpans operator+(const RunSpans& a, const RunSpans& b) {
  return {.useful = a.useful + b.useful,
          .lost = a.lost + b.lost,
          .checkpoint = a.checkpoint + b.checkpoint,
          .exchange = a.exchange + b.exchange};
}

}  // namespace orrery
