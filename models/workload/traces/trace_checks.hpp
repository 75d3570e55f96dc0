// models/workload/traces/trace_checks.hpp -- parameters that a trace of some format cannot follow.
#pragma once

#include <optional>
#include <string>

#include "models/workload/traces/format.hpp"
#include "models/workload/traces/trace_params.hpp"

namespace orrery::traces {

// The first that is out of its range, is missing, or would do nothing, as "name: what is wrong".
std::optional<std::string> mistaken_param(const TraceParams& params, const Format& format);

}  // namespace orrery::traces
