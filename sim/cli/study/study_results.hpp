// sim/cli/study/study_results.hpp -- the folder of a study: the results of its runs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/cli/failure.hpp"
#include "sim/cli/study/study_plan.hpp"
#include "sim/record/hdf5_recorder.hpp"
#include "sim/record/recorder.hpp"

namespace orrery {

struct InputFile {
  std::string path, fingerprint;  // fingerprint: from fingerprint_of_file()
};

struct StudyRunResult {
  size_t cell = 0;
  uint64_t seed = 0;
  bool is_ok = false;
  bool is_kept = false;                      // an earlier invocation made the result
  Failure failure = {};                      // reason of the failure, unless is_ok
  double wall_seconds = 0, cpu_seconds = 0;  // cpu_seconds: with a fork, from the fork on
  std::vector<SummaryValue> summary = {};
  std::vector<InputFile> inputs = {};  // files that the run read; not the scenario
};

class InputFiles;
struct SimulationResult;

double as_double(const SummaryValue& value);
// The result of a successful run.
StudyRunResult result_of(size_t cell, uint64_t seed, SimulationResult found,
                         const InputFiles& inputs);

// DIR/runs/<cell>-s<seed>.h5 is the output of a run. The .json beside it has what a study needs of
// the run. The .json is written last, in one step, so a killed run leaves no .json. A run is
// repeated
//   - if its .json is missing or damaged, or the key in the .json is not the run's study_key();
//   - if an input file has changed;
//   - with has_files, if its HDF5 file lacks the signature, or its length is not that in the
//     .json;
//   - with has_files and verifies, if the fingerprint of its HDF5 file is not that in the .json.
//     This check reads the whole file.
// A power cut can damage an HDF5 file whose .json is complete, because runs do not wait until their
// files are on the disk. Waiting would take longer than a small run.
class StudyFolder {
 public:
  struct Options {
    bool has_files = false;  // find() ignores a run without its HDF5 file
    bool verifies = false;   // with has_files: find() ignores a run whose HDF5 file has changed
  };
  explicit StudyFolder(std::string path) : StudyFolder{std::move(path), Options{}} {}
  StudyFolder(std::string path, Options options) : path_{std::move(path)}, options_{options} {}
  void make() const;  // creates the folder if absent; throws RecordError
  // Creates the folder, writes the study's text to runs/study.yaml and returns an empty text. If
  // the folder has a study with another base or other names of axes, nothing is written, and the
  // base and axes of that study are returned: "base a.yaml, axes load and nodes". Runs of two such
  // studies would overwrite each other, because their files are named by cell number and seed. A
  // study that differs otherwise, such as in its arms, is replaced. Throws RecordError.
  std::string take(const StudyPlan& plan) const;

  std::string run_path(size_t cell, uint64_t seed) const;  // path of the HDF5 file
  Hdf5Recorder::Options recorder_options(size_t cell, uint64_t seed,
                                         const RecordParams& record) const;
  // The result that keep() stored. Empty if keep() stored no result, if keep() stored it with
  // another key, if an input file has changed, or if Options::has_files or Options::verifies
  // rejects the HDF5 file.
  std::optional<StudyRunResult> find(size_t cell, uint64_t seed, const std::string& key) const;
  bool may_know(size_t cell, uint64_t seed) const;  // if false, find() finds nothing
  // The path of the run's .json if the .json is missing or damaged. Otherwise, with has_files, the
  // path of the HDF5 file if that file is missing or has changed. Otherwise empty.
  std::string damage(size_t cell, uint64_t seed) const;
  void keep(const StudyRunResult& result, const std::string& key) const;  // throws RecordError
  const std::string& path() const { return path_; }

 private:
  std::string json_path(size_t cell, uint64_t seed) const;

  std::string path_;
  Options options_;
};

// A fingerprint of the program and of the whole scenario with its seed. Input files have their own
// fingerprints, in StudyRunResult::inputs.
std::string study_key(const Scenario& scenario);

// Values of one summary figure, by cell and seed.
using StudyValues = std::map<std::pair<size_t, uint64_t>, double>;
StudyValues values_of(const std::vector<StudyRunResult>& results, const std::string& metric);
// The values of two cells for each seed that both cells have. A seed with a NaN in either cell is
// left out.
struct StudyPairs {
  std::vector<double> arm, baseline;
};
StudyPairs pairs_of(const StudyValues& values, size_t cell, size_t baseline);
// The names of all figures, in the order in which runs have them.
std::vector<std::string> metrics_of(const std::vector<StudyRunResult>& results);

}  // namespace orrery
