// sim/cli/run_command.hpp -- `orrery run`.
#pragma once

#include <ostream>

#include "sim/cli/arguments.hpp"
#include "sim/cli/cli.hpp"

namespace orrery {

CommandSpec run_command_spec();
ExitStatus run_command(const Arguments& arguments, std::ostream& out, std::ostream& err);

}  // namespace orrery
