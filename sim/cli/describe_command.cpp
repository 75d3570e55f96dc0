#include "sim/cli/describe_command.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "models/hardware/machine_catalogue.hpp"
#include "models/hardware/machine_topology.hpp"
#include "models/hardware/nvswitch_partitions.hpp"
#include "models/run/summary_figures.hpp"
#include "models/scenario/scenario.hpp"
#include "models/scheduling/contract/policy_registry.hpp"
#include "models/workload/traces/requests/request_reader.hpp"
#include "models/workload/traces/synthesis/trace_model_params.hpp"
#include "sim/cli/machine_text.hpp"
#include "sim/cli/scenario_input.hpp"
#include "sim/cli/study/study_params.hpp"
#include "sim/config/describe.hpp"
#include "sim/config/field_path.hpp"

namespace orrery {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

std::string aligned(const Rows& rows) {
  size_t width = 0;
  for (const auto& [left, right] : rows) width = std::max(width, left.size());
  std::string text;
  for (const auto& [left, right] : rows) {
    text += "  " + left + std::string(width - left.size() + 2, ' ') + right + "\n";
  }
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// The extension points and their docs, from the lists of points.hpp. The policy registry and the
// framework use the same lists.
std::string points_text() {
  Rows of_pods, of_jobs, of_controllers;
  PodPoints::for_each([&]<class P>() { of_pods.emplace_back(P::kPoint.name, P::kPoint.doc); });
  JobPoints::for_each([&]<class P>() { of_jobs.emplace_back(P::kPoint.name, P::kPoint.doc); });
  ControllerPoints::for_each(
      [&]<class P>() { of_controllers.emplace_back(P::kPoint.name, P::kPoint.doc); });
  return "Extension points of pods:\n" + aligned(of_pods) +
         "\nExtension points of the job queue:\n" + aligned(of_jobs) +
         "\nExtension points of controllers:\n" + aligned(of_controllers);
}

// Names and docs of all metrics, which are the figures of /summary.
std::string metrics_text() {
  Rows rows;
  for (const auto& [figure, is_of_course] : known_figures()) {
    rows.emplace_back(figure.name,
                      figure.doc + (figure.unit.empty() ? "" : " (" + figure.unit + ")"));
  }
  return "Metrics are the figures of /summary. A run has only the figures of features that it "
         "uses:\n" +
         aligned(rows);
}

// The metric with its doc. Empty if no metric has this name.
std::string metric_text(const std::string& name) {
  for (const auto& [figure, is_of_course] : known_figures()) {
    if (figure.name != name) continue;
    return "A metric of studies and figure of /summary:\n" +
           aligned(
               {{figure.name, figure.doc + (figure.unit.empty() ? "" : " (" + figure.unit + ")")}});
  }
  return {};
}

std::string overview(const FieldTree& scenario) {
  Rows sections, machines;
  for (const FieldTree& section : scenario.children)
    sections.emplace_back(section.name, section.doc);
  for (const Machine& machine : machine_catalogue())
    machines.emplace_back(machine.name, machine.doc);
  std::string text = "Sections of a scenario (`orrery describe scenario` shows all):\n";
  text += aligned(sections) + "\nPolicies:\n";
  for (const auto& [name, entry] : PolicyRegistry::instance().entries()) {
    text += "  " + name + " (" + joined(entry.points) + "; " + entry.origin + ")\n";
    text += "      " + entry.doc + "\n";
  }
  text += "\nMachines:\n" + aligned(machines);
  text +=
      "\n`orrery describe NAME` explains a policy, a machine or a section such as policy.queue. "
      "`orrery describe points` lists the extension points, `orrery describe metrics` the figures "
      "of /summary. `orrery describe study` explains the file of a study.\n";
  return text;
}

std::string described(const Machine& machine, bool with_topology) {
  std::string text = machine_text(machine);
  if (!with_topology) return text;
  text += "\n" + topology_text(machine);
  if (const NvSwitchBoard* const board = board_of(machine)) text += "\n" + partitions_text(*board);
  return text;
}

std::string policy_text(const std::string& name, const PolicyRegistry::Entry& entry) {
  std::string text = name + ": " + entry.doc + "\n";
  text += aligned({{"extension points", joined(entry.points)}, {"origin", entry.origin}});
  const FieldTree args = entry.describe();
  if (args.children.empty()) return text + "\nIt takes no args.\n";
  return text + "\nargs:\n" + describe_text(args);
}

// Describes a policy class. `code` is its file and its name, such as "mine.py:Mine".
ExitStatus describe_code(const PolicyRegistry::Entry& host, const std::string& code,
                         std::ostream& out, std::ostream& err) {
  try {
    auto [points, args] = host.describe_code(code);
    out << code << ": " << std::exchange(args.doc, {}) << "\n";
    out << aligned({{"extension points", joined(points)}});
    out << (args.children.empty() ? "\nIt takes no args.\n" : "\nargs:\n" + describe_text(args));
    return ExitStatus::Ok;
  } catch (const std::runtime_error& error) {
    err << code << " " << error.what() << "\n";
    return ExitStatus::UserMistake;
  }
}

void collect_paths(const FieldTree& from, const std::string& prefix,
                   std::vector<std::string>& paths) {
  for (const FieldTree& part : parts_of(held_by(from))) {
    const std::string path = prefix.empty() ? part.name : prefix + "." + part.name;
    paths.push_back(path);
    collect_paths(part, path, paths);
  }
}

std::vector<std::string> known_names(const FieldTree& scenario) {
  std::vector<std::string> names = PolicyRegistry::instance().names();
  for (const char* const text : {"points", "study", "metrics"}) names.emplace_back(text);
  for (const Machine& machine : machine_catalogue()) names.push_back(machine.name);
  for (const auto& [figure, is_of_course] : known_figures()) names.push_back(figure.name);
  collect_paths(scenario, "", names);
  return names;
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

// Suggests the names that contain `wrong`, such as KueueTopology for kueue, else the nearest name.
std::string suggestion(const std::string& wrong, const std::vector<std::string>& known) {
  constexpr size_t kPartMin = 3, kNamesMax = 5;
  std::vector<std::string> found;
  for (const std::string& name : known) {
    if (lower_case(name).find(lower_case(wrong)) != std::string::npos) found.push_back(name);
  }
  if (wrong.size() < kPartMin || found.empty()) return did_you_mean(wrong, known);
  found.resize(std::min(found.size(), kNamesMax));
  return "; names that contain it: " + joined(found);
}

// Describes the metric of this name, or reports that the name is unknown.
ExitStatus describe_other(const std::string& name, const FieldTree& scenario, std::ostream& out,
                          std::ostream& err) {
  if (const std::string metric = metric_text(name); !metric.empty()) {
    out << metric;
    return ExitStatus::Ok;
  }
  err << "nothing is called " << in_quotes(name) << suggestion(name, known_names(scenario))
      << "\n'orrery describe' lists the names\n";
  return ExitStatus::UserMistake;
}

}  // namespace

CommandSpec describe_command_spec() {
  return {
      .name = "describe",
      .doc = "Explains a section of a scenario, a policy or a machine; without NAME, lists them.",
      .positional = "[machine] [NAME]",
      .positional_max = 2,
      .options = {{"topology", 0, "", "For a machine: also show the topology of its devices."},
                  plugin_option()}};
}

ExitStatus describe_command(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  if (!load_plugins(arguments, err)) return ExitStatus::UserMistake;
  FieldTree scenario = describe_scenario();
  const bool is_topology = arguments.has("topology");
  if (arguments.positional.empty()) {
    if (is_topology) throw UsageError{"--topology needs the name of a machine"};
    out << overview(scenario);
    return ExitStatus::Ok;
  }
  const bool is_machine = arguments.positional.size() == 2;
  if (is_machine && arguments.positional.front() != "machine") {
    throw UsageError{"expected one NAME, or 'machine' and the name of a machine"};
  }
  const std::string& name = arguments.positional.back();
  if (const Machine* const machine = find_machine(name)) {
    out << described(*machine, is_topology);
    return ExitStatus::Ok;
  }
  if (is_topology || is_machine) {
    std::vector<std::string> machines;
    for (const Machine& machine : machine_catalogue()) machines.push_back(machine.name);
    throw UsageError{(is_topology ? "--topology: " : "") +
                     ("no machine is called " + in_quotes(name)) + did_you_mean(name, machines)};
  }
  if (const auto* const entry = PolicyRegistry::instance().find(name)) {
    out << policy_text(name, *entry);
    return ExitStatus::Ok;
  }
  const size_t colon = name.find(':');
  const auto* const host = PolicyRegistry::instance().find(name.substr(0, colon));
  if (colon != std::string::npos && host != nullptr && host->describe_code) {
    return describe_code(*host, name.substr(colon + 1), out, err);
  }
  const FieldTree* const section = name.empty() ? nullptr : find_path(scenario, name);
  if (name == "scenario") {
    out << describe_text(scenario);
    return ExitStatus::Ok;
  }
  if (name == "points") {
    out << points_text();
    return ExitStatus::Ok;
  }
  if (name == "metrics") {
    out << metrics_text();
    return ExitStatus::Ok;
  }
  if (name == "study") {
    out << describe_text(describe_params<StudyParams>());
    return ExitStatus::Ok;
  }
  if (name == "generate") {
    out << describe_text(describe_params<TraceModelParams>());
    return ExitStatus::Ok;
  }
  if (name == "requests") {
    out << describe_text(describe_params<RequestTraceParams>());
    return ExitStatus::Ok;
  }
  if (section == nullptr) return describe_other(name, scenario, out, err);
  FieldTree titled = *section;
  titled.name = name;
  out << describe_text(titled);
  return ExitStatus::Ok;
}

}  // namespace orrery
