// sim/cli/study/shared_progress.hpp -- the progress of runs in other processes.
#pragma once

#include <cstddef>
#include <span>

#include "models/run/simulation.hpp"

namespace orrery {

// Memory shared with forked processes: a slot for each arm. One process at a time writes a slot,
// and any may read it; the two figures may be from different times.
class SharedProgress {
 public:
  explicit SharedProgress(size_t arms);  // throws std::system_error
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;
  ~SharedProgress();

  void write(size_t arm, const SimulationProgress& progress);
  SimulationProgress read(size_t arm) const;
  size_t arms() const { return slots_.size(); }

 private:
  struct Slot;
  std::span<Slot> slots_;
};

}  // namespace orrery
