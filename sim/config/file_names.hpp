// sim/config/file_names.hpp -- where a file lies that a document names.
#pragma once

#include <string>

#include "sim/config/diagnostics.hpp"

namespace orrery::config {

// A file is named relative to the document that names it; on the command line, to the working
// directory.
std::string resolved_file(const std::string& file, const Position& named_at);

}  // namespace orrery::config
