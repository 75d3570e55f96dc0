#include "models/scenario.hpp"

#include <filesystem>

#include "sim/config/reader.hpp"

namespace orrery {
namespace {

// A file is named relative to the document that names it; on the command line, to where one is.
void resolve(std::string& file, const config::Node& node) {
  namespace fs = std::filesystem;
  const std::string& document = node.position.file.text();
  if (file.empty() || fs::path{file}.is_absolute() || document.starts_with("--")) return;
  const fs::path folder = fs::path{document}.parent_path();
  if (!folder.empty()) file = (folder / file).lexically_normal().string();
}

void resolve_files(const config::Node& root, Scenario& scenario) {
  const config::Node& sources = root["workload"]["sources"];
  for (size_t i = 0; i < scenario.workload.sources.size() && i < sources.items.size(); ++i) {
    if (auto* const trace = std::get_if<TraceSourceParams>(&scenario.workload.sources[i])) {
      resolve(trace->file, sources.items[i]["file"]);
    }
  }
  const config::Node& nodes = root["cluster"]["openb_nodes"];
  for (size_t i = 0; i < scenario.cluster.openb_nodes.size() && i < nodes.items.size(); ++i) {
    resolve(scenario.cluster.openb_nodes[i].file, nodes.items[i]["file"]);
  }
}

}  // namespace

Scenario read_scenario(const config::Document& document, Diagnostics& diagnostics) {
  if (!document.is_usable) return {};
  Scenario scenario = read_params<Scenario>(document.root, "", diagnostics);
  check_profile(scenario.policy, "policy", document.root["policy"], diagnostics);
  resolve_files(document.root, scenario);
  return scenario;
}

}  // namespace orrery
