// sim/cli/study/shared_progress.hpp -- how far runs in other processes are.
#pragma once

#include <cstddef>
#include <span>

#include "models/run/simulation.hpp"

namespace orrery {

// Memory that a process shares with those that it forks: a slot for each arm. A slot is written by
// one process at a time and read at any time; its figures may be of two moments.
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
