// models/scenario/scenario_retries.cpp -- warns of gang schedulers that try pods one by one while
// gangs compete for too few GPUs.
#include <algorithm>
#include <string>

#include "models/scenario/scenario_checks.hpp"
#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

// GPUs of all listed gang jobs; jobs of other sources are known only at their arrival.
int64_t gpus_asked_for(const WorkloadParams& workload) {
  int64_t gpus = 0;
  for (const JobSourceParams& source : workload.sources) {
    const auto* const listed = std::get_if<ExplicitJobsParams>(&source);
    if (listed == nullptr) continue;
    for (const ExplicitJobParams& job : listed->jobs) {
      if (job.kind == JobKind::Pods) continue;
      int64_t of_one = job.gangs.empty() ? int64_t{job.pods} * job.pod.gpus : 0;
      for (const ExplicitGangParams& gang : job.gangs) {
        for (const ExplicitRoleParams& role : gang.roles) {
          of_one += int64_t{role.pods} * role.pod.gpus;
        }
      }
      gpus += of_one * job.count;
    }
  }
  return gpus;
}

// Whether the plugin delays the retry of a rejected gang.
bool pauses(const PluginParams& plugin) {
  const config::Node* const pause = plugin.args.node.find("podGroupBackoffSeconds");
  return pause != nullptr && pause->text != "0";
}

void check_retries_of(const PolicyParams& policy, const std::string& path, const Scenario& scenario,
                      const ClusterState& state, Checker& c) {
  if (resolve_driver(policy) != Driver::PerPod) return;
  for (const PluginParams& plugin : resolve_plugins(policy)) {
    const auto* const entry = PolicyRegistry::instance().find(plugin.name);
    if (entry == nullptr || !has(entry->traits, Trait::RetriesInPermit) || pauses(plugin)) continue;
    const int64_t asked = gpus_asked_for(scenario.workload);
    if (asked <= state.gpus_total()) continue;
    c.warning(path, plugin.name +
                        " keeps retrying gangs that do not fit, and the gangs of this "
                        "workload ask for " +
                        std::to_string(asked) + " GPUs, but the cluster has " +
                        std::to_string(state.gpus_total()) +
                        ": strict_gang and native_gang place a gang as a whole; "
                        "podGroupBackoffSeconds of Coscheduling pauses a rejected gang");
  }
}

}  // namespace

void check_retries(const Scenario& scenario, const ClusterState& state, Checker& c) {
  check_retries_of(scenario.policy, "policy", scenario, state, c);
  for (size_t i = 0; i < scenario.run.changes.size(); ++i) {
    check_retries_of(scenario.run.changes[i].policy,
                     "run.changes[" + std::to_string(i) + "].policy", scenario, state, c);
  }
}

}  // namespace orrery
