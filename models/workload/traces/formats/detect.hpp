// models/workload/traces/formats/detect.hpp -- finds the format of a trace from its first lines.
#pragma once

#include <string>
#include <string_view>

#include "models/workload/traces/formats/format.hpp"

namespace orrery::traces {

// The first 64 KiB of the text; less if the text is shorter or cannot be read.
std::string read_beginning(TextSource source);
// Returns the format `wanted` or, for Auto, the format with the highest score. The score is
// Format::likeness() or, for formats without it, the share of the format's columns that are in the
// header. Returns null if no score is above 0.5. The file may lack columns of the returned format;
// open_parser() reports the missing columns.
const Format* find_format(std::string_view beginning, TraceFormat wanted);
// The format of a file whose columns the user has named: csv or json_lines.
const Format* find_own_format(std::string_view beginning);
// The message for a file that is of no known format.
std::string unknown_format(std::string_view beginning);

}  // namespace orrery::traces
