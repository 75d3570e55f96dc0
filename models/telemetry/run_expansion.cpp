#include "models/telemetry/run_expansion.hpp"

#include <algorithm>

namespace orrery {
namespace {

// How ranks spend `time`, which starts with a new step. Further steps follow without a gap.
RunParts parts_of_steps(const StepShape& step, const Pace& pace, Duration time) {
  RunParts parts;
  if (step.length == Duration{}) {
    parts[RankPhase::Compute] = pace.computing_in(time).ns;
    parts[RankPhase::Exchange] = time.ns - parts[RankPhase::Compute];
    return parts;
  }
  const int64_t whole = time / step.length;
  const Duration part = time % step.length;
  parts[RankPhase::Compute] = whole * step.compute.ns + std::min(part, step.compute).ns;
  parts[RankPhase::Exchange] =
      whole * step.exposed.ns + std::clamp(part - step.working, Duration{}, step.exposed).ns;
  parts[RankPhase::Wait] = time.ns - parts[RankPhase::Compute] - parts[RankPhase::Exchange];
  const Duration sending = step.sends_to - step.sends_from;
  if (sending > Duration{}) {
    const Duration sent = std::clamp(part - step.sends_from, Duration{}, sending);
    parts.sent = step.bytes * (static_cast<double>(whole) +
                               static_cast<double>(sent.ns) / static_cast<double>(sending.ns));
  }
  return parts;
}

}  // namespace

StepShape shape_of(const StepCycle& cycle, const Pace& pace, Duration across, Bytes bytes) {
  const Duration length = pace.span_of(cycle.compute);
  const Duration before = cycle.working - cycle.overlap;  // when the exchange begins
  const bool moves = across != Duration::max();
  const Duration exchange = moves ? cycle.inside + across : length;
  StepShape step{.length = length,
                 .compute = cycle.compute,
                 .working = cycle.working,
                 .exposed = std::clamp(length - cycle.working - cycle.update, Duration{},
                                       std::max(exchange - cycle.overlap, Duration{}))};
  if (bytes == Bytes{} || !moves) return step;
  step.sends_from = before + cycle.inside;
  step.sends_to = before + exchange;
  step.bytes = static_cast<double>(bytes.count);
  return step;
}

RunParts& RunParts::operator+=(const RunParts& other) {
  for (size_t i = 0; i < kRankPhases; ++i) spans[i] += other.spans[i];
  sent += other.sent;
  return *this;
}

RunParts RunParts::operator-(const RunParts& other) const {
  RunParts rest = *this;
  for (size_t i = 0; i < kRankPhases; ++i) rest.spans[i] -= other.spans[i];
  rest.sent -= other.sent;
  return rest;
}

RunParts RunExpansion::parts_until(Duration elapsed) const {
  RunParts parts;
  const auto& [terms, progress, restore_from, is_paused] = run;
  if (is_paused) {
    parts[RankPhase::Checkpoint] = elapsed.ns;
    return parts;
  }
  const Pace& pace = terms.pace;
  const Duration half = progress.half_written;
  if (pace.is_still()) {
    const Duration left = half > Duration{} ? terms.plan.write - half : Duration{};
    parts[RankPhase::Checkpoint] = std::min(elapsed, left).ns;
    parts[stands_for] = elapsed.ns - parts[RankPhase::Checkpoint];
    return parts;
  }
  // `elapsed` may be slightly longer than the time that the job's run has left.
  const Duration passed = std::min(elapsed, time_left(progress, terms));
  const RunCut cut = cut_run(progress, terms, passed);
  parts = parts_of_steps(step, pace, into_step + cut.computing);
  const RunParts ahead = parts_of_steps(step, pace, into_step);
  parts = parts - ahead;
  parts[RankPhase::Checkpoint] = (passed - cut.computing).ns;
  parts[RankPhase::Wait] += (elapsed - passed).ns;
  return parts;
}

}  // namespace orrery
