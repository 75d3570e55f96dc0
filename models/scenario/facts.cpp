// models/scenario/facts.cpp -- the facts that hold for a scenario.
#include <algorithm>
#include <set>
#include <variant>
#include <vector>

#include "models/scenario/scenario_checks.hpp"
#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

struct Known {
  void set(Fact fact, bool holds) { facts[static_cast<size_t>(fact)] = holds; }

  const Scenario& scenario;
  std::vector<Training> trainings;
  bool knows_pods = true;
  Facts facts{};
};

template <class Is>
bool is_any_listed_job(const Known& known, const Is& is) {
  return std::ranges::any_of(known.scenario.workload.sources, [&](const JobSourceParams& source) {
    const auto* const listed = std::get_if<ExplicitJobsParams>(&source);
    return listed != nullptr && std::ranges::any_of(listed->jobs, is);
  });
}

// True if the scheduler has the trait at the start of the run or after one of run.changes. True
// also if a loaded plugin implements `point`, because a loaded plugin may behave like built-in
// plugins with the trait.
bool may_ever(const Scenario& scenario, Trait trait, const PointName* point = nullptr) {
  const auto may = [&](const PolicyParams& policy) {
    return has_trait(policy, trait) || (point != nullptr && has_loaded_for(policy, *point));
  };
  return may(scenario.policy) ||
         std::ranges::any_of(scenario.run.changes, may, &ChangeParams::policy);
}

// All priorities that pods may have. A trace adds those of its three priority classes.
std::set<int32_t> priorities_of(const WorkloadParams& workload) {
  std::set<int32_t> found;
  for (const JobSourceParams& source : workload.sources) {
    if (const auto* const listed = std::get_if<ExplicitJobsParams>(&source)) {
      for (const ExplicitJobParams& job : listed->jobs) found.insert(job.priority);
    } else if (const auto* const service = std::get_if<ServiceParams>(&source)) {
      found.insert(service->priority);
    } else if (const auto* const trace = std::get_if<TraceSourceParams>(&source)) {
      found.insert({trace->priority_low, trace->priority_normal, trace->priority_high});
    } else if (const auto* const generator = std::get_if<GeneratorParams>(&source)) {
      if (generator->priorities.empty()) found.insert(0);
      for (const PriorityParams& one : generator->priorities) {
        if (one.weight > 0) found.insert(one.priority);
      }
    }
  }
  return found;
}

bool is_elastic(const ExplicitJobParams& job) {
  const auto may_lack = [](const ExplicitGangParams& gang) { return gang.min_available != 0; };
  return job.kind == JobKind::MpiGang &&
         (job.min_available != 0 || std::ranges::any_of(job.gangs, may_lack));
}

bool ends_by_itself(const ExplicitJobParams& job) {
  return std::ranges::any_of(job.gangs, [](const ExplicitGangParams& gang) {
    return std::ranges::any_of(gang.roles, [](const ExplicitRoleParams& role) {
      return role.endings && !role.endings->empty();
    });
  });
}

// True if the queue policy may stop running jobs. Any policy that is not built in may stop them if
// it implements Plan.
bool may_stop_jobs(const JobPolicyParams& policy) {
  const auto* const entry = PolicyRegistry::instance().find(policy.name);
  return is_loaded_for(policy.name, policy.args, Plan::kPoint) ||
         (entry != nullptr && has(entry->traits, Trait::StopsJobs));
}

void find_plane(Known& known) {
  const Scenario& scenario = known.scenario;
  const ControlPlaneParams& plane = scenario.control_plane;
  const bool is_full = plane.level == ControlPlaneLevel::Full;
  const bool boot = scenario.faults.strike_nodes() || !plane.joins.empty() || plane.autoscaler;
  const bool has_services = !plane.services.groups.empty();
  known.set(Fact::ControlPlane, plane.level != ControlPlaneLevel::None);
  known.set(Fact::FullPlane, is_full);
  known.set(Fact::EtcdReads, is_full && plane.reads_etcd());
  known.set(Fact::Lists,
            boot || (is_full && (!plane.losses.empty() || plane.has_readers() || plane.namespaces ||
                                 has_services || plane.api_servers.server.heap.limit)));
  known.set(Fact::NewNodes, !plane.joins.empty() || plane.autoscaler);
  known.set(Fact::NodeGroups, plane.level != ControlPlaneLevel::None && plane.autoscaler);
  known.set(Fact::NodeBoots, boot);
  // With level `full`, nodes may fall silent even in runs without node boots: heartbeats cannot be
  // stored if no API server is up, or if etcd is full or has no quorum.
  known.set(Fact::SilentNodes, boot || is_full);
  known.set(Fact::RecordedEvents, boot || plane.events);
  known.set(Fact::NodeAddresses, !is_full || !has_services);
  known.set(Fact::CrashLoops, !plane.crash_loops.empty());
  known.set(Fact::DeletedNamespaces,
            plane.namespaces && plane.namespaces->per_job && plane.namespaces->deleted);
  known.set(Fact::NamespaceAskers, plane.namespaces && !plane.namespaces->askers.empty());
  known.set(Fact::Images,
            has_images(scenario.workload) &&
                (plane.level != ControlPlaneLevel::None || may_ever(scenario, Trait::HeedsImages)));
  known.set(Fact::PodBatches, plane.level == ControlPlaneLevel::None);
}

void find_network(Known& known) {
  const NetworkParams& network = known.scenario.network;
  const LinkFaultParams& faults = known.scenario.faults.links;
  const auto is_ever = [&](bool (*is)(RoutingEngine)) {
    return is(network.routing.engine) ||
           std::ranges::any_of(faults.routing, is, &RoutingChangeParams::engine);
  };
  const auto has = [&](LinkFlawKind kind) {
    const auto is_of = [&](const auto& fault) { return kind_of(fault.flaw) == kind; };
    return std::ranges::any_of(faults.list, is_of) || std::ranges::any_of(faults.random, is_of);
  };
  known.set(Fact::NetworkTime, network.level != NetworkLevel::None);
  known.set(Fact::Links, network.level == NetworkLevel::Flow);
  known.set(Fact::AdaptiveRouting, is_ever(is_adaptive));
  known.set(Fact::FlowsApart, is_ever(tells_flows_apart));
  known.set(Fact::DownLinks, has(LinkFlawKind::Dead) || has(LinkFlawKind::Flap));
  known.set(Fact::DamagedPackets, has(LinkFlawKind::Degraded));
}

void find_steps(Known& known) {
  bool steps = false, exchanges = false, crossing = false, adds_up = false;
  for (const Training& training : known.trainings) {
    const std::optional<StepParams>& step = training.params->step;
    if (!step || !training.has_jobs) continue;
    steps = true;
    if (!training.has_gangs || !step->has_exchanges()) continue;
    exchanges = true;
    if (!training.has_gangs_of_pods) continue;
    crossing = true;
    adds_up = adds_up || step->model ||
              std::ranges::any_of(step->exchanges, [](const ExchangeParams& one) {
                return one.collective == Collective::AllReduce;
              });
  }
  known.set(Fact::Steps, steps);
  known.set(Fact::Exchanges, exchanges);
  known.set(Fact::CrossingExchanges, crossing);
  known.set(Fact::AllReduces, adds_up);
}

void find_jobs(Known& known) {
  const WorkloadParams& workload = known.scenario.workload;
  const auto has = [&](bool Training::*what) { return std::ranges::any_of(known.trainings, what); };
  const bool has_trace = std::ranges::any_of(workload.sources, [](const JobSourceParams& source) {
    return std::holds_alternative<TraceSourceParams>(source);
  });
  known.set(Fact::SharedTraining, known.trainings.front().has_jobs);
  known.set(Fact::Gangs, has(&Training::has_gangs));
  known.set(Fact::GangsOfPods, has(&Training::has_gangs_of_pods));
  known.set(Fact::GpuJobs, has(&Training::has_gpus));
  known.set(Fact::Communicators, has(&Training::has_ranks));
  known.set(Fact::ElasticGangs, known.knows_pods && is_any_listed_job(known, is_elastic));
  known.set(Fact::IndependentPods, is_any_listed_job(known, [](const ExplicitJobParams& job) {
              return job.kind == JobKind::Pods;
            }));
  known.set(Fact::Requests, has_trace || is_any_listed_job(known, [](const ExplicitJobParams& job) {
                              return job.requested.has_value();
                            }));
  known.set(Fact::HeededRequests,
            known.scenario.policy.job_queue || workload.controller.overruns == Overruns::Kill);
}

// Sets the facts about stops of jobs. Jobs fail when one of their nodes or ranks fails, an
// autoscaler removes one of their nodes, NCCL gives up on blocked exchanges, or the scenario lists
// an ending.
void find_stops(Known& known) {
  const Scenario& scenario = known.scenario;
  const FaultParams& faults = scenario.faults;
  const auto& queue = scenario.policy.job_queue;
  const bool are_unequal = priorities_of(scenario.workload).size() > 1;
  const auto may_preempt = [&](Trait trait) {
    return may_ever(scenario, are_unequal ? trait : Trait::None, &PostFilter::kPoint);
  };
  // Controllers may evict pods and suspend jobs.
  const bool preempts = known.knows_pods &&
                        (may_preempt(Trait::Preempts) || may_preempt(Trait::PreemptsGangs) ||
                         !scenario.policy.controllers.empty() || scenario.control_plane.autoscaler);
  const bool has_endings = is_any_listed_job(known, ends_by_itself) ||
                           std::ranges::any_of(known.trainings, [](const Training& training) {
                             return !training.params->endings.empty();
                           });
  const bool fails = known.knows_pods &&
                     (!faults.ranks.empty() || scenario.network.level == NetworkLevel::Flow ||
                      faults.strike_nodes() || scenario.control_plane.autoscaler || has_endings);
  const bool queue_stops = queue && std::ranges::any_of(queue->policies, may_stop_jobs);
  known.set(Fact::Priorities, are_unequal);
  known.set(Fact::Preemption, preempts);
  known.set(Fact::Failures, fails);
  known.set(Fact::Restarts, fails || preempts);
  known.set(Fact::Stops, fails || preempts || queue_stops);
  known.set(Fact::QueueStops, queue_stops);
  known.set(Fact::LostWork,
            fails || preempts || scenario.workload.controller.overruns == Overruns::Kill);
  known.set(Fact::Hangs,
            !faults.ranks.empty() ||
                (scenario.control_plane.level != ControlPlaneLevel::None && faults.strike_nodes()));
}

void find_stores(Known& known) {
  bool shared_writes = false, shared_reads = false, local_writes = false, local_reads = false;
  for (const Training& training : known.trainings) {
    if (!training.has_gangs) continue;
    if (const auto& checkpoint = training.params->checkpoint) {
      (checkpoint->store == kLocalStore ? local_writes : shared_writes) = true;
    }
    if (const auto& dataset = training.params->dataset) {
      (dataset->store == kLocalStore ? local_reads : shared_reads) = true;
      local_reads = local_reads || dataset->cache;
    }
  }
  known.set(Fact::SharedStores, shared_writes || shared_reads);
  known.set(Fact::SharedWrites, shared_writes);
  known.set(Fact::LocalDisks, local_writes || local_reads);
  known.set(Fact::LocalWrites, local_writes);
}

void find_policies(Known& known) {
  const bool has_affinity = may_ever(known.scenario, Trait::HeedsPodAffinity);
  const bool spreads = may_ever(known.scenario, Trait::HeedsSpread);
  known.set(Fact::Pods, known.knows_pods);
  known.set(Fact::CountedJobs, !known.knows_pods);
  known.set(Fact::PermitTimeouts, may_ever(known.scenario, Trait::WaitsInPermit, &Permit::kPoint));
  known.set(Fact::PodAffinity, has_affinity);
  known.set(Fact::PodSpread, spreads);
  const auto by_labels = [](const DisruptionBudgetParams& budget) {
    return !budget.labels.empty();
  };
  const bool selects = std::ranges::any_of(known.scenario.workload.disruption_budgets, by_labels);
  known.set(Fact::PodLabels, has_affinity || spreads || selects);
  known.set(Fact::Controllers,
            !known.scenario.policy.controllers.empty() || known.scenario.control_plane.autoscaler);
}

}  // namespace

Facts facts_of(const Scenario& scenario) {
  Known known{.scenario = scenario,
              .trainings = trainings(scenario.workload),
              .knows_pods = scenario.policy.driver != Driver::Counting};
  for (const auto find :
       {find_plane, find_network, find_steps, find_jobs, find_stops, find_stores, find_policies}) {
    find(known);
  }
  return known.facts;
}

Facts facts_of(const Scenario& scenario, std::span<const Machine> machines, const Fabric& fabric) {
  Facts facts{};
  facts[static_cast<size_t>(Fact::NvlinkSwitches)] = has_nvls(machines);
  if (scenario.network.level != NetworkLevel::Flow) return facts;
  facts[static_cast<size_t>(Fact::Spines)] = fabric.tree().levels > 1;
  return facts;
}

}  // namespace orrery
