// sim/cli/outside_command.hpp -- commands that the Python package carries out.
#pragma once

#include <ostream>
#include <span>
#include <string_view>

#include "sim/cli/cli.hpp"

namespace orrery {

struct OutsideCommand {
  std::string_view name, usage, doc;
};
// What `orrery --help` tells of them; their own --help has the options.
std::span<const OutsideCommand> outside_commands();

// This process becomes `python3 -m orrery NAME ARGS`, so it comes back only with a mistake that it
// has told: no Python, or no package. ORRERY_PYTHON in the environment says which Python; for the
// package see sim/core/installation.hpp.
ExitStatus become_outside(std::string_view name, std::span<const char* const> args,
                          std::ostream& err);

}  // namespace orrery
