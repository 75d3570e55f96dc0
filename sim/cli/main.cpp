#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "sim/cli/cli.hpp"
#include "sim/cli/failure.hpp"

namespace {

// Called by std::terminate, for instance when a destructor throws. Prints a message and exits.
[[noreturn]] void end_with_message() {
  orrery::Failure failure{.text = "internal error: the program ended itself"};
  if (std::current_exception() != nullptr) failure = orrery::current_failure();
  std::fprintf(stderr, "%s\n", failure.text.c_str());
  std::_Exit(static_cast<int>(failure.status));
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_with_message);
  // Once these signals are ignored, a write to a closed pipe or beyond the file size limit returns
  // an error, which is reported.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  const std::span<const char* const> all{argv, static_cast<size_t>(argc)};
  return orrery::run_cli(all.empty() ? all : all.subspan(1), std::cout, std::cerr);
}
