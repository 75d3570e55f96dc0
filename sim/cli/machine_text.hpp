// sim/cli/machine_text.hpp -- a machine's facts and where they come from, for people.
#pragma once

#include <string>

#include "models/hardware/machine.hpp"

namespace orrery {

std::string machine_text(const Machine& machine);

}  // namespace orrery
