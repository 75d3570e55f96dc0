// sim/cli/cli.hpp -- the `orrery` program as a function: commands, exit statuses.
#pragma once

#include <ostream>
#include <span>

namespace orrery {

enum class ExitStatus : int {
  Ok = 0,
  Internal = 1,       // a bug of Orrery, or no memory left
  UserMistake = 2,    // wrong usage, scenario, trace or plug-in
  OutputFailed = 74,  // the number of EX_IOERR
  Stopped = 130,      // the status that a shell reports after Ctrl-C
};

// `args` does not include the program's name. Never throws.
int run_cli(std::span<const char* const> args, std::ostream& out, std::ostream& err);

}  // namespace orrery
