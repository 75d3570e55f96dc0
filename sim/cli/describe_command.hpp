// sim/cli/describe_command.hpp -- `orrery describe`.
#pragma once

#include <ostream>

#include "sim/cli/arguments.hpp"
#include "sim/cli/cli.hpp"

namespace orrery {

CommandSpec describe_command_spec();
ExitStatus describe_command(const Arguments& arguments, std::ostream& out, std::ostream& err);

}  // namespace orrery
