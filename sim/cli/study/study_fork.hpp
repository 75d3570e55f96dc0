// sim/cli/study/study_fork.hpp -- runs that are the same up to a fork: once, then one by one.
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
  StudyPlan::Run run;  // its last change is where arms part
  std::string key;     // study_key()
};

struct ForkOptions {
  bool keep_runs = true;
  size_t at_once = 1;                    // arms side by side
  std::vector<std::string> inputs = {};  // files that every run depends on
  const std::atomic<bool>* stop = nullptr;
  bool is_from_start = false;  // one arm: its whole run goes on in the process
  // How far an arm is, or what it has in common with others; while `lock` is not held.
  std::function<void(const StudyArm&, const SimulationProgress&)> on_progress = {};
  // What a run's mistakes are told as.
  std::function<std::string(size_t cell, const Diagnostics&)> placed = {};
};

// What the runs have in common goes on in a process of its own until the fork; from there each arm
// has a process, which leaves its result in the folder; a run from the start has one alone. A
// process that ends by itself takes no other along. Results are in the order of the arms; none of
// an arm that was stopped. `lock` is held by the caller and released while this waits: nobody who
// forks may do so while another thread is inside a library's lock. Throws std::system_error if
// there can be no process.
std::vector<std::optional<StudyRunResult>> run_forked(const std::vector<StudyArm>& arms,
                                                      const StudyFolder& folder,
                                                      const ForkOptions& options,
                                                      std::unique_lock<std::mutex>& lock);

}  // namespace orrery
