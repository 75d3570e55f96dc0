// sim/cli/study/shared_progress.hpp -- the progress of runs in other processes.
#pragma once

#include <cstddef>
#include <span>

#include "models/run/simulation.hpp"

namespace orrery {

// The progress of runs (StudyArm), in memory that forked processes share. Each arm has a slot,
// which one process at a time writes and any process may read. A reader may get the time of one
// write with the job counts of another.
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
