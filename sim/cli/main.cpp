#include <csignal>
#include <iostream>

#include "sim/cli/cli.hpp"

int main(int argc, char** argv) {
  // A full disk quota and a closed pipe then show as failed writes, which are reported.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  const std::span<const char* const> all{argv, static_cast<size_t>(argc)};
  return orrery::run_cli(all.empty() ? all : all.subspan(1), std::cout, std::cerr);
}
