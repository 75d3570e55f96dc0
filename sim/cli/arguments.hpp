// sim/cli/arguments.hpp -- options of a command, and their values.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace orrery {

// The command line is invalid; the text says why.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct OptionSpec {
  std::string name;   // "output"
  char letter = 0;    // 'o'; 0 if the option has no letter
  std::string value;  // "FILE"; empty for a flag
  std::string doc;
  bool may_repeat = false;
};

struct CommandSpec {
  std::string name, doc;
  std::string positional;  // "SCENARIO..."; empty if the command takes none
  size_t positional_min = 0, positional_max = 0;
  std::vector<OptionSpec> options;  // --help is added automatically
};

struct Arguments {
  std::vector<std::string> positional;
  std::map<std::string, std::vector<std::string>> options;  // a given flag has one empty value

  bool has(const std::string& name) const { return options.contains(name); }
  std::optional<std::string> one(const std::string& name) const;
  std::vector<std::string> all(const std::string& name) const;
};

// Throws UsageError. With --help, no positional argument is required.
Arguments parse_arguments(const CommandSpec& command, std::span<const char* const> args);
std::string usage_line(const CommandSpec& command);
std::string help_text(const CommandSpec& command);

}  // namespace orrery
