// sim/cli/trace_command.hpp -- `orrery trace`: inspects recorded jobs and converts them.
#pragma once

#include <ostream>

#include "sim/cli/arguments.hpp"
#include "sim/cli/cli.hpp"

namespace orrery {

CommandSpec trace_command_spec();
ExitStatus trace_command(const Arguments& arguments, std::ostream& out, std::ostream& err);

}  // namespace orrery
