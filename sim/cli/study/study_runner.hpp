// sim/cli/study/study_runner.hpp -- runs the cells of a study, as many at once as there are cores.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/cli/study/study_plan.hpp"
#include "sim/cli/study/study_progress.hpp"
#include "sim/cli/study/study_results.hpp"

namespace orrery {

struct StudyOptions {
  int32_t jobs = 0;                      // runs at once; 0: one a core
  size_t part = 1, parts = 1;            // only every parts-th run, from the part-th on
  bool is_all = true;                    // with the seeds that `until` adds
  std::vector<std::string> inputs = {};  // files that every run depends on, such as plug-ins
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const StudyProgress&)> on_progress = {};  // from one thread at a time
  std::function<void(const std::string&)> on_failure = {};     // likewise: label, seed and error
};

// Which runs, in the order in which they begin: all cells with a seed before the next seed, so that
// an interrupted study has pairs.
using StudyRunId = std::pair<size_t, uint64_t>;  // cell and seed
std::vector<StudyRunId> runs_of(const StudyPlan& plan, int32_t seeds_from, int32_t seeds_to);

// Runs what the folder does not have yet. Results are in order of cells and seeds, those of a
// former invocation included; when stopped, only of runs that are over. A run that fails, whatever
// the reason, ends alone. Throws RecordError when there can be no folder.
std::vector<StudyRunResult> run_study(const StudyPlan& plan, const StudyFolder& folder,
                                      const StudyOptions& options);
// Only what the folder has.
std::vector<StudyRunResult> kept_runs(const StudyPlan& plan, const StudyFolder& folder);

// What report --verify tells: files of runs that are over and not as the runs wrote them.
std::vector<std::string> damaged_files(const StudyPlan& plan, const StudyFolder& folder);

}  // namespace orrery
