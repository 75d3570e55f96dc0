// sim/cli/study/study_findings.hpp -- means and differences of each metric, and warnings about
// them, for study.h5 and reports.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/cli/study/doubts.hpp"
#include "sim/cli/study/paired.hpp"
#include "sim/cli/study/study_plan.hpp"
#include "sim/cli/study/study_results.hpp"

namespace orrery {

// One metric of one cell.
struct StudyLine {
  size_t cell = 0;
  std::string label;
  size_t seeds = 0;
  double mean = 0, least = 0, most = 0;  // NaN without seeds
  Interval interval = {};                // confidence interval of the mean; NaN with too few seeds
  size_t baseline = 0;                   // the cell that is the baseline of `paired`
  std::optional<PairedDifference> paired = {};  // empty for a baseline, or without common seeds
  std::vector<Doubt> doubts = {};
};
struct StudyMetric {
  std::string name, unit, doc;
  bool is_reported = false;
  std::vector<StudyLine> lines = {};  // a line for each cell, in the order of their numbers
};

IntervalOptions interval_options(const StudyPlan& plan);
// LogRatio for whole numbers and for figures with a unit, such as counts and times. Difference for
// all other figures, such as shares.
Scale scale_of(const SummaryValue& figure);

// All metrics of the runs. Reported metrics come first: those that the study lists in `metrics` or,
// without a list, those whose values differ between runs.
std::vector<StudyMetric> findings(const StudyPlan& plan,
                                  const std::vector<StudyRunResult>& results);

// The study's rule `until` names a metric. Returns half the width of the widest interval of this
// metric, over all cells except baselines. The unit is the metric's unit if `half_width_absolute`
// is given. Otherwise the result is a fraction of the baseline or, without a comparison, of the
// mean. Infinite while a cell has an unknown interval or fewer than three values (seeds or pairs of
// seeds). 0 if no run has the metric.
double widest_half(const StudyPlan& plan, const std::vector<StudyRunResult>& results);
double half_asked(const StudyPlan& plan);  // the upper limit for widest_half()

}  // namespace orrery
