// sim/cli/failure.hpp -- message and exit status of an exception.
#pragma once

#include <string>

#include "sim/cli/cli.hpp"

namespace orrery {

struct Failure {
  ExitStatus status = ExitStatus::Internal;
  std::string text = {};  // one or more lines
};

// Describes the exception being handled, which has ended a run or the program.
Failure current_failure();

}  // namespace orrery
