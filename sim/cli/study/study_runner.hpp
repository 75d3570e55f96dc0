// sim/cli/study/study_runner.hpp -- runs the cells of a study, several at a time.
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
  int32_t jobs = 0;                      // parallel runs; 0: one for each core
  size_t part = 1, parts = 1;            // part 2 of 5: only the runs 2, 7, 12 and so on
  bool is_all = true;                    // all seeds, also those that `until` adds
  std::vector<std::string> inputs = {};  // files on which every run depends, such as plug-ins
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const StudyProgress&)> on_progress = {};  // called from one thread at a time
  // Called from one thread at a time. The text has the cell's label, the seed and the error.
  std::function<void(const std::string&)> on_failure = {};
};

using StudyRunId = std::pair<size_t, uint64_t>;  // cell and seed
// The runs of all cells with the study's seeds from index `seeds_from` to `seeds_to` - 1, in the
// order in which they start: all cells with the first seed, then all cells with the next seed. So
// an interrupted study can compare cells that ran with the same seed.
std::vector<StudyRunId> runs_of(const StudyPlan& plan, int32_t seeds_from, int32_t seeds_to);

// Runs the study, except runs whose results are already in the folder. Returns these results and
// the new ones, ordered by cell and seed. After a stop, unfinished runs have no result. A failed
// run does not affect others. Throws RecordError if the folder cannot be created.
std::vector<StudyRunResult> run_study(const StudyPlan& plan, const StudyFolder& folder,
                                      const StudyOptions& options);
// The results in the folder; runs nothing.
std::vector<StudyRunResult> kept_runs(const StudyPlan& plan, const StudyFolder& folder);

// For report --verify: the first damaged, changed or missing file of each finished run, if any.
std::vector<std::string> damaged_files(const StudyPlan& plan, const StudyFolder& folder);

}  // namespace orrery
