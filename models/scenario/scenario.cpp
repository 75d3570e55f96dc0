#include "models/scenario/scenario.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "models/scenario/scenario_checks.hpp"
#include "models/scenario/scenario_jobs.hpp"
#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/config/describe.hpp"
#include "sim/config/file_names.hpp"
#include "sim/config/quantity.hpp"
#include "sim/config/reader.hpp"

namespace orrery {
namespace {

void resolve(std::string& file, const config::Node& node) {
  file = config::resolved_file(file, node.position);
}

void resolve_files(const config::Node& root, Scenario& scenario) {
  const config::Node& sources = root["workload"]["sources"];
  for (size_t i = 0; i < scenario.workload.sources.size() && i < sources.items.size(); ++i) {
    if (auto* const trace = std::get_if<TraceSourceParams>(&scenario.workload.sources[i])) {
      resolve(trace->file, sources.items[i]["file"]);
      resolve(trace->gavel.throughputs, sources.items[i]["gavel"]["throughputs"]);
    }
  }
  resolve(scenario.network.fabric.file, root["network"]["fabric"]["file"]);
  const config::Node& nodes = root["cluster"]["openb_nodes"];
  for (size_t i = 0; i < scenario.cluster.openb_nodes.size() && i < nodes.items.size(); ++i) {
    resolve(scenario.cluster.openb_nodes[i].file, nodes.items[i]["file"]);
  }
  const config::Node& logs = root["faults"]["logs"];
  for (size_t i = 0; i < scenario.faults.logs.size() && i < logs.items.size(); ++i) {
    resolve(scenario.faults.logs[i].file, logs.items[i]["file"]);
  }
}

// Checks that workload.typical_pods is present if a plugin needs it.
void check_needs(const Scenario& scenario, const PolicyParams& policy, Checker& c) {
  for (const PluginParams& plugin : resolve_plugins(policy)) {
    const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(plugin.name);
    if (entry == nullptr) continue;
    if (has(entry->traits, Trait::NeedsFragmentation) && !scenario.workload.typical_pods) {
      c.error("workload",
              plugin.name + " keeps room for typical pods, so it needs typical_pods: {}");
    }
  }
}

void check_changes(const Scenario& scenario, Checker& c) {
  const std::vector<ChangeParams>& changes = scenario.run.changes;
  if (!changes.empty() &&
      (scenario.policy.job_queue || scenario.policy.driver == Driver::Counting)) {
    c.error("run.changes", "does not go with policy.job_queue or the driver counting");
  }
  for (size_t i = 0; i < changes.size(); ++i) {
    check_needs(scenario, changes[i].policy, c);
    if (changes[i].policy.controllers.empty()) continue;
    c.error("run.changes[" + std::to_string(i) + "].policy.controllers",
            "controllers stay as `policy.controllers` lists them; only the scheduler changes");
  }
}

void check_cardiogram(const Scenario& scenario, Checker& c) {
  if (!scenario.record.cardiogram) return;
  const CardiogramParams& params = *scenario.record.cardiogram;
  const ScenarioJobs jobs{scenario.workload};
  if (!jobs.are_all()) return;
  for (size_t i = 0; i < params.jobs.size(); ++i) {
    const std::string at = "record.cardiogram.jobs[" + std::to_string(i) + "]";
    if (!jobs.check_name(params.jobs[i], at, c)) continue;
    const auto is_gang = [](const ExplicitJobParams* job) { return job->kind != JobKind::Pods; };
    if (std::ranges::any_of(jobs.called(params.jobs[i]), is_gang)) continue;
    c.error(at,
            "has no ranks: " + in_quotes(params.jobs[i]) + " is of independent pods (kind: pods)");
  }
}

// Checks that the teams named in control_plane.services.groups have jobs. Groups of nodes are not
// checked. If there is a trace, nothing is checked, because the teams in a trace are unknown before
// it is read.
void check_service_teams(const Scenario& scenario, Checker& c) {
  std::set<std::string> teams{""};  // empty name: all teams
  for (const JobSourceParams& source : scenario.workload.sources) {
    if (std::holds_alternative<TraceSourceParams>(source)) return;
    if (const auto* const listed = std::get_if<ExplicitJobsParams>(&source)) {
      for (const ExplicitJobParams& job : listed->jobs) teams.insert(job.team);
    } else if (const auto* const service = std::get_if<ServiceParams>(&source)) {
      teams.insert(service->team);
    } else {
      for (const auto& [team, weight] : std::get<GeneratorParams>(source).teams) {
        if (weight > 0) teams.insert(team);
      }
    }
  }
  const std::vector<ServiceGroupParams>& groups = scenario.control_plane.services.groups;
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::string& team = groups[i].team;
    if (groups[i].members == ServiceMembers::Nodes || teams.contains(team)) continue;
    c.error(
        "control_plane.services.groups[" + std::to_string(i) + "].team",
        "no job is of team " + in_quotes(team) + did_you_mean(team, {teams.begin(), teams.end()}));
  }
}

void check_autoscaler(const Scenario& scenario, Checker& c) {
  const ControlPlaneParams& params = scenario.control_plane;
  if (params.level == ControlPlaneLevel::None || !params.autoscaler) return;
  if (!scenario.policy.job_queue) return;
  c.error("control_plane.autoscaler",
          "does not go with policy.job_queue: the job queue creates no pods before nodes have "
          "room, so no pod would ask for more nodes");
}

}  // namespace

void Scenario::check(Checker& c) const {
  check_needs(*this, policy, c);
  check_changes(*this, c);
  check_service_teams(*this, c);
  check_autoscaler(*this, c);
  check_training(*this, c);
  check_network(*this, c);
  check_pods(*this, c);
  check_cardiogram(*this, c);
  check_services(*this, c);
  check_counts(*this, c);
  if (!run.until) check_end(*this, c);
}

void RunParams::check(Checker& c) const {
  for (size_t i = 0; i < changes.size(); ++i) {
    const std::string at = "changes[" + std::to_string(i) + "]";
    if (i > 0 && changes[i].at <= changes[i - 1].at) {
      c.error(at + ".at",
              "must be later than the change before it, at " + format_quantity(changes[i - 1].at));
    }
    const PolicyParams& policy = changes[i].policy;
    if (policy.job_queue) c.error(at + ".policy.job_queue", "cannot come while the run goes on");
    if (policy.driver == Driver::Counting) {
      c.error(at + ".policy.driver", "cannot become counting while the run goes on");
    }
  }
}

Scenario read_scenario(const config::Document& document, Diagnostics& diagnostics) {
  if (!document.is_usable) return {};
  Scenario scenario = read_params<Scenario>(document.root, "", diagnostics);
  check_policy(scenario.policy, "policy", document.root["policy"], diagnostics);
  const config::Node& changes = document.root["run"]["changes"];
  for (size_t i = 0; i < scenario.run.changes.size() && i < changes.items.size(); ++i) {
    check_policy(scenario.run.changes[i].policy, "run.changes[" + std::to_string(i) + "].policy",
                 changes.items[i]["policy"], diagnostics);
  }
  resolve_files(document.root, scenario);
  if (diagnostics.ok()) diagnostics.settle(facts_of(scenario), scenario.run.until);
  return scenario;
}

FieldTree describe_scenario() { return describe_params<Scenario>(); }

std::string resolved_json(const Scenario& scenario) { return resolved_json<Scenario>(scenario); }

}  // namespace orrery
