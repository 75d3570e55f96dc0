// tests/support/report.hpp -- cases of validation, and what tests find, for people and a table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery::test {

// The JSON text of one case of a data file, whose path starts at the root of the sources.
std::string case_of(std::string_view file, std::string_view id);

// One figure of a case of the validation data; `figure` names it if the case has several.
struct Finding {
  std::string_view id;
  std::string_view figure = {};
};

// Each prints `ID: ours X, theirs Y, difference Z`. If ORRERY_VALIDATION_RESULTS names a folder,
// the same goes there, to a file of the running test, for analysis/validation_table.py. Numbers
// have ten digits, and their difference is that of the digits shown. Whether a difference is too
// large is for the test to say.
void report(const Finding& finding, double ours, double theirs);
void report(const Finding& finding, std::string_view ours, std::string_view theirs);
void report(const Finding& finding, const std::vector<double>& ours,
            const std::vector<double>& theirs);

// A case that cannot be checked here, say because its trace is absent.
void report_unchecked(std::string_view id, std::string_view why);

}  // namespace orrery::test
