#include "models/workload/run_progress.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

// The plan as its intervals last at the present pace.
CheckpointPlan paced(const RunTerms& terms) {
  return {terms.pace.span_of(terms.plan.interval), terms.plan.write};
}

}  // namespace

void resume(RunProgress& run, Time now) {
  run = {.since = now, .saved = run.saved, .unsaved_from = now};
}

RunSpans arrive(RunProgress& run, Duration done) {
  const Duration moved = std::max(done - run.saved, Duration{}) - run.unsaved;
  run.unsaved += moved;
  run.unsaved_span = std::max(run.unsaved_span + moved, Duration{});
  return {.exchange = Duration{} - moved};
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
  const Duration before = pace.span_of(run.unsaved);
  const RunCut cut = cut_run(pace.span_of(terms.work - run.saved), paced(terms),
                             before + run.half_written + passed);
  const auto add_unsaved = [&](Duration time) {
    const Duration computing = pace.computing_in(time);
    run.unsaved_span += computing;
    spans.exchange += time - computing;
  };
  const int128_t smeared = computing_millionths(terms, run.resumed_from);
  if (cut.checkpoints > 0) {
    add_unsaved(cut.saved - before);
    spans.useful = run.unsaved_span;
    run.saved += terms.plan.interval * cut.checkpoints;
    run.unsaved_span = {};
    add_unsaved(cut.lost);
    const Duration since_checkpoint = cut.lost + cut.half_written;
    run.unsaved_from = now - since_checkpoint;
    run.unsaved_smeared = smeared * since_checkpoint.ns;
  } else {
    add_unsaved(cut.lost - before);
    run.unsaved_smeared += smeared * passed.ns;
  }
  spans.checkpoint = cut.wrote + cut.half_written - run.half_written;
  const bool has_checkpoints = terms.plan.interval > Duration{};
  const Duration most = terms.work - run.saved;
  run.unsaved =
      std::min({pace.work_in(cut.lost), most, has_checkpoints ? terms.plan.interval : most});
  run.half_written = cut.half_written;
  return spans;
}

RunSpans keep(RunProgress& run) {
  const RunSpans spans{.useful = run.unsaved_span};
  run.saved += run.unsaved;
  run.unsaved = run.half_written = run.unsaved_span = {};
  run.unsaved_smeared = 0;
  run.unsaved_from = run.since;
  return spans;
}

Snapshot snapshot(const RunProgress& run) {
  return {run.done(), run.since, run.unsaved_span, run.unsaved_smeared};
}

RunSpans save(RunProgress& run, const Snapshot& snapshot) {
  const RunSpans spans{.useful = snapshot.unsaved_span};
  run.unsaved = run.done() - snapshot.done;
  run.saved = snapshot.done;
  run.unsaved_span -= snapshot.unsaved_span;
  run.unsaved_smeared -= snapshot.unsaved_smeared;
  run.unsaved_from = snapshot.taken;
  return spans;
}

RunSpans lose(RunProgress& run) {
  const RunSpans spans{.lost = run.unsaved_span};
  run.unsaved = run.half_written = run.unsaved_span = {};
  run.unsaved_smeared = 0;
  run.unsaved_from = run.since;
  return spans;
}

Duration time_until(const RunProgress& run, const RunTerms& terms, Duration done) {
  const Pace& pace = terms.pace;
  if (pace.is_still()) return run.done() >= done ? Duration{} : Duration::max();
  const Duration to_go = done - run.saved;
  const Duration total = done == terms.work ? run_time(pace.span_of(to_go), paced(terms))
                                            : time_to_compute(pace.span_of(to_go), paced(terms));
  if (total == Duration::max()) return total;
  return std::max(total - pace.span_of(run.unsaved) - run.half_written, Duration{});
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
