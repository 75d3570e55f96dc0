#include "sim/cli/outside_command.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "sim/core/installation.hpp"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::array<OutsideCommand, 5> kOutside{{
    {"report", "RUN.h5 | STUDY [-o FILE]",
     "One interactive page of a run, or of a study's folder."},
    {"plot", "[[NAME] RUN.h5... [-o FILE] [--job JOB]]",
     "Draws a figure of a run; without arguments, lists the figures."},
    {"explain", "RUN.h5 [--job NAME|ID | --deadlock K] [--attempts N] [--json]",
     "Explains why a job waited or failed, or what each job held in a deadlock."},
    {"export", "RUN.h5 [--perfetto FILE] [--csv DIR] [--parquet DIR] [--table NAME]...",
     "Writes a run for other tools."},
    {"cluster", "STUDY -o DIR [OPTIONS]", "Runs a study on several machines."},
}};

std::string from_environment(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

// Unless ORRERY_PYTHON is set, /usr/bin/python3 is preferred to the python3 on the PATH, because
// Debian installs Python packages for /usr/bin/python3.
std::string python() {
  const char* const debian = "/usr/bin/python3";
  return from_environment("ORRERY_PYTHON", access(debian, X_OK) == 0 ? debian : "python3");
}

// Puts `folder` first in PYTHONPATH. Sets PYTHONSAFEPATH, so that Python does not import modules
// from the current folder. Otherwise a json.py there would shadow the standard library's json
// module.
void prepare_environment(const std::string& folder) {
  const std::string path = from_environment("PYTHONPATH", "");
  setenv("PYTHONPATH", (path.empty() ? folder : folder + ":" + path).c_str(), 1);
  setenv("PYTHONSAFEPATH", "1", 1);
}

}  // namespace

std::span<const OutsideCommand> outside_commands() { return kOutside; }

ExitStatus become_outside(std::string_view name, std::span<const char* const> args,
                          std::ostream& err) {
  const fs::path folder = python_folder();
  std::error_code ignored;
  if (!fs::exists(folder / "orrery" / "__main__.py", ignored)) {
    err << "'" << name << "' is part of the Python package orrery, which is not in "
        << folder.string() << "; set ORRERY_ANALYSIS to the folder that holds the package\n";
    return ExitStatus::UserMistake;
  }
  const std::string program = python();
  std::vector<std::string> words{program, "-m", "orrery", std::string{name}};
  words.insert(words.end(), args.begin(), args.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  prepare_environment(fs::absolute(folder, ignored));
  std::cout.flush();
  execvp(program.c_str(), pointers.data());
  err << "'" << name << "' needs Python, and " << program
      << " cannot be started: " << std::strerror(errno)
      << "; apt-get install python3, or set ORRERY_PYTHON\n";
  return ExitStatus::UserMistake;
}

}  // namespace orrery
