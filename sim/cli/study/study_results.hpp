// sim/cli/study/study_results.hpp -- the folder of a study: what is known of each of its runs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
  std::string error = {};                    // of a run that failed: a line or more
  double wall_seconds = 0, cpu_seconds = 0;  // cpu: of an arm that forked, from then on
  std::vector<SummaryValue> summary = {};
  std::vector<InputFile> inputs = {};  // that it read beside its scenario
};

class InputFiles;
struct SimulationResult;

// Of a run that went well.
StudyRunResult result_of(size_t cell, uint64_t seed, SimulationResult found,
                         const InputFiles& inputs);

// DIR/runs/<cell>-s<seed>.h5 is a run, and .json beside it what a study needs of it, written in one
// step once the run is over: who is killed meanwhile leaves nothing that counts. A .json says which
// scenario it is of and what was in the files that it read, so that a study or a trace that was
// changed runs anew what is another now; and how long the HDF5 file is. One of another length, or
// without a head, does not count: waiting for the disk after each run would cost more than small
// runs, so after a power cut (not after a kill) files may be short or empty.
class StudyFolder {
 public:
  // `has_files`: what has no HDF5 file (any more) is not known either.
  explicit StudyFolder(std::string path, bool has_files = false)
      : path_{std::move(path)}, has_files_{has_files} {}
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
  void keep(const StudyRunResult& result, const std::string& key) const;  // throws RecordError
  // DIR/study.h5: /cells, /runs, /values, the study file, in order of cells and seeds.
  // `doubts`: lines for readers. Runs that are missing yet are counted in the attribute
  // runs_missing.
  void write_study(const StudyPlan& plan, const std::vector<StudyRunResult>& results,
                   const std::string& doubts) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool has_files_;
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
