// models/telemetry/run_expansion.hpp -- the steps and checkpoints of a run at one pace.
#pragma once

#include <array>
#include <cstdint>

#include "models/telemetry/cardiogram_rows.hpp"
#include "models/workload/lifecycle/runs/run.hpp"
#include "models/workload/training/step_cycle.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// The phases of one step at some pace, in this order: compute; wait for other pipeline stages and
// machines; exposed exchange (the part that compute does not hide); optimizer and data, including
// slow reading.
struct StepShape {
  Duration length{};  // 0: unknown
  Duration compute{};
  Duration working{};  // from the start of the step to the end of compute and of waiting for others
  Duration exposed{};  // duration of the exposed exchange, which begins at `working`
  Duration sends_from{}, sends_to{};
  double bytes = 0;  // sent from sends_from to sends_to
};
// The pace must not be zero. The exchange between nodes sends `bytes` and takes `across`.
// Duration::max() means that the exchange cannot proceed.
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

// A period of a run at one pace. The share of compute in a whole step is Pace::computing, with a
// rounding error of a billionth. The time of a step does not include checkpoints.
struct RunExpansion {
  RunNow run;  // state at the start of the period
  StepShape step;
  Duration into_step{};  // progress in the current step at the start of the period
  RankPhase stands_for = RankPhase::Exchange;  // phase shown at a pace of zero

  // Activity in the first `elapsed` of the period, in closed form for any number of steps.
  RunParts parts_until(Duration elapsed) const;
};

}  // namespace orrery
