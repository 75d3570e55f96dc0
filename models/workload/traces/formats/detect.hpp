// models/workload/traces/formats/detect.hpp -- which format a trace is in, by its first lines.
#pragma once

#include <string>
#include <string_view>

#include "models/workload/traces/formats/format.hpp"

namespace orrery::traces {

// The first 64 KiB of the text; less after an error.
std::string read_beginning(TextSource source);
// The format asked for, or the one whose columns the header has most of: opening it then names
// what is missing. Null when the beginning resembles none.
const Format* find_format(std::string_view beginning, TraceFormat wanted);
// csv or json_lines: what a file is whose columns the user has named.
const Format* find_own_format(std::string_view beginning);
// What to say of a file that resembles no format.
std::string unknown_format(std::string_view beginning);

}  // namespace orrery::traces
