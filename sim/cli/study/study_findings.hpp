// sim/cli/study/study_findings.hpp -- means, differences and doubts, computed once for all readers.
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
  double mean = 0, least = 0, most = 0;         // NaN without seeds
  Interval interval = {};                       // of the mean; NaN with too few seeds
  size_t baseline = 0;                          // the cell that is the baseline of `paired`
  std::optional<PairedDifference> paired = {};  // none: no comparison, or this cell is the baseline
  std::vector<Doubt> doubts = {};
};
struct StudyMetric {
  std::string name, unit, doc;
  bool is_reported = false;
  std::vector<StudyLine> lines = {};  // by cell
};

IntervalOptions interval_options(const StudyPlan& plan);
// LogRatio for times and counts: whole numbers, and every figure with a unit.
Scale scale_of(const SummaryValue& figure);

// All metrics of the runs, the reported ones first: those in `metrics`, or else all whose values
// differ between runs.
std::vector<StudyMetric> findings(const StudyPlan& plan,
                                  const std::vector<StudyRunResult>& results);

// The widest half interval of `until` among all cells, in the metric's unit or as a fraction of the
// baseline; infinite while one is unknown.
double widest_half(const StudyPlan& plan, const std::vector<StudyRunResult>& results);
double half_asked(const StudyPlan& plan);  // the target for the widest one

}  // namespace orrery
