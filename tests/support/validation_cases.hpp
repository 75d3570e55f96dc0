// tests/support/validation_cases.hpp -- runs a table of cases whose inputs name a quantity.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

namespace orrery::test {

// Every case of the file, a list or the list `cases` of an object, must have a kind and a source,
// and what `ours` makes of its input must be its `expected` text, or a number that differs from it
// by at most `tolerance` times its size, or by more if the case says `is_reproduced: false`. Null:
// the case's file is absent. Each is reported.
void check_cases(std::string_view file, size_t cases_min,
                 const std::function<nlohmann::json(const nlohmann::json& input)>& ours);

}  // namespace orrery::test
