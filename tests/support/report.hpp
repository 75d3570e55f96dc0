// tests/support/report.hpp -- validation cases and test results, as text and as a table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery::test {

// The JSON text of one case of a data file. `file` is relative to the root of the sources.
std::string case_of(std::string_view file, std::string_view id);

// Names one figure of a validation case. A case with a single figure needs no `figure`.
struct Finding {
  std::string_view id;
  std::string_view figure = {};
};

// Each overload prints `ID: ours X, theirs Y, difference Z`. If ORRERY_VALIDATION_RESULTS names a
// folder, the figures also go to a file there, for analysis/validation_table.py. Numbers are
// printed with ten digits, and Z is the difference of the printed numbers. The test decides whether
// Z is too large.
void report(const Finding& finding, double ours, double theirs);
void report(const Finding& finding, std::string_view ours, std::string_view theirs);
void report(const Finding& finding, const std::vector<double>& ours,
            const std::vector<double>& theirs);

// Reports a case that cannot be checked here, for example because its trace is missing.
void report_unchecked(std::string_view id, std::string_view why);

}  // namespace orrery::test
