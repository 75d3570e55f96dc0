// models/workload/traces/formats/trace_checks.hpp -- checks of parameters against the trace's
// format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "models/workload/traces/formats/format.hpp"
#include "models/workload/traces/formats/trace_params.hpp"

namespace orrery::traces {

// How the times of a trace are written: as seconds, as dates, or as either.
enum class Clock : uint8_t { Seconds, Dates, Either };

// The time that a parameter gives, or what is wrong with the text of the parameter.
struct Instant {
  std::optional<Time> at;
  std::string mistake;  // "name: ..."; empty if the text is valid or empty
};
Instant parse_instant(std::string_view name, const std::string& text, Clock clock);

// The first parameter that is out of range, missing or without effect, as "name: what is wrong".
std::optional<std::string> mistaken_param(const TraceParams& params, const Format& format);

}  // namespace orrery::traces
