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
  StudyPlan::Run run;  // differs between arms only in the last policy change
  std::string key;     // result of study_key()
};

struct ForkOptions {
  bool keep_runs = true;
  size_t at_once = 1;                    // largest number of arms that run at a time
  std::vector<std::string> inputs = {};  // files on which every run depends
  const std::atomic<bool>* stop = nullptr;
  bool is_from_start = false;  // there is no fork: the process runs its single arm as a whole
  // Reports the progress of one arm. Until the fork, this is the progress of the common part.
  // Called while run_forked() has released its argument `lock`.
  std::function<void(const StudyArm&, const SimulationProgress&)> on_progress = {};
  // Formats the mistakes of a run, as StudyPlan::placed() does.
  std::function<std::string(size_t cell, const Diagnostics&)> placed = {};
};

// Runs arms that are equal up to a fork, in a process that this function creates. The process
// simulates the common part, then forks a child for each arm. Each child writes the result of its
// arm into the folder. With `is_from_start` the process runs its single arm. A child that crashes
// leaves the others running. Results are in the order of the arms; a stopped arm has none. Throws
// std::system_error if no process can be created.
//
// The caller holds `lock`, which is released only while this function waits for the process. So no
// other worker is inside a library while the process is created. Otherwise the process could
// inherit a library's mutex that stays locked for ever.
//
// Example: three arms differ from 10 d on. One process simulates 10 d and forks three times; each
// child simulates the rest of one arm.
std::vector<std::optional<StudyRunResult>> run_forked(const std::vector<StudyArm>& arms,
                                                      const StudyFolder& folder,
                                                      const ForkOptions& options,
                                                      std::unique_lock<std::mutex>& lock);

}  // namespace orrery
