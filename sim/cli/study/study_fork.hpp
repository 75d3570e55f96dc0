// sim/cli/study/study_fork.hpp -- runs that are equal up to a fork: their common part runs once.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "models/run/simulation.hpp"
#include "sim/cli/study/study_plan.hpp"
#include "sim/cli/study/study_results.hpp"

namespace orrery {

struct StudyArm {
  size_t cell = 0;
  uint64_t seed = 0;
  StudyPlan::Run run;  // the arms differ in its last change only
  std::string key;     // study_key()
};

struct ForkOptions {
  bool keep_runs = true;
  size_t at_once = 1;                    // arms in parallel
  std::vector<std::string> inputs = {};  // files on which every run depends
  const std::atomic<bool>* stop = nullptr;
  bool is_from_start = false;  // a single arm: its whole run is in the process
  // Progress of an arm, or of the common part of several; called without `lock`.
  std::function<void(const StudyArm&, const SimulationProgress&)> on_progress = {};
  // Formats the mistakes of a run.
  std::function<std::string(size_t cell, const Diagnostics&)> placed = {};
};

// A process runs the common part up to the fork, and each arm continues in a child, which writes
// its result into the folder. A run from the start has one process. A process that crashes leaves
// the others running. Results are in the order of the arms; a stopped arm has none. The caller
// holds `lock`; it is released while this function waits, because a thread must not fork while
// another one is inside a library's lock. Throws std::system_error if no process can be created.
// Example: three arms that differ from 10 d on: one process simulates 10 d, forks three times, and
// each child simulates the rest.
std::vector<std::optional<StudyRunResult>> run_forked(const std::vector<StudyArm>& arms,
                                                      const StudyFolder& folder,
                                                      const ForkOptions& options,
                                                      std::unique_lock<std::mutex>& lock);

}  // namespace orrery
