// sim/config/file_names.hpp -- the location of a file named in a document.
#pragma once

#include <string>

#include "sim/config/diagnostics.hpp"

namespace orrery::config {

// The path of a file whose name stands at `named_at`. In a document, the name is relative to the
// folder of the document; on the command line, to the working directory.
std::string resolved_file(const std::string& file, const Position& named_at);

}  // namespace orrery::config
