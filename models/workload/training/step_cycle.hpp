// models/workload/training/step_cycle.hpp -- the parts of a training step and its duration.
#pragma once

#include "models/workload/training/training_step.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// A step computes for `working`. The exchange begins `overlap` before the compute ends. It takes
// place first within nodes, then across nodes. When both compute and exchange have ended, the
// optimizer runs. During a step, the data of the next step are read. This takes `reading`, so no
// step is shorter than `reading`.
// Example: working 0.8 s, overlap 0.2 s, inside 0.1 s, across 0.3 s, update 0.05 s. The exchange
// takes place from 0.6 to 1.0 s, and the step takes 1.05 s.
struct StepCycle {
  Duration compute{};  // work of the step: compute without waits
  Duration working{};  // compute with waits for other stages and machines
  Duration overlap{};  // the end of `working` that can hide the exchange; at most `working`
  Duration inside{};   // exchanges within nodes; with `network.level: alpha_beta`, all exchanges
  Duration update{};   // fixed time: the optimizer, and waiting for data
  Duration reading{};  // time to read the data of one step; max: no data arrive

  // Duration of a step whose exchange across nodes takes `across`; Duration::max() if the step
  // never ends.
  Duration length(Duration across) const;
};

// The cycle of a gang with this plan. `reading` stays 0.
StepCycle cycle_of(const StepPlan& plan, Duration inside);

}  // namespace orrery
