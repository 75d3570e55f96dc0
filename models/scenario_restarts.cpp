// models/scenario_restarts.cpp -- what matters only to jobs that something stops.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/scenario.hpp"
#include "models/scenario_training.hpp"

namespace orrery {
namespace {

bool lacks_nics(const Machine& machine) {
  const auto serves = [](const Nic& nic) {
    return nic.role == NicRole::Compute && nic.bandwidth > Bandwidth{};
  };
  return machine.gpus() > 0 && std::ranges::none_of(machine.nics, serves);
}

// Gangs restart when a node or a rank dies, and when NCCL gives up on exchanges that cannot move;
// pods with their nodes, among them those that an autoscaler takes away.
bool may_restart(const Scenario& scenario, std::span<const Machine> machines) {
  if (scenario.policy.driver == Driver::Counting) return false;
  const FaultParams& faults = scenario.faults;
  const bool has_cables = scenario.network.level == NetworkLevel::Flow;
  return faults.strike_nodes() || !faults.ranks.empty() || !faults.links.list.empty() ||
         !faults.links.random.empty() || scenario.control_plane.autoscaler ||
         (has_cables && std::ranges::any_of(machines, lacks_nics));
}

// Of stores that are read: by datasets always.
void check_reads(const std::vector<Training>& all, Checker& c) {
  bool shares = false, keeps = false;
  for (const Training& training : all) {
    const auto& dataset = training.params->dataset;
    if (!dataset || !training.has_gangs) continue;
    const bool is_local = dataset->store == kLocalStore;
    shares = shares || !is_local;
    keeps = keeps || is_local || dataset->cache;
  }
  const auto refuse = [&](const std::string& field, bool is_read) {
    if (is_read || !c.is_given(field)) return;
    c.error(field,
            "has no effect: nothing stops a job, so that no checkpoint is read back (see faults)");
  };
  refuse("storage.node.read", shares);
  refuse("storage.local.read", keeps);
}

}  // namespace

void check_restarts(const Scenario& scenario, std::span<const Machine> machines, Checker& c) {
  const bool restarts = may_restart(scenario, machines);
  const bool stops = restarts || scenario.policy.job_queue;
  const std::vector<Training> all = trainings(scenario.workload);
  for (const Training& training : all) {
    const auto refuse = [&](std::string_view field, std::string_view why) {
      const std::string at = training.path + "." + std::string{field};
      if (c.is_given(at)) c.error(at, std::string{why});
    };
    constexpr std::string_view kNoFailure =
        "has no effect: nothing fails, so that no job restarts (see faults)";
    if (!restarts) refuse("restart_scope", kNoFailure);
    if (!restarts) refuse("restarts_max", kNoFailure);
    if (!stops) refuse("restore", "has no effect: nothing stops a job (see faults)");
  }
  if (!stops) check_reads(all, c);
}

}  // namespace orrery
