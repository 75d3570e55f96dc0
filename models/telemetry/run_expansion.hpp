// models/telemetry/run_expansion.hpp -- the steps and checkpoints that a rate stands for.
#pragma once

#include <array>
#include <cstdint>

#include "models/telemetry/cardiogram_rows.hpp"
#include "models/workload/lifecycle/runs/run.hpp"
#include "models/workload/training/step_cycle.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// One step at some pace, in the order in which it passes: compute, waiting for other stages and
// machines, what is exposed of the exchange, then optimizer and data, slow reading included.
struct StepShape {
  Duration length{};  // 0: not known
  Duration compute{};
  Duration working{};  // until then: compute, and waiting for others
  Duration exposed{};  // after that, of the exchange
  Duration sends_from{}, sends_to{};
  double bytes = 0;  // that it sends in between
};
// The pace must not be zero. `across`: the exchange across nodes, which sends `bytes` meanwhile.
StepShape shape_of(const StepCycle& cycle, const Pace& pace, Duration across, Bytes bytes);

using PhaseSpans = std::array<int64_t, kRankPhases>;  // nanoseconds
struct RunParts {
  PhaseSpans spans{};
  double sent = 0;  // bytes

  int64_t& operator[](RankPhase phase) { return spans[static_cast<size_t>(phase)]; }
  int64_t operator[](RankPhase phase) const { return spans[static_cast<size_t>(phase)]; }
  RunParts& operator+=(const RunParts& other);
  RunParts operator-(const RunParts& other) const;
};

// A stretch of a run at one pace, from its begin to wherever. Whole steps and checkpoint cycles add
// up to just what the rate model says of them, but for the rounding of its shares: a billionth.
struct RunExpansion {
  RunNow run;  // at the begin
  StepShape step;
  Duration into_step{};                        // at the begin
  RankPhase stands_for = RankPhase::Exchange;  // a pace that stands still

  // All that happened in so much time since the begin; in closed form, however many steps it is.
  RunParts parts_until(Duration elapsed) const;
};

}  // namespace orrery
