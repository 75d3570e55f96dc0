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

// What is given but lies beyond the end of the run.
class UntilCheck {
 public:
  UntilCheck(Duration until, Checker& checker) : until_{until}, checker_{checker} {}

  void check(Duration at, const std::string& field, std::string_view consequence) {
    if (at <= until_) return;
    std::string text = "is after run.until, " + format_quantity(until_) + ": ";
    checker_.warning(field, text += consequence);
  }

  void check(const JobSourceParams& source, const std::string& path) {
    if (const auto* const generator = std::get_if<GeneratorParams>(&source)) {
      check(generator->start, path + ".start", "no job arrives");
    } else if (const auto* const listed = std::get_if<ExplicitJobsParams>(&source)) {
      for (size_t i = 0; i < listed->jobs.size(); ++i) {
        const std::string field = path + ".jobs[" + std::to_string(i) + "].submit";
        check(listed->jobs[i].submit, field, "the job never arrives");
      }
    } else if (const auto* const service = std::get_if<ServiceParams>(&source)) {
      check(service->submit, path + ".submit", "the service never comes");
      for (size_t i = 0; i < service->load.size(); ++i) {
        check(service->load[i].at, path + ".load[" + std::to_string(i) + "].at", "it never holds");
      }
    }
  }

 private:
  Duration until_;
  Checker& checker_;
};

// What plugins need of other sections.
void check_needs(const Scenario& scenario, const PolicyParams& policy, const std::string& path,
                 Checker& c) {
  for (const PluginParams& plugin : resolve_plugins(policy)) {
    const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(plugin.name);
    if (entry == nullptr) continue;
    if (has(entry->traits, Trait::NeedsFragmentation) && !scenario.workload.typical_pods) {
      c.error("workload", plugin.name + " needs typical_pods: {}, the pods it keeps room for");
    }
    if (has(entry->traits, Trait::NeedsLinks) && scenario.network.level != NetworkLevel::Flow) {
      c.error(path, plugin.name + " has an effect only with network.level: flow");
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
    check_needs(scenario, changes[i].policy, "run.changes[" + std::to_string(i) + "].policy", c);
  }
}

void check_cardiogram(const Scenario& scenario, Checker& c) {
  if (!scenario.record.cardiogram) return;
  const CardiogramParams& params = *scenario.record.cardiogram;
  if (scenario.policy.driver == Driver::Counting) {
    c.idle("record.cardiogram", "has no effect with policy.driver: counting, which knows no ranks");
  }
  if (scenario.run.until && params.window.to > *scenario.run.until) {
    c.error("record.cardiogram.window.to",
            "is after run.until, " + format_quantity(*scenario.run.until));
  }
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

// What begins only after the end, or concerns pods where there are none.
void check_control_plane(const Scenario& scenario, Checker& c) {
  const ControlPlaneParams& params = scenario.control_plane;
  if (params.level != ControlPlaneLevel::None && scenario.policy.driver == Driver::Counting) {
    c.idle("control_plane.level",
           "has no effect with policy.driver: counting, which knows no pods");
  }
  if (!scenario.run.until) return;
  const auto check = [&](Duration at, const std::string& field) {
    if (at < *scenario.run.until) return;
    c.error("control_plane." + field,
            "must be before run.until, " + format_quantity(*scenario.run.until));
  };
  for (size_t i = 0; i < params.losses.size(); ++i) {
    check(params.losses[i].at, "losses[" + std::to_string(i) + "].at");
  }
  for (size_t i = 0; i < params.etcd.losses.size(); ++i) {
    check(params.etcd.losses[i].at, "etcd.losses[" + std::to_string(i) + "].at");
  }
  for (size_t i = 0; i < params.etcd.defragmentations.size(); ++i) {
    check(params.etcd.defragmentations[i].at,
          "etcd.defragmentations[" + std::to_string(i) + "].at");
  }
  for (size_t i = 0; i < params.crash_loops.size(); ++i) {
    check(params.crash_loops[i].from, "crash_loops[" + std::to_string(i) + "].from");
  }
}

// Which teams a trace has is not known before it is read.
void check_service_teams(const Scenario& scenario, Checker& c) {
  std::set<std::string> teams{""};  // all of them
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

// What nodes that join, or are noticed to be dead, need.
void check_nodes(const Scenario& scenario, Checker& c) {
  const ControlPlaneParams& params = scenario.control_plane;
  const bool is_modelled = params.level != ControlPlaneLevel::None;
  const bool boot = scenario.faults.strike_nodes() || !params.joins.empty() || params.autoscaler;
  if (is_modelled && !boot && c.is_given("control_plane.node_join")) {
    c.idle("control_plane.node_join", "has no effect: no node joins, and none fails");
  }
  const bool may_be_cut_off = params.level == ControlPlaneLevel::Full;  // from servers or etcd
  if (is_modelled && !boot && !may_be_cut_off && c.is_given("control_plane.node_lifecycle")) {
    c.idle("control_plane.node_lifecycle", "has no effect with level: delays: no node fails");
  }
  const size_t pools = scenario.cluster.pools.size() + scenario.cluster.openb_nodes.size();
  if (params.node_lifecycle.zones == NodeZones::Pools && is_modelled && pools == 1) {
    c.warning("control_plane.node_lifecycle.zones", "has no effect: there is one pool");
  }
  if (is_modelled && params.autoscaler && scenario.policy.job_queue) {
    c.error("control_plane.autoscaler",
            "does not go with policy.job_queue: jobs get pods there only once nodes have room");
  }
  constexpr std::string_view kOfBoots[] = {"control_plane.clients.kube_proxy",
                                           "control_plane.clients.daemons",
                                           "control_plane.kubelet.heartbeats",
                                           "control_plane.api_servers.server.cost.read",
                                           "control_plane.api_servers.server.cost.watch",
                                           "control_plane.api_servers.server.cost.cached_object"};
  const ServiceWatchersParams& watchers = params.services.watchers;
  const bool have_watches = !params.services.groups.empty() && !params.losses.empty();
  for (const std::string_view field : kOfBoots) {
    const bool is_of_clients = field.starts_with("control_plane.clients.");
    if (boot || !c.is_given(field)) continue;
    const bool is_of_proxies = field.ends_with("kube_proxy");
    const bool watch =
        is_of_proxies ? watchers.kube_proxies : watchers.daemons > 0 && watchers.agents == 0;
    if (is_of_clients && have_watches && watch) continue;  // they come back after a loss
    if (params.level == ControlPlaneLevel::Delays || (is_modelled && is_of_clients)) {
      c.idle(field, "has no effect with this level if no node joins or fails");
    }
  }
  const bool is_full = params.level == ControlPlaneLevel::Full;
  for (const std::string_view field : {"event_ttl", "separate_events"}) {
    const std::string at = "control_plane.etcd." + std::string{field};
    if (!is_full || boot || params.events || !c.is_given(at)) continue;
    c.idle(at, "has no effect without Events: there is no section `events`, and no node boots");
  }
  const bool reads = boot || !params.losses.empty() || params.has_readers() || params.namespaces ||
                     !params.services.groups.empty() || params.api_servers.server.heap.limit;
  for (const std::string_view field :
       {"server.cost.read", "server.cost.watch", "server.cost.cached_object",
        "server.heap.list_factor", "flow_control.list_objects_per_seat"}) {
    const std::string at = "control_plane.api_servers." + std::string{field};
    if (!is_full || reads || !c.is_given(at)) continue;
    c.idle(at, "has no effect: after the start nobody gets, lists or watches anything");
  }
  for (size_t i = 0; i < params.joins.size() && scenario.run.until; ++i) {
    const std::string at = "control_plane.joins[" + std::to_string(i) + "].";
    const Duration until = *scenario.run.until;
    if (params.joins[i].at >= until) {
      c.error(at + "at", "must be before run.until, " + format_quantity(until));
    } else if (params.joins[i].at + params.joins[i].over > until) {
      c.warning(at + "over",
                "ends after run.until, " + format_quantity(until) + ": the last nodes do not join");
    }
  }
}

}  // namespace

void Scenario::check(Checker& c) const {
  check_needs(*this, policy, "policy", c);
  check_changes(*this, c);
  check_control_plane(*this, c);
  check_service_teams(*this, c);
  check_nodes(*this, c);
  check_training(*this, c);
  check_network(*this, c);
  check_pods(*this, c);
  check_requests(*this, c);
  check_cardiogram(*this, c);
  check_services(*this, c);
  check_counts(*this, c);
  if (!run.until) return check_end(*this, c);
  UntilCheck beyond{*run.until, c};
  for (size_t i = 0; i < faults.list.size(); ++i) {
    beyond.check(faults.list[i].at, "faults.list[" + std::to_string(i) + "].at",
                 "the node does not fail");
  }
  if (faults.chaos)
    beyond.check(faults.chaos->interval, "faults.chaos.interval", "no round begins");
  for (size_t i = 0; i < faults.ranks.size(); ++i) {
    beyond.check(faults.ranks[i].at, "faults.ranks[" + std::to_string(i) + "].at", "nothing dies");
  }
  for (size_t i = 0; i < workload.sources.size(); ++i) {
    beyond.check(workload.sources[i], "workload.sources[" + std::to_string(i) + "]");
  }
}

void RunParams::check(Checker& c) const {
  if (until && c.is_given("stall_limit")) c.warning("stall_limit", "has no effect with until");
  for (size_t i = 0; i < changes.size(); ++i) {
    const std::string at = "changes[" + std::to_string(i) + "]";
    if (until && changes[i].at >= *until) {
      c.error(at + ".at", "must be before run.until, " + format_quantity(*until));
    }
    if (i > 0 && changes[i].at <= changes[i - 1].at) {
      c.error(at + ".at",
              "must be later than that before it, " + format_quantity(changes[i - 1].at));
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
  return scenario;
}

FieldTree describe_scenario() { return describe_params<Scenario>(); }

std::string resolved_json(const Scenario& scenario) { return resolved_json<Scenario>(scenario); }

}  // namespace orrery
