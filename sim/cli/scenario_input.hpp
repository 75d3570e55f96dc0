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
  // Overrides and the options that they came from: "--set #3" and "--seed".
  std::vector<std::pair<std::string, std::string>> options_meant;
};

// Whether the document is the file of a study, which `orrery study` reads.
bool is_study(const config::Node& root);

// The files of every --plugin. A bare name without such a file here may be a library of Orrery's
// own, such as liborrery_python.so.
std::vector<std::string> plugin_files(const Arguments& arguments);
// Loads every --plugin. False: `err` has the reason.
[[nodiscard]] bool load_plugins(const Arguments& arguments, std::ostream& err);
// Reads the file and applies --set, --seed and --until. Throws UsageError.
[[nodiscard]] ScenarioInput read_input(const std::string& path, const Arguments& arguments);
void print_warnings(const ScenarioInput& input, std::ostream& err);  // one a line
// Every mistake, one a line, then their number.
void print_mistakes(const ScenarioInput& input, const std::string& path, std::ostream& err);

}  // namespace orrery
