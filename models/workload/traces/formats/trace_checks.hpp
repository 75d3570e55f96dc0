// models/workload/traces/formats/trace_checks.hpp -- parameters that a trace of some format cannot
// follow.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "models/workload/traces/formats/format.hpp"
#include "models/workload/traces/formats/trace_params.hpp"

namespace orrery::traces {

// The parameter `name` says `text`: a date and time for a trace with dates, else seconds.
struct Instant {
  std::optional<Time> at;
  std::string mistake;  // "name: ..."; empty: none, or there is no text
};
Instant parse_instant(std::string_view name, const std::string& text, bool has_dates);

// The first that is out of its range, is missing, or would do nothing, as "name: what is wrong".
std::optional<std::string> mistaken_param(const TraceParams& params, const Format& format);

}  // namespace orrery::traces
