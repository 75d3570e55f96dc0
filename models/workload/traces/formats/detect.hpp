// models/workload/traces/formats/detect.hpp -- the format of a trace by its first lines.
#pragma once

#include <string>
#include <string_view>

#include "models/workload/traces/formats/format.hpp"

namespace orrery::traces {

// The first 64 KiB of the text; less after an error.
std::string read_beginning(TextSource source);
// The requested format, or the one with most of its columns in the header; opening it then names
// the missing columns. Null if no format is similar.
const Format* find_format(std::string_view beginning, TraceFormat wanted);
// Csv or json_lines: the kind of a file with columns named by the user.
const Format* find_own_format(std::string_view beginning);
// The message for a file of unknown format.
std::string unknown_format(std::string_view beginning);

}  // namespace orrery::traces
