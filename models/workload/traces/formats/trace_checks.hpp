// models/workload/traces/formats/trace_checks.hpp -- parameters that a trace of some format cannot
// follow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/workload/traces/formats/format.hpp"
#include "models/workload/traces/formats/trace_params.hpp"

namespace orrery::traces {

// How a trace tells times.
enum class Clock : uint8_t { Seconds, Dates, Either };

// The parameter `name` says `text`, which the clock must allow.
struct Instant {
  std::optional<Time> at;
  std::string mistake;  // "name: ..."; empty: none, or there is no text
};
Instant parse_instant(std::string_view name, const std::string& text, Clock clock);

// The first that is out of its range, is missing, or would do nothing, as "name: what is wrong".
std::optional<std::string> mistaken_param(const TraceParams& params, const Format& format);

}  // namespace orrery::traces
