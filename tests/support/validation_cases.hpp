// tests/support/validation_cases.hpp -- runs a table of cases whose inputs name a quantity.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

namespace orrery::test {

// Every case of the file, a list or the list `cases` of an object, must have a kind and a source.
// The result of `ours` for its input must be its `expected` text, or a number that differs from it
// by at most `tolerance` times its size (by more if the case has `is_reproduced: false`). Null: the
// case's file is missing. Each case is reported.
void check_cases(std::string_view file, size_t cases_min,
                 const std::function<nlohmann::json(const nlohmann::json& input)>& ours);

}  // namespace orrery::test
