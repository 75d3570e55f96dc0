// sim/cli/outside_command.hpp -- commands implemented by the Python package.
#pragma once

#include <ostream>
#include <span>
#include <string_view>

#include "sim/cli/cli.hpp"

namespace orrery {

struct OutsideCommand {
  std::string_view name, usage, doc;
};
// The Python commands that `orrery --help` lists. `orrery NAME --help` lists a command's options.
std::span<const OutsideCommand> outside_commands();

// Replaces this process by `python3 -m orrery NAME ARGS`. Returns only if Python or the package is
// missing, and reports which. ORRERY_PYTHON in the environment chooses the Python; for the package
// see sim/core/installation.hpp.
ExitStatus become_outside(std::string_view name, std::span<const char* const> args,
                          std::ostream& err);

}  // namespace orrery
