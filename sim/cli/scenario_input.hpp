// sim/cli/scenario_input.hpp -- the scenario of a command line: file, options, plug-ins.
#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "models/scenario/scenario.hpp"
#include "sim/cli/arguments.hpp"
#include "sim/config/node.hpp"

namespace orrery {

OptionSpec set_option();
OptionSpec plugin_option();

struct ScenarioInput {
  config::Document document;
  Scenario scenario;
  Diagnostics diagnostics;
  // Each pair is the prefix of a message and the option that replaces the prefix. Example: if
  // --seed made the third override, the pair is {"--set #3:", "--seed"}.
  std::vector<std::pair<std::string, std::string>> options_meant;
};

// Whether the document is a study, for `orrery study`, and not a scenario.
bool is_study(const config::Node& root);

// The files that --plugin names. A bare name that is no file in the working folder may stand for a
// library of Orrery's own, such as liborrery_python.so.
std::vector<std::string> plugin_files(const Arguments& arguments);
// Loads every --plugin. If this fails, writes the reason to `err` and returns false.
[[nodiscard]] bool load_plugins(const Arguments& arguments, std::ostream& err);
// Reads the file and applies --set, --seed and --until. Throws UsageError if --seed is no whole
// number or --until is empty. All other mistakes are in ScenarioInput::diagnostics.
[[nodiscard]] ScenarioInput read_input(const std::string& path, const Arguments& arguments);
void print_warnings(const ScenarioInput& input, std::ostream& err);  // one warning a line
// Prints each mistake on a line, then the number of mistakes.
void print_mistakes(const ScenarioInput& input, const std::string& path, std::ostream& err);

}  // namespace orrery
