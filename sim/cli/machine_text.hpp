// sim/cli/machine_text.hpp -- the facts of a machine and their sources, as text.
#pragma once

#include <string>

#include "models/hardware/machine.hpp"

namespace orrery {

std::string machine_text(const Machine& machine);

}  // namespace orrery
