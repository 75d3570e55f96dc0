// tests/support/validation_cases.hpp -- checks the cases of a data file against a function.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

namespace orrery::test {

// Checks and reports each case of the file, which is a list of cases or an object with the list
// `cases`. Each case must have a source and a kind: independent, calibrated, target, closed_form or
// derived. The result of `ours` for the case's `input` must be the `expected` text, or a number
// that differs from `expected` by at most `tolerance` * |`expected`|. With `is_reproduced: false`
// the number must differ by more. If a file that the case needs is missing, `ours` returns null,
// and the case is reported as unchecked.
void check_cases(std::string_view file, size_t cases_min,
                 const std::function<nlohmann::json(const nlohmann::json& input)>& ours);

}  // namespace orrery::test
