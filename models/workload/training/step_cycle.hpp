// models/workload/training/step_cycle.hpp -- the parts of a training step, and how long they take
// together.
#pragma once

#include "models/workload/training/training_step.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// A step computes. Its exchange begins when all but `overlap` of the computing is done, first
// inside of nodes, then across nodes. When both have ended the optimizer runs. Data for the step
// are read meanwhile, and no step is shorter than reading them takes.
struct StepCycle {
  Duration compute{};  // work of the step: computing without waits
  Duration working{};  // computing, with waits for other stages and machines
  Duration overlap{};  // the end of `working`, which the exchange may hide in; at most `working`
  Duration inside{};   // the part of the exchange that stays in nodes
  Duration update{};   // optimizer and data
  Duration reading{};  // of the step's data; max: nothing arrives

  // With an exchange across nodes that takes so long; max: for ever.
  Duration length(Duration across) const;
};

// Without reading.
StepCycle cycle_of(const StepPlan& plan, Duration inside);

}  // namespace orrery
