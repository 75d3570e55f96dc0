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
  size_t baseline = 0;                          // the cell that `paired` compares with
  std::optional<PairedDifference> paired = {};  // none: nothing is compared, or it is the baseline
  std::vector<Doubt> doubts = {};
};
struct StudyMetric {
  std::string name, unit, doc;
  bool is_reported = false;
  std::vector<StudyLine> lines = {};  // by cell
};

IntervalOptions interval_options(const StudyPlan& plan);
// Logarithms of ratios for times and counts: whole numbers and all that has a unit.
Scale scale_of(const SummaryValue& figure);

// All metrics that runs have. First those that are reported: those that `metrics` names, without
// any all whose values differ between runs.
std::vector<StudyMetric> findings(const StudyPlan& plan,
                                  const std::vector<StudyRunResult>& results);

// The widest interval of `until` among all cells, by half_width_absolute or as a part of the
// baseline; infinite while one is not known.
double widest_half(const StudyPlan& plan, const std::vector<StudyRunResult>& results);
double half_asked(const StudyPlan& plan);  // so narrow the widest must become

}  // namespace orrery
