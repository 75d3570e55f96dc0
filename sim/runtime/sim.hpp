// sim/runtime/sim.hpp -- the shared objects of one run: clock, random streams, output.
#pragma once

#include "sim/core/rng.hpp"
#include "sim/engine/engine.hpp"
#include "sim/record/recorder.hpp"

namespace orrery {

// What the models of a run share. There are no globals, so many runs may live in one process.
struct Sim {
  Engine& engine;
  const RngStreams& rng;
  Recorder& recorder;
};

}  // namespace orrery
