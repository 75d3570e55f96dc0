// sim/config/scalars.hpp -- numbers and booleans from and to text, whatever the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orrery::config {

// What parse_integer() returns. Numbers are written as in JSON: no '+', no leading zeros (YAML 1.1
// reads 010 as octal). An integer that is too large has no `magnitude`.
struct ParsedInteger {
  bool is_integer = false;
  bool is_negative = false;
  std::optional<uint64_t> magnitude;
};
[[nodiscard]] ParsedInteger parse_integer(std::string_view text);
// Returns no value unless the text is a finite number: NaN and infinities are rejected.
[[nodiscard]] std::optional<double> parse_real(std::string_view text);
[[nodiscard]] std::optional<bool> parse_boolean(std::string_view text);
[[nodiscard]] std::string format_real(double value);  // shortest text that parses to `value`

// Whether the text is a number or a boolean. JSON writes both without quotes.
[[nodiscard]] bool is_bare_json(std::string_view text);

}  // namespace orrery::config
