// sim/cli/schema_command.hpp -- `orrery schema`.
#pragma once

#include <ostream>

#include "sim/cli/arguments.hpp"
#include "sim/cli/cli.hpp"

namespace orrery {

CommandSpec schema_command_spec();
ExitStatus schema_command(const Arguments& arguments, std::ostream& out, std::ostream& err);

}  // namespace orrery
