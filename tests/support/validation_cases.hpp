// tests/support/validation_cases.hpp -- runs a table of cases whose inputs name a quantity.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

namespace orrery::test {

// The file is a list of cases, or an object with the list `cases`. Each case must have a kind and a
// source, and is reported. The result of `ours` for its input must be its `expected` text, or a
// number that differs from it by at most `tolerance` times its size. With `is_reproduced: false`
// the number must differ by more. Null: a file of the case is missing.
void check_cases(std::string_view file, size_t cases_min,
                 const std::function<nlohmann::json(const nlohmann::json& input)>& ours);

}  // namespace orrery::test
