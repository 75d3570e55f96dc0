// sim/cli/study/study_report.hpp -- the findings of a study as text.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cli/study/study_findings.hpp"

namespace orrery {

enum class ReportFormat : uint8_t { Markdown, Csv, Latex };
constexpr std::array<std::string_view, 3> enum_names(ReportFormat) {
  return {"markdown", "csv", "latex"};
}

// Reports the metrics with `is_reported`. Markdown and Latex: for each metric a table, then the
// doubts about each cell of the study. Csv: one table with a row for each metric and cell; the last
// column has the doubts.
std::string report_text(const StudyPlan& plan, const std::vector<StudyMetric>& metrics,
                        ReportFormat format);

}  // namespace orrery
