#include "sim/cli/validate_command.hpp"

#include <limits>
#include <optional>

#include "models/cluster/ground.hpp"
#include "models/cluster/offered_load.hpp"
#include "sim/cli/scenario_input.hpp"
#include "sim/cli/study/study_plan.hpp"

namespace orrery {
namespace {

size_t values_in(const config::Node& node) {
  size_t count = node.is_scalar() ? 1 : 0;
  for (const config::Node& item : node.items) count += values_in(item);
  for (const config::Entry& entry : node.entries) count += values_in(entry.value);
  return count;
}

std::string counted(size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string counts_of(const ScenarioInput& input) {
  const size_t warnings = input.diagnostics.warning_count();
  return counted(input.document.sources.size(), "file") + ", " +
         counted(values_in(input.document.root), "value") + ", " +
         counted(input.scenario.workload.sources.size(), "job source") + ", " +
         counted(resolve_plugins(input.scenario.policy).size(), "plugin") +
         (warnings == 0 ? "" : ", " + counted(warnings, "warning"));
}

// Reports mistakes that show only once the nodes are built, such as a fault of an unknown node.
// Returns the jobs' demand on the nodes, unless there are mistakes. With cluster.openb_nodes, does
// nothing: that file is an input of the run, like a trace, and is not opened here.
std::optional<OfferedLoad> check_nodes(ScenarioInput& input) {
  if (!input.diagnostics.ok() || !input.scenario.cluster.openb_nodes.empty()) return {};
  const Ground ground{input.scenario};
  ground.check(input.scenario, input.document.root, input.diagnostics);
  if (!input.diagnostics.ok()) return {};
  return offered_load(input.scenario, ground.state, false);
}

// Validates a study and the scenarios of all its cells. Returns nullopt if `path` is no study.
std::optional<ExitStatus> validate_study(const std::string& path, const Arguments& arguments,
                                         std::ostream& out, std::ostream& err) {
  Diagnostics loading;
  if (!is_study(config::load_file(path, loading).root)) return std::nullopt;
  if (!arguments.all("set").empty()) {
    throw UsageError{"--set applies only to scenarios; the study " + path + " has a section `set`"};
  }
  Diagnostics diagnostics;
  const StudyPlan plan{path, diagnostics};
  for (const std::string& warning : diagnostics.warnings()) err << warning << "\n";
  const bool is_refused = arguments.has("strict") && diagnostics.warning_count() > 0;
  if (!diagnostics.ok()) {
    for (const std::string& message : diagnostics.messages()) err << message << "\n";
    err << path << ": " << counted(diagnostics.count(), "mistake") << "\n";
  }
  if (is_refused) err << path << ": --strict refuses a study with warnings\n";
  if (!diagnostics.ok() || is_refused) return ExitStatus::UserMistake;
  out << path << ": ok (" << counted(plan.cells(), "cell") << ", "
      << counted(static_cast<size_t>(plan.params().seeds.count), "seed") << ")" << std::endl;
  return ExitStatus::Ok;
}

}  // namespace

CommandSpec validate_command_spec() {
  return {.name = "validate",
          .doc = "Checks scenarios and studies without running them.",
          .positional = "FILE...",
          .positional_min = 1,
          .positional_max = std::numeric_limits<size_t>::max(),
          .options = {set_option(),
                      plugin_option(),
                      {"strict", 0, "", "A given parameter without effect is a mistake."}}};
}

ExitStatus validate_command(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  if (!load_plugins(arguments, err)) return ExitStatus::UserMistake;
  auto status = ExitStatus::Ok;
  for (const std::string& path : arguments.positional) {
    if (const auto of_study = validate_study(path, arguments, out, err)) {
      if (*of_study != ExitStatus::Ok) status = *of_study;
      continue;
    }
    ScenarioInput input = read_input(path, arguments);
    const auto load = check_nodes(input);
    print_warnings(input, err);
    if (input.diagnostics.ok()) {
      out << path << ": ok (" << counts_of(input) << ")\n";
      if (load) out << "  load: " << to_text(*load) << "\n";
      out.flush();
      continue;
    }
    print_mistakes(input, path, err);
    status = ExitStatus::UserMistake;
  }
  return status;
}

}  // namespace orrery
