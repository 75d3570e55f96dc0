// sim/cli/failure.hpp -- what an exception means to the user: a message and an exit status.
#pragma once

#include <string>

#include "sim/cli/cli.hpp"

namespace orrery {

struct Failure {
  ExitStatus status = ExitStatus::Internal;
  std::string text = {};  // a line or more
};

// Of the exception that is being handled, at the boundary of a run or of the program.
Failure current_failure();

}  // namespace orrery
