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
      "Each cell runs once with each seed. A seed draws the same arrivals and failures in all "
      "cells, so arms are compared pair by pair.";

  static constexpr uint64_t kFirstMax = uint64_t{1} << 63U;

  uint64_t first = 1;
  int32_t count = 10;
  bool permute_ties = false;

  template <class V>
  void fields(V& v) {
    v("first", first, "The first seed; the others are consecutive.", Range{uint64_t{0}, kFirstMax});
    v("count", count, "Seeds of each cell.", Range{1, 100'000},
      Source{"estimate: t intervals of ten pairs are 16 % wider than normal ones"});
    v("permute_ties", permute_ties,
      "Each seed permutes jobs with equal submit times, like run.permute_ties. Reports show the "
      "range from the least to the largest value.");
  }
};

struct StudyCompareParams {
  static constexpr std::string_view kDoc = "Comparison of the arms of one axis with one of them.";

  std::string axis;
  std::string against;
  double confidence = 0.95;
  Estimator estimator = Estimator::T;

  template <class V>
  void fields(V& v) {
    v("axis", axis, "Axis of the compared arms; arms of other axes are equal within a comparison.",
      Required{});
    v("against", against, "The baseline: the arm with which the others are compared.", Required{});
    v("confidence", confidence, "Probability that an interval contains the true difference.",
      Range{0.5, 0.9999});
    v("estimator", estimator,
      "Method for intervals. t: Student's t, of differences, or of log ratios for times and "
      "counts. bca: bias-corrected and accelerated bootstrap of the same, from 20 seeds on.",
      Source{"Efron 1987, J. Am. Stat. Assoc. 82"});
  }
};

struct StudyStopParams {
  static constexpr std::string_view kDoc =
      "Adds seeds until each interval is narrow enough: those of the compared differences, else "
      "those of the means of cells.";

  std::string metric;
  double half_width = 0.02;
  std::optional<double> half_width_absolute = {};
  int32_t seeds_max = 100;

  template <class V>
  void fields(V& v) {
    v("metric", metric, "Whose intervals.", Required{}, Example{"jct_mean"});
    v("half_width", half_width,
      "Half of the interval, as a fraction of the baseline's mean, or of the cell's own mean.",
      Range{1e-6, 10.0}, Heeded{!half_width_absolute, "half_width_absolute is given"});
    v("half_width_absolute", half_width_absolute,
      "Half of the interval in the unit of the metric, in place of half_width. Needed if the "
      "baseline is 0.",
      Range{1e-12, 1e18}, Example{"30"});
    v("seeds_max", seeds_max, "Limit on the number of seeds.", Unit{"seeds"}, Range{2, 100'000});
  }
};

struct StudyRunParams {
  static constexpr std::string_view kDoc = "Execution of the runs.";

  std::optional<Duration> fork_at = {};

  template <class V>
  void fields(V& v) {
    v("fork_at", fork_at,
      "Arms that set only parameters of `policy` differ from that time on, like run.changes of a "
      "scenario. The common time before runs once for all of them, and each arm continues in its "
      "own process. Left out: arms differ from the start.",
      Range{1_ns, Duration::max()}, Example{"10d"});
  }
};

struct StudyParams {
  static constexpr std::string_view kDoc =
      "A grid of runs of one scenario, and the comparison of its arms.";

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
    v("base", base, "The scenario, relative to this file.", Required{},
      Example{"../two-experiments-default.yaml"});
    v("set", set, "Parameters of all runs, by path.", Example{"{run.until: 7d}"});
    v("axes", axes, "What is varied.");
    v("seeds", seeds, "How often.");
    v("compare", compare, "Absent: no comparison; reports show means of cells.");
    v("until", until, "Absent: the number of seeds is that of `seeds`.");
    v("metrics", metrics,
      "Figures of /summary that reports show (`orrery describe metrics`); none: all that differ.",
      Example{"[jct_mean, gpu_hours_deadlocked]"});
    v("run", run, "Execution of the runs.");
    v("keep_runs", keep_runs, "Keep the HDF5 file of each run, not only its summary.");
  }
  void check(Checker& c) const;
};

}  // namespace orrery
