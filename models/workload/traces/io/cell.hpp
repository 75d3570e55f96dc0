// models/workload/traces/io/cell.hpp -- parses numbers and dates in traces. A text with anything
// before or after the value is rejected.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/core/time.hpp"

namespace orrery::traces {

std::optional<int64_t> parse_integer(std::string_view text);
std::optional<int64_t> parse_whole(std::string_view text);  // "12" or "12.0"
// "14414259.0", "-1", "1e3" seconds. Plain decimals are exact; digits beyond the nanosecond are
// dropped. Empty for other texts, such as NaN, and for spans of 9.2e9 s (291 years) or more.
std::optional<Duration> parse_seconds(std::string_view text);
// "2020-04-01 12:00:00", "2020-04-01T12:00:00" or "2020-04-01". The text names no time zone and is
// read as UTC. The result is the time since 1970.
std::optional<Time> parse_date_time(std::string_view text);
// A date with a time of day, which may have a fraction and an offset from UTC: "2023-11-16
// 18:17:03.9799600", "2023-07-14T10:00:00+08:00". The offset is ignored: the result has the hour
// that the text shows.
std::optional<Time> parse_stamp(std::string_view text);
bool is_nothing(std::string_view text);  // "", "None", "null", "nan" and the like

}  // namespace orrery::traces
