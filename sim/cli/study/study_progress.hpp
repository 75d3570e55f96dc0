// sim/cli/study/study_progress.hpp -- the progress of a study as one line of text.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sim/cli/log.hpp"
#include "sim/cli/progress.hpp"

namespace orrery {

constexpr std::chrono::milliseconds kProgressEvery{100};  // between two updates of StudyProgress

struct StudyProgress {
  struct Running {
    std::string label;  // names the cell and the seed
    SimulationProgress run = {};
  };
  size_t runs = 0, done = 0, kept = 0, failed = 0;  // kept: results of an earlier invocation
  std::vector<Running> running = {};                // in the order of their starts
  double elapsed_s = 0, cpu_s = 0;  // cpu_s: CPU time of runs finished in this invocation
};

// Estimates the host time until the last run ends: elapsed_s * runs left / runs done in this
// invocation. A run under way counts as the share of its simulated time that has passed, or as 0
// without run.until. Empty until a hundredth of a run is done.
std::optional<double> seconds_left(const StudyProgress& progress);
// "3 of 40 runs, about 4min 10s left, 2 running: load=4 seed 2 45 %; load=8 seed 2 12 %"
// In a line that is too narrow for the labels: "2 running: 45 %, 12 %".
std::string progress_text(const StudyProgress& progress, size_t width_max = std::string::npos);

// Shows progress, unless `is_quiet`. A terminal shows one line that is rewritten. Elsewhere a
// log line appears at most every ten seconds, and one when all runs are done.
class StudyProgressReporter {
 public:
  StudyProgressReporter(std::ostream& err, Log& log, bool is_quiet)
      : mode_{progress_mode(err, is_quiet)}, err_{err}, log_{log} {}
  StudyProgressReporter(const StudyProgressReporter&) = delete;
  StudyProgressReporter& operator=(const StudyProgressReporter&) = delete;
  ~StudyProgressReporter() { clear(); }

  void update(const StudyProgress& progress);
  void failure(const std::string& text);
  void clear();               // clears the terminal's line for other text
  std::string total() const;  // after the last run: numbers of runs, host and CPU time

 private:
  ProgressReporter::Mode mode_;
  std::ostream& err_;
  Log& log_;
  StudyProgress last_;
  double shown_s_ = 0;
  size_t width_ = 0;
};

}  // namespace orrery
