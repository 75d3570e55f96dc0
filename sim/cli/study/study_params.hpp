// sim/cli/study/study_params.hpp -- the study file: a grid of runs of one scenario.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/cli/study/intervals.hpp"
#include "sim/cli/study/study_axis_params.hpp"
#include "sim/config/fields.hpp"

namespace orrery {

struct StudySeedsParams {
  static constexpr std::string_view kDoc =
      "Each cell runs once with each seed. The same seed draws the same arrivals and failures in "
      "all cells, so that arms are compared pair by pair.";

  static constexpr uint64_t kFirstMax = uint64_t{1} << 63U;

  uint64_t first = 1;
  int32_t count = 10;
  bool permute_ties = false;

  template <class V>
  void fields(V& v) {
    v("first", first, "First seed; further seeds count up from it.", Range{uint64_t{0}, kFirstMax});
    v("count", count, "Number of seeds of each cell.", Range{1, 100'000},
      Source{"estimate: t intervals of ten pairs are 16 % wider than normal ones"});
    v("permute_ties", permute_ties,
      "Jobs with equal submit times arrive in another order with each seed, as with "
      "run.permute_ties. Reports then show the least and the largest value over the seeds.");
  }
};

struct StudyCompareParams {
  static constexpr std::string_view kDoc = "Compares the arms of one axis with one of these arms.";

  std::string axis;
  std::string against;
  double confidence = 0.95;
  Estimator estimator = Estimator::T;

  template <class V>
  void fields(V& v) {
    v("axis", axis,
      "Axis whose arms are compared. The arms of the other axes are equal within a comparison.",
      Required{});
    v("against", against, "Arm that all other arms of this axis are compared with.", Required{});
    v("confidence", confidence, "Probability that an interval contains the true difference.",
      Range{0.5, 0.9999});
    v("estimator", estimator,
      "Estimator of intervals. t: Student's t of the differences or, for times and counts, of the "
      "log ratios. bca: bias-corrected and accelerated bootstrap of the same values; needs 20 "
      "seeds.",
      Source{"Efron 1987, J. Am. Stat. Assoc. 82"});
  }
};

struct StudyStopParams {
  static constexpr std::string_view kDoc =
      "Seeds are added until each interval is narrow enough. These are the intervals of the "
      "compared differences or, without `compare`, of the means of the cells.";

  std::string metric;
  double half_width = 0.02;
  std::optional<double> half_width_absolute = {};
  int32_t seeds_max = 100;

  template <class V>
  void fields(V& v) {
    v("metric", metric, "Metric whose intervals count.", Required{}, Example{"jct_mean"});
    v("half_width", half_width,
      "Half-width that is narrow enough, as a fraction of the mean of the `against` arm or, "
      "without `compare`, of the cell's own mean.",
      Range{1e-6, 10.0}, Heeded{!half_width_absolute, "half_width_absolute is given"});
    v("half_width_absolute", half_width_absolute,
      "Half-width that is narrow enough, in the unit of the metric; replaces half_width. Needed if "
      "the baseline is 0.",
      Range{1e-12, 1e18}, Example{"30"});
    v("seeds_max", seeds_max, "Largest number of seeds of a cell.", Unit{"seeds"},
      Range{2, 100'000});
  }
};

struct StudyRunParams {
  static constexpr std::string_view kDoc = "Execution of the runs.";

  std::optional<Duration> fork_at = {};

  template <class V>
  void fields(V& v) {
    v("fork_at", fork_at,
      "Time at which the arms of an axis begin to differ if all of them set only parameters of "
      "`policy`. Up to this time the run is simulated once for all these arms. Then each arm "
      "continues in its own process, like a run with run.changes. Without `fork_at`, arms differ "
      "from the start.",
      Range{1_ns, Duration::max()}, Example{"10d"});
  }
};

struct StudyParams {
  static constexpr std::string_view kDoc = "A grid of runs of one scenario, and what to compare.";

  std::string base;
  StudySettings set = {};
  std::vector<StudyAxisParams> axes = {};
  StudySeedsParams seeds = {};
  std::optional<StudyCompareParams> compare = {};
  std::optional<StudyStopParams> until = {};
  std::vector<std::string> metrics = {};
  StudyRunParams run = {};
  bool keep_runs = true;

  template <class V>
  void fields(V& v) {
    v("base", base, "Scenario file, relative to this file.", Required{},
      Example{"../two-experiments-default.yaml"});
    v("set", set, "Parameters of all runs, by path.", Example{"{run.until: 7d}"});
    v("axes", axes, "Settings that vary.");
    v("seeds", seeds, "Seeds of each cell.");
    v("compare", compare, "Comparison of arms. Without it, reports show only means of cells.");
    v("until", until, "Rule for adding seeds. Without it, no seeds are added.");
    v("metrics", metrics,
      "Figures of /summary that reports show; if empty, all that differ between runs. `orrery "
      "describe metrics` lists all figures.",
      Example{"[jct_mean, gpu_hours_deadlocked]"});
    v("run", run, "Execution of the runs.");
    v("keep_runs", keep_runs, "The HDF5 file of each run is kept, not only its summary.");
  }
  void check(Checker& c) const;
};

}  // namespace orrery
