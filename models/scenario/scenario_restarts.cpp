// models/scenario/scenario_restarts.cpp -- what matters only to jobs that something stops.
#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/scenario/scenario_checks.hpp"
#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

bool lacks_nics(const Machine& machine) {
  const auto serves = [](const Nic& nic) {
    return nic.role == NicRole::Compute && nic.bandwidth > Bandwidth{};
  };
  return machine.gpus() > 0 && std::ranges::none_of(machine.nics, serves);
}

// Plans that share time among jobs; a loaded one may, too.
bool stops_jobs(const std::optional<JobQueueParams>& queue) {
  return queue && std::ranges::any_of(queue->policies, [&](const JobPolicyParams& policy) {
           const auto* const entry = PolicyRegistry::instance().find(policy.name);
           return is_loaded_for(policy.name, Plan::kPoint) ||
                  (entry != nullptr && has(entry->traits, Trait::StopsJobs));
         });
}

// What may stop a job, so that it restarts or is resumed.
struct Stops {
  bool by_failures = false;   // of whatever kind
  bool by_others = false;     // pods of higher priority, which counts for no limit of restarts
  bool by_queue = false;      // for another job, which the queue resumes it after
  bool leaves_disks = false;  // the disks of its nodes keep what they hold
  bool restarts() const { return by_failures || by_others; }
  bool any() const { return restarts() || by_queue; }
};

bool ends_by_itself(const ExplicitJobParams& job) {
  return std::ranges::any_of(job.gangs, [](const ExplicitGangParams& gang) {
    return std::ranges::any_of(gang.roles, [](const ExplicitRoleParams& role) {
      return role.endings && !role.endings->empty();
    });
  });
}

bool has_endings(const WorkloadParams& workload) {
  const auto all = trainings(workload);
  const auto draws = [](const Training& training) { return !training.params->endings.empty(); };
  if (std::ranges::any_of(all, draws)) return true;
  return std::ranges::any_of(workload.sources, [](const JobSourceParams& source) {
    const auto* const listed = std::get_if<ExplicitJobsParams>(&source);
    return listed != nullptr && std::ranges::any_of(listed->jobs, ends_by_itself);
  });
}

// Gangs fail when a rank dies, when NCCL gives up on exchanges that cannot move, and with any of
// their nodes, as pods do; an autoscaler may take a node away, too.
Stops stops_of(const Scenario& scenario, std::span<const Machine> machines) {
  const FaultParams& faults = scenario.faults;
  const bool knows_pods = scenario.policy.driver != Driver::Counting;
  const bool gives_up =
      !faults.links.list.empty() || !faults.links.random.empty() ||
      (scenario.network.level == NetworkLevel::Flow && std::ranges::any_of(machines, lacks_nics));
  const bool on_live_nodes = knows_pods && (!faults.ranks.empty() || gives_up);
  const bool with_nodes =
      knows_pods && (faults.strike_nodes() || scenario.control_plane.autoscaler);
  const bool by_others = knows_pods && may_preempt(scenario);
  const bool by_queue = stops_jobs(scenario.policy.job_queue);
  const bool by_itself = knows_pods && has_endings(scenario.workload);
  return {.by_failures = on_live_nodes || with_nodes || by_itself,
          .by_others = by_others,
          .by_queue = by_queue,
          .leaves_disks = on_live_nodes || by_others || by_queue || by_itself};
}

constexpr std::string_view kNoFailure =
    "has no effect: no failure stops a job, so that none restarts (see faults)";

// Warnings: faults and priorities may come and go from run to run of a study.
void check_section(const Training& training, const Scenario& scenario, const Stops& stops,
                   Checker& c) {
  const auto at = [&](std::string_view field) { return training.path + "." + std::string{field}; };
  const auto warn = [&](std::string_view field, std::string_view why) {
    if (c.is_given(at(field))) c.warning(at(field), std::string{why});
  };
  if (!stops.any()) warn("restore", "has no effect: nothing stops a job (see faults)");
  if (stops.by_failures) return;
  const bool is_told = scenario.policy.driver == Driver::Counting;  // of what is about pods
  if (!is_told) warn("restarts_max", kNoFailure);
  if (stops.by_others) return;
  if (!is_told) warn("restart_scope", kNoFailure);
  const bool takes_time =
      training.params->checkpoint || training.params->checkpoint_write > Duration{};
  if (takes_time || scenario.workload.controller.overruns == Overruns::Kill) return;
  warn("checkpoint_interval",
       "has no effect: checkpoints take no time (checkpoint_write, checkpoint), and no failure "
       "stops a job (see faults)");
}

// Datasets are read whatever happens.
void check_reads(const std::vector<Training>& all, const Stops& stops, Checker& c) {
  bool from_stores = stops.any(), from_disks = stops.leaves_disks;
  for (const Training& training : all) {
    const auto& dataset = training.params->dataset;
    if (!dataset || !training.has_gangs) continue;
    const bool is_local = dataset->store == kLocalStore;
    from_stores = from_stores || !is_local;
    from_disks = from_disks || is_local || dataset->cache;
  }
  const auto warn = [&](std::string_view field, std::string_view why) {
    if (c.is_given(field)) c.warning(field, std::string{why});
  };
  constexpr std::string_view kNeverStopped =
      "has no effect: nothing stops a job, so that no checkpoint is read back (see faults)";
  if (!from_stores) warn("storage.node.read", kNeverStopped);
  if (from_disks) return;
  warn("storage.local.read",
       stops.any() ? "has no effect: jobs stop with their nodes alone, whose disks are lost then"
                   : kNeverStopped);
}

}  // namespace

void check_restarts(const Scenario& scenario, std::span<const Machine> machines, Checker& c) {
  const Stops stops = stops_of(scenario, machines);
  const std::vector<Training> all = trainings(scenario.workload);
  for (const Training& training : all) check_section(training, scenario, stops, c);
  for (const std::string_view field : {"failure_detection", "restart_delay", "restart_delay_max"}) {
    const std::string at = "workload.controller." + std::string{field};
    // The delay doubles with restarts that count.
    const bool is_heeded = field == "restart_delay_max" ? stops.by_failures : stops.restarts();
    if (!is_heeded && c.is_given(at)) c.warning(at, std::string{kNoFailure});
  }
  if (scenario.policy.job_queue && !stops.by_queue && c.is_given("policy.job_queue.stops")) {
    c.warning(
        "policy.job_queue.stops",
        "has no effect: no policy of the queue stops jobs that run, as SRTF, Tiresias, Gavel, "
        "Themis and Lucid do");
  }
  if (scenario.policy.driver != Driver::Counting && c.is_given("policy.job_queue.costs")) {
    c.idle("policy.job_queue.costs",
           "has an effect with policy.driver: counting only: pods start and end in their own time");
  }
  check_reads(all, stops, c);
}

}  // namespace orrery
