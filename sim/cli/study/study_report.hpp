// sim/cli/study/study_report.hpp -- what a study found, as text.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cli/study/paired.hpp"
#include "sim/cli/study/study_plan.hpp"
#include "sim/cli/study/study_results.hpp"

namespace orrery {

enum class ReportFormat : uint8_t { Markdown, Csv, Latex };
constexpr std::array<std::string_view, 3> enum_names(ReportFormat) {
  return {"markdown", "csv", "latex"};
}

// One metric of one cell.
struct StudyLine {
  std::string label;
  size_t seeds = 0;
  double mean = 0;
  std::optional<Interval> interval;        // of the mean; none with one seed
  std::optional<PairedDifference> paired;  // none: nothing is compared, or it is the baseline
  std::vector<std::string> doubts;
};
struct StudyMetric {
  std::string name, unit, doc;
  std::vector<StudyLine> lines;  // by cell
};

// Of `metrics` of the study; without any, of all whose value is not the same in all runs.
std::vector<StudyMetric> metrics_found(const StudyPlan& plan,
                                       const std::vector<StudyRunResult>& results);
std::string doubts_text(const std::vector<StudyMetric>& metrics);  // a line each
// Of those names in `metrics` that no run has: where they stand, and near names; a line each.
std::vector<std::string> unknown_metrics(const StudyPlan& plan,
                                         const std::vector<StudyRunResult>& results);
std::string report_text(const StudyPlan& plan, const std::vector<StudyMetric>& metrics,
                        ReportFormat format);

}  // namespace orrery
