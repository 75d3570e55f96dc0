#include "sim/cli/scenario_input.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "models/run/simulation.hpp"
#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/core/installation.hpp"
#include "sim/record/recorder.hpp"

namespace orrery {
namespace {

// Applies an option that stands for an override, such as --seed for --set run.seed. Mistakes are
// reported under the option's name.
void apply_option(ScenarioInput& input, const std::string& option, const std::string& assignment) {
  config::apply_override(input.document, assignment, input.diagnostics);
  const size_t number = input.document.overrides.size();
  input.options_meant.emplace_back("--set #" + std::to_string(number) + ":", option);
}

void check_seed(const std::string& text) {
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw UsageError{"--seed needs a whole number from 0 to 18446744073709551615, got " +
                     in_quotes(text)};
  }
}

// Reports entries of record.off that match no table: after a typing mistake, the intended table
// would still be recorded.
void check_tables_off(ScenarioInput& input) {
  const std::vector<std::string>& off = input.scenario.record.off;
  const config::Node& listed = input.document.root["record"]["off"];
  if (off.empty() || listed.items.size() != off.size()) return;
  const std::vector<std::string> tables = table_paths();
  for (size_t i = 0; i < off.size(); ++i) {
    const auto is_off = [&](const std::string& table) { return is_meant(off[i], table); };
    if (std::ranges::any_of(tables, is_off)) continue;
    std::string path = "record.off[";
    path += std::to_string(i) + "]";
    input.diagnostics.error(listed.items[i].position, path,
                            "no table matches " + in_quotes(off[i]) + did_you_mean(off[i], tables));
  }
}

std::string with_option_named(const ScenarioInput& input, const std::string& message) {
  for (const auto& [prefix, option] : input.options_meant) {
    if (!message.starts_with(prefix)) continue;
    // A message begins with the prefix, a line and a column, then ": ". The line and column are
    // dropped, because they mean nothing for an option.
    const size_t end = message.find(": ");
    return end == std::string::npos ? message : option + message.substr(end);
  }
  return message;
}

}  // namespace

OptionSpec set_option() {
  return {"set", 0, "path=value", "Override a value, as in policy.queue.max_backoff=1min.", true};
}

OptionSpec plugin_option() {
  return {"plugin", 0, "LIB",
          "Load the policies of a shared library; liborrery_python.so comes with Orrery.", true};
}

std::vector<std::string> plugin_files(const Arguments& arguments) {
  std::vector<std::string> files = arguments.all("plugin");
  std::error_code ignored;
  for (std::string& file : files) {
    const std::filesystem::path ours = library_folder() / file;
    const bool is_bare = file.find('/') == std::string::npos;
    if (is_bare && !std::filesystem::exists(file, ignored) &&
        std::filesystem::exists(ours, ignored)) {
      file = ours.string();
    }
  }
  return files;
}

bool is_study(const config::Node& root) {
  constexpr std::array kOfStudies{"base", "axes", "seeds", "compare"};
  constexpr std::array kOfScenarios{"cluster", "workload", "include"};
  const auto has = [&](const char* key) { return root.find(key) != nullptr; };
  return std::ranges::any_of(kOfStudies, has) && std::ranges::none_of(kOfScenarios, has);
}

bool load_plugins(const Arguments& arguments, std::ostream& err) {
  PolicyRegistry& registry = PolicyRegistry::instance();
  const size_t known = registry.problems().size();
  bool is_ok = true;
  for (const std::string& path : plugin_files(arguments)) is_ok = registry.load(path) && is_ok;
  for (size_t i = known; i < registry.problems().size(); ++i) {
    err << "--plugin " << registry.problems()[i] << "\n";
  }
  return is_ok;
}

ScenarioInput read_input(const std::string& path, const Arguments& arguments) {
  const auto seed = arguments.one("seed");
  const auto until = arguments.one("until");
  if (seed) check_seed(*seed);
  if (until && until->empty()) throw UsageError{"--until needs a time such as 30d"};
  ScenarioInput input;
  if (arguments.has("strict")) input.diagnostics = Diagnostics{Idle::Refused};
  input.document = config::load_file(path, input.diagnostics);
  for (const std::string& assignment : arguments.all("set")) {
    config::apply_override(input.document, assignment, input.diagnostics);
  }
  if (seed) apply_option(input, "--seed", "run.seed=" + *seed);
  if (until) apply_option(input, "--until", "run.until=" + *until);
  if (input.document.is_usable && is_study(input.document.root)) {
    input.diagnostics.error(input.document.root.position, "",
                            "is a study, not a scenario: `orrery study run` runs it");
    return input;
  }
  if (input.document.is_usable) {
    input.scenario = read_scenario(input.document, input.diagnostics);
    check_tables_off(input);
  }
  return input;
}

void print_warnings(const ScenarioInput& input, std::ostream& err) {
  for (const std::string& message : input.diagnostics.warnings()) {
    err << with_option_named(input, message) << "\n";
  }
}

void print_mistakes(const ScenarioInput& input, const std::string& path, std::ostream& err) {
  for (const std::string& message : input.diagnostics.messages()) {
    err << with_option_named(input, message) << "\n";
  }
  const size_t count = input.diagnostics.count();
  err << path << ": " << count << (count == 1 ? " mistake" : " mistakes") << "\n";
}

}  // namespace orrery
