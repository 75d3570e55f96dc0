// sim/cli/trace_generate.hpp -- `orrery trace generate`.
#pragma once

#include <ostream>

#include "sim/cli/arguments.hpp"
#include "sim/cli/cli.hpp"

namespace orrery {

ExitStatus trace_generate(const Arguments& arguments, std::ostream& out, std::ostream& err);

}  // namespace orrery
