// models/workload/step_position.hpp -- the parts of a gang's step, and what is left of them.
#pragma once

#include <cstdint>
#include <vector>

#include "models/network/link_use.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// The steps of one gang, as StepTracer plays them.
struct StepParts {
  Duration compute{};  // the work of a step
  Duration working{};  // how long that takes
  Duration overlap{};  // of working: the exchange is under way meanwhile
  Duration inside{};   // of the exchange: it stays in nodes
  Duration update{};
  Duration at_least{};          // no step is shorter
  double bits = 0;              // on its heaviest link
  double rate_max = 0;          // bits a second; 0: it cannot move
  std::vector<LinkUse> uses{};  // of the play's links
  int64_t save_every = 0;       // steps between pauses for a checkpoint; 0: it makes none
  Duration save{};              // such a pause; max: until told otherwise
  double last_part = 1;         // of a whole step, what the last one is

  Duration alone() const;               // a step that meets nobody
  StepParts scaled(double part) const;  // such a part of a step, without uses
};

// How far a gang is in its step: what is left of each of its parts.
struct StepPosition {
  enum class Exchange : uint8_t { Waits, Inside, Moves, Over };
  Exchange exchange = Exchange::Waits;
  bool is_stopped = false;  // by somebody, until told otherwise
  Duration computing{}, inside{}, update{}, at_least{};
  double bits = 0;
  int64_t to_save = kNever;  // steps that end before the next pause
  Duration pause{};
  int64_t steps = 0;        // that are over
  int64_t to_end = kNever;  // steps until all its work is done, with this one
  double part = 1;          // of a whole step, what this one is

  static constexpr int64_t kNever = INT64_MAX;

  static StepPosition begin(const StepParts& shape, double part = 1);
  // Of a gang that met nobody, so long after it began the step.
  static StepPosition after(const StepParts& shape, Duration since, double part = 1);
  Duration left(const StepParts& shape) const;  // until the step is over, if it met nobody
  // Of the step's work, in nanoseconds, as if it were done all through the step of a gang alone. It
  // is not all done before the step is over.
  double work(const StepParts& shape) const;
  // For so long, in which its exchange cannot leave nodes; returns how many steps ended.
  int64_t go_on_cut_off(const StepParts& shape, Duration span);

 private:
  StepPosition whole() const;  // as it is in a step that is a whole one
};

}  // namespace orrery
