// sim/cli/study/shared_progress.hpp -- the progress of runs in other processes.
#pragma once

#include <cstddef>
#include <span>

#include "models/run/simulation.hpp"

namespace orrery {

// The progress of runs (StudyArm), in memory that forked processes share. Each arm has a slot.
// Only one process at a time may write a slot. Any process may read it. A read may mix two writes:
// the time of one with the job counts of the other.
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
