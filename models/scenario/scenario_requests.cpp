// models/scenario/scenario_requests.cpp -- whether anybody goes by how long jobs say that they will
// take, and by what a node has room for.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "models/scenario/scenario_checks.hpp"
#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

// Traces may tell.
void check_requested(const Scenario& scenario, Checker& c) {
  const bool kills = scenario.workload.controller.overruns == Overruns::Kill;
  const bool is_heeded = kills || scenario.policy.job_queue;
  bool may_be_told = false;
  for (size_t i = 0; i < scenario.workload.sources.size(); ++i) {
    const JobSourceParams& source = scenario.workload.sources[i];
    may_be_told = may_be_told || std::holds_alternative<TraceSourceParams>(source);
    const auto* const listed = std::get_if<ExplicitJobsParams>(&source);
    for (size_t j = 0; listed != nullptr && j < listed->jobs.size(); ++j) {
      if (!listed->jobs[j].requested) continue;
      may_be_told = true;
      if (is_heeded) continue;
      c.warning(
          "workload.sources[" + std::to_string(i) + "].jobs[" + std::to_string(j) + "].requested",
          "has no effect without policy.job_queue and workload.controller.overruns: kill, "
          "which go by it");
    }
  }
  if (kills && !may_be_told) {
    c.idle("workload.controller.overruns",
           "has no effect: no job says how long it takes at most (requested)");
  }
}

// A loaded policy may ask for anything.
bool weighs_pods(const JobPolicyParams& policy) {
  constexpr PointName kPoints[] = {QueueOrder::kPoint, Plan::kPoint, Admit::kPoint};
  const config::Node& weights = policy.args.node["weight_tres"];
  return weights.find("pods") != nullptr ||
         std::ranges::any_of(
             kPoints, [&](const PointName& point) { return is_loaded_for(policy.name, point); });
}

// The fields of a gang that say how many pods it needs.
std::vector<std::string> minimums_of(const ExplicitJobParams& job) {
  std::vector<std::string> fields;
  if (job.kind == JobKind::Pods) return fields;
  if (job.min_available != 0) fields.emplace_back("min_available");
  for (size_t g = 0; g < job.gangs.size(); ++g) {
    const ExplicitGangParams& gang = job.gangs[g];
    const std::string at = "gangs[" + std::to_string(g) + "].";
    if (gang.min_available == 0) continue;  // then those of roles have no effect anyway
    fields.push_back(at + "min_available");
    for (size_t r = 0; r < gang.roles.size(); ++r) {
      if (gang.roles[r].min_available == 0) continue;
      fields.push_back(at + "roles[" + std::to_string(r) + "].min_available");
    }
  }
  return fields;
}

// Jobs are amounts that are taken out of a pool.
void check_counted(const Scenario& scenario, Checker& c) {
  constexpr std::string_view kOfPods[] = {"workload.controller.concurrent_syncs",
                                          "workload.controller.pods_per_sync_max",
                                          "workload.controller.pod_creation_interval",
                                          "workload.controller.pod_start", "record.deadlocks"};
  const auto refuse = [&](const std::string& field, std::string_view why) {
    if (c.is_given(field))
      c.idle(field, "has no effect with policy.driver: counting" + std::string{why});
  };
  constexpr std::string_view kNoPods = ", which knows no pods";
  for (const std::string_view field : kOfPods) refuse(std::string{field}, kNoPods);
  for (const Training& training : trainings(scenario.workload)) {
    refuse(training.path + ".endings", kNoPods);
  }
  for (size_t i = 0; i < scenario.workload.sources.size(); ++i) {
    const auto* const listed = std::get_if<ExplicitJobsParams>(&scenario.workload.sources[i]);
    for (size_t j = 0; listed != nullptr && j < listed->jobs.size(); ++j) {
      const std::string at =
          "workload.sources[" + std::to_string(i) + "].jobs[" + std::to_string(j) + "].";
      for (const std::string& field : minimums_of(listed->jobs[j])) refuse(at + field, kNoPods);
    }
  }
  const JobQueueParams& queue = *scenario.policy.job_queue;
  const bool counts_pods = std::ranges::find(queue.counts, Counted::Pods) != queue.counts.end() ||
                           std::ranges::any_of(queue.policies, weighs_pods);
  const auto check = [&](const std::string& list, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      const std::string at = list + "[" + std::to_string(i) + "].";
      refuse(at + "taints", kNoPods);
      if (!counts_pods) refuse(at + "pods_max", ", unless counts or weight_tres has pods");
    }
  };
  check("cluster.pools", scenario.cluster.pools.size());
  check("cluster.openb_nodes", scenario.cluster.openb_nodes.size());
}

}  // namespace

void check_requests(const Scenario& scenario, Checker& c) {
  check_requested(scenario, c);
  if (scenario.policy.driver == Driver::Counting && scenario.policy.job_queue) {
    check_counted(scenario, c);
  }
}

}  // namespace orrery
