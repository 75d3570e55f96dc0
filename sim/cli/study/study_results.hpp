// sim/cli/study/study_results.hpp -- the folder of a study: what is known of each of its runs.
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
  std::string path, fingerprint;  // fingerprint_of_file()
};

struct StudyRunResult {
  size_t cell = 0;
  uint64_t seed = 0;
  bool is_ok = false;
  bool is_kept = false;                      // of a former invocation
  Failure failure = {};                      // of a run that is not ok
  double wall_seconds = 0, cpu_seconds = 0;  // cpu: of an arm that forked, from then on
  std::vector<SummaryValue> summary = {};
  std::vector<InputFile> inputs = {};  // that it read beside its scenario
};

class InputFiles;
struct SimulationResult;

double as_double(const SummaryValue& value);
// Of a run that went well.
StudyRunResult result_of(size_t cell, uint64_t seed, SimulationResult found,
                         const InputFiles& inputs);

// DIR/runs/<cell>-s<seed>.h5 is a run. The .json beside it has what a study needs of the run. It is
// written in one step once the run is over: a killed run leaves none. The .json names the scenario
// and the content of the files that the run read; if either changes, the run is done anew. It also
// holds the length of the HDF5 file; a file of another length, or without a head, does not count.
// Power cuts, not kills, leave such files: waiting for the disk would cost more than small runs.
// The .json has a fingerprint of itself, compared always, and one of the HDF5 file, compared on
// demand, since that file has to be read for it.
class StudyFolder {
 public:
  struct Options {
    bool has_files = false;  // what has no HDF5 file (any more) is not known either
    bool verifies = false;   // nor is one whose HDF5 file is not as the run wrote it
  };
  explicit StudyFolder(std::string path) : StudyFolder{std::move(path), Options{}} {}
  StudyFolder(std::string path, Options options) : path_{std::move(path)}, options_{options} {}
  void make() const;  // if it is not there; throws RecordError
  // Makes it and leaves the study's text in it, as runs/study.yaml. Runs are numbered by cells, so
  // those of another study would be replaced one by one: if its base or the names of its axes are
  // not those of the study that is there, nothing is done and these are told, as in "base a.yaml,
  // axes load and nodes". Other arms are taken to be meant. Throws RecordError.
  std::string take(const StudyPlan& plan) const;

  std::string run_path(size_t cell, uint64_t seed) const;  // of the HDF5 file
  // How the HDF5 file of this run is written.
  Hdf5Recorder::Options recorder_options(size_t cell, uint64_t seed,
                                         const RecordParams& record) const;
  // What a former invocation found, if it was the same scenario, read the same, and went well.
  std::optional<StudyRunResult> find(size_t cell, uint64_t seed, const std::string& key) const;
  bool may_know(size_t cell, uint64_t seed) const;  // false: find() would find nothing
  // Which file of a run that is over is not as the run wrote it; empty: none.
  std::string damage(size_t cell, uint64_t seed) const;
  void keep(const StudyRunResult& result, const std::string& key) const;  // throws RecordError
  const std::string& path() const { return path_; }

 private:
  std::string json_path(size_t cell, uint64_t seed) const;

  std::string path_;
  Options options_;
};

// Stands for what decides what a run gives: the program and the whole scenario, seed included.
std::string study_key(const Scenario& scenario);

// Values of one summary figure, by cell and seed.
using StudyValues = std::map<std::pair<size_t, uint64_t>, double>;
StudyValues values_of(const std::vector<StudyRunResult>& results, const std::string& metric);
// Of the seeds that both cells have.
struct StudyPairs {
  std::vector<double> arm, baseline;
};
StudyPairs pairs_of(const StudyValues& values, size_t cell, size_t baseline);
// The names of all figures, in the order in which runs write them.
std::vector<std::string> metrics_of(const std::vector<StudyRunResult>& results);

}  // namespace orrery
