// models/workload/traces/formats/detect.hpp -- the format of a trace by its first lines.
#pragma once

#include <string>
#include <string_view>

#include "models/workload/traces/formats/format.hpp"

namespace orrery::traces {

// The first 64 KiB of the text; less after an error.
std::string read_beginning(TextSource source);
// The requested format. For Auto, the format that matches best: by Format::likeness, or by the
// share of its columns that are in the header. Null if no match is above one half. The file may
// lack columns of the format; open_parser() reports them.
const Format* find_format(std::string_view beginning, TraceFormat wanted);
// The format of a file whose columns the user has named: csv or json_lines.
const Format* find_own_format(std::string_view beginning);
// The message for a file that is of no known format.
std::string unknown_format(std::string_view beginning);

}  // namespace orrery::traces
