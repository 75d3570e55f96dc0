// sim/cli/study/study_command.hpp -- `orrery study run | plan | shard | report | pairs`.
#pragma once

#include <ostream>

#include "sim/cli/arguments.hpp"
#include "sim/cli/cli.hpp"

namespace orrery {

CommandSpec study_command_spec();
ExitStatus study_command(const Arguments& arguments, std::ostream& out, std::ostream& err);

}  // namespace orrery
