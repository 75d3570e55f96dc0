// tests/support/cli_run.hpp -- calls the program `orrery` as a function and keeps its output.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "sim/cli/cli.hpp"

namespace orrery {

struct Said {
  int status = 0;
  std::string out, err;
};

inline Said run(const std::vector<const char*>& args) {
  std::ostringstream out, err;
  const int status = run_cli(args, out, err);
  return {status, out.str(), err.str()};
}

}  // namespace orrery
