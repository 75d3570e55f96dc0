// sim/cli/validate_command.hpp -- `orrery validate`.
#pragma once

#include <ostream>

#include "sim/cli/arguments.hpp"
#include "sim/cli/cli.hpp"

namespace orrery {

CommandSpec validate_command_spec();
ExitStatus validate_command(const Arguments& arguments, std::ostream& out, std::ostream& err);

}  // namespace orrery
