// models/workload/traces/cell.hpp -- numbers and dates as traces write them, whole text or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sim/core/time.hpp"

namespace orrery::traces {

std::optional<int64_t> parse_integer(std::string_view text);
// "14414259.0", "-1", "1e3" seconds. Plain decimals are exact; digits beyond the nanosecond are
// dropped. Nothing for NaN, infinity or a span of more than 292 years.
std::optional<Duration> parse_seconds(std::string_view text);
// "2020-04-01 12:00:00", or the date alone, counted from 1970 as if the clock were UTC: traces do
// not name a zone, and those read here come from places without daylight saving.
std::optional<Time> parse_date_time(std::string_view text);

}  // namespace orrery::traces
