// models/scenario/scenario_pods.cpp -- whether images that pods name mean anything, who creates
// pods, and services.
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "models/scenario/scenario_checks.hpp"
#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/config/quantity.hpp"

namespace orrery {
namespace {

using Look = std::function<void(const PodConstraintParams& pod, const std::string& path)>;

void look_at(const ExplicitJobsParams& source, const std::string& path, const Look& look) {
  for (size_t j = 0; j < source.jobs.size(); ++j) {
    const ExplicitJobParams& job = source.jobs[j];
    const std::string at = path + ".jobs[" + std::to_string(j) + "]";
    look(job.pod, at + ".pod");
    for (size_t g = 0; g < job.gangs.size(); ++g) {
      for (size_t r = 0; r < job.gangs[g].roles.size(); ++r) {
        look(job.gangs[g].roles[r].pod,
             at + ".gangs[" + std::to_string(g) + "].roles[" + std::to_string(r) + "].pod");
      }
    }
  }
}

void look_at_all(const WorkloadParams& workload, const Look& look) {
  for (size_t i = 0; i < workload.sources.size(); ++i) {
    const std::string path = "workload.sources[" + std::to_string(i) + "]";
    const JobSourceParams& source = workload.sources[i];
    if (const auto* const listed = std::get_if<ExplicitJobsParams>(&source)) {
      look_at(*listed, path, look);
    } else if (const auto* const generator = std::get_if<GeneratorParams>(&source)) {
      look(generator->pods, path + ".pods");
    } else if (const auto* const trace = std::get_if<TraceSourceParams>(&source)) {
      look(trace->pods, path + ".pods");
    } else if (const auto* const service = std::get_if<ServiceParams>(&source)) {
      look(service->pod, path + ".pod");
    }
  }
}

// At first, or from some change on.
bool has_trait(const Scenario& scenario, Trait trait) {
  return has_trait(scenario.policy, trait) ||
         std::ranges::any_of(scenario.run.changes, [&](const ChangeParams& change) {
           return has_trait(change.policy, trait);
         });
}

// And what else says on which nodes pods may be.
void check_affinity(const Scenario& scenario, Checker& c) {
  const bool is_filtered = has_trait(scenario, Trait::HeedsPodAffinity);
  const bool is_spread = has_trait(scenario, Trait::HeedsSpread);
  bool has_terms = false;
  look_at_all(scenario.workload, [&](const PodConstraintParams& pod, const std::string& path) {
    const auto refuse = [&](bool is_given, const std::string& field) {
      if (!is_given || scenario.policy.driver != Driver::Counting) return;
      c.idle(path + "." + field,
             "has no effect with policy.driver: counting, which knows no nodes");
    };
    refuse(!pod.node_selector.empty(), "node_selector");
    refuse(!pod.tolerations.empty(), "tolerations");
    const auto check = [&](bool is_given, const std::string& field) {
      if (!is_given) return;
      if (field == "labels" ? !is_filtered && !is_spread : !is_filtered) {
        c.idle(path + "." + field, "has no effect without the plugin InterPodAffinity");
      } else if (scenario.control_plane.autoscaler && field != "labels") {
        c.error(path + "." + field,
                "does not go with control_plane.autoscaler, which packs pods by what they ask for");
      }
    };
    check(!pod.labels.empty(), "labels");
    check(!pod.affinity.empty(), "affinity");
    check(!pod.anti_affinity.empty(), "anti_affinity");
    if (!pod.topology_spread.empty() && !is_spread) {
      c.idle(path + ".topology_spread", "has no effect without the plugin PodTopologySpread");
    } else if (!pod.topology_spread.empty() && scenario.control_plane.autoscaler) {
      c.error(path + ".topology_spread",
              "does not go with control_plane.autoscaler, which packs pods by what they ask for");
    }
    has_terms = has_terms || !pod.affinity.empty() || !pod.anti_affinity.empty();
  });
  for (size_t i = 0; has_terms && is_filtered && i < scenario.run.changes.size(); ++i) {
    if (has_trait(scenario.run.changes[i].policy, Trait::HeedsPodAffinity)) continue;
    c.error("run.changes[" + std::to_string(i) + "].policy",
            "has no InterPodAffinity, which pods with affinity or anti_affinity need");
  }
}

// Gang schedulers bind no pod before enough of its gang are there.
bool places_gangs(const PolicyParams& policy) {
  return policy.driver == Driver::PerGang ||
         (policy.base != ProfileBase::Default && policy.base != ProfileBase::Empty);
}

void check_controllers(const Scenario& scenario, Checker& c) {
  for (size_t i = 0; i < scenario.workload.sources.size(); ++i) {
    const auto* const listed = std::get_if<ExplicitJobsParams>(&scenario.workload.sources[i]);
    for (size_t j = 0; listed != nullptr && j < listed->jobs.size(); ++j) {
      const ExplicitJobParams& job = listed->jobs[j];
      const std::string at =
          "workload.sources[" + std::to_string(i) + "].jobs[" + std::to_string(j) + "].controller";
      if (scenario.policy.driver == Driver::Counting && job.controller != WorkloadKind::Job) {
        c.idle(at, "has no effect with policy.driver: counting, which knows no pods");
      }
      const auto is_ordered = [](const ExplicitRoleParams& role) {
        return role.controller == WorkloadKind::OrderedStatefulSet && role.pods > 1;
      };
      const bool has_ordered_role =
          std::ranges::any_of(job.gangs, [&](const ExplicitGangParams& gang) {
            return std::ranges::any_of(gang.roles, is_ordered);
          });
      const bool gangs_wait =
          places_gangs(scenario.policy) ||
          std::ranges::any_of(scenario.run.changes, [](const ChangeParams& change) {
            return places_gangs(change.policy);
          });
      const bool waits_in_order =
          job.controller == WorkloadKind::OrderedStatefulSet || has_ordered_role;
      if (!waits_in_order || !gangs_wait || job.kind == JobKind::Pods) continue;
      const bool needs_one = job.gangs.empty() && (job.pods == 1 || job.min_available == 1);
      if (needs_one) continue;
      c.error(at,
              "the gang would wait for ever: this policy binds no pod before all that its gang "
              "needs exist, and an ordered StatefulSet creates the second when the first runs");
    }
  }
}

// That pods may have: of a trace, those that its classes are given.
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

// Of how pods come to be.
void check_creation(const Scenario& scenario, Checker& c) {
  constexpr std::string_view kInterval = "workload.controller.pod_creation_interval";
  const bool knows_pods = scenario.policy.driver != Driver::Counting;
  if (knows_pods && scenario.control_plane.level != ControlPlaneLevel::None &&
      c.is_given(kInterval)) {
    c.idle(std::string{kInterval},
           "has no effect with control_plane.level: delays or full, where the next batch waits for "
           "the answers to the last one");
  }
}

void check_preemption(const Scenario& scenario, Checker& c) {
  const bool are_equal = priorities_of(scenario.workload).size() < 2;
  const auto check = [&](const PolicyParams& policy, const std::string& path) {
    for (size_t i = 0; i < policy.plugins.size(); ++i) {
      const auto* const entry = PolicyRegistry::instance().find(policy.plugins[i].name);
      if (entry == nullptr || !has(entry->traits, Trait::Preempts)) continue;
      const std::string at = path + ".plugins[" + std::to_string(i) + "]";
      if (are_equal) c.idle(at, "has no effect: all pods have the same priority");
      if (scenario.control_plane.level == ControlPlaneLevel::None &&
          policy.plugins[i].args.node.find("async") != nullptr) {
        c.idle(at + ".args.async",
               "has no effect: pods are deleted through API servers with control_plane.level: "
               "delays or full");
      }
    }
  };
  check(scenario.policy, "policy");
  for (size_t i = 0; i < scenario.run.changes.size(); ++i) {
    check(scenario.run.changes[i].policy, "run.changes[" + std::to_string(i) + "].policy");
  }
  constexpr std::string_view kTermination = "workload.controller.termination";
  if (!c.is_given(kTermination) || may_preempt(scenario)) return;
  if (!has_trait(scenario, Trait::Preempts)) {
    c.warning(std::string{kTermination}, "has no effect without the plugin DefaultPreemption");
  } else if (are_equal) {
    c.idle(std::string{kTermination},
           "has no effect: no pod is preempted, since all have the same priority");
  }
}

}  // namespace

// A policy that is loaded may, whatever the priorities.
bool may_preempt(const Scenario& scenario) {
  const auto is_loaded = [](const PolicyParams& policy) {
    return has_loaded_for(policy, PostFilter::kPoint);
  };
  return (has_trait(scenario, Trait::Preempts) && priorities_of(scenario.workload).size() > 1) ||
         is_loaded(scenario.policy) ||
         std::ranges::any_of(scenario.run.changes,
                             [&](const ChangeParams& change) { return is_loaded(change.policy); });
}

// Services in the workload: as pods that nobody holds back.
void check_services(const Scenario& scenario, Checker& c) {
  for (size_t i = 0; i < scenario.workload.sources.size(); ++i) {
    const auto* const service = std::get_if<ServiceParams>(&scenario.workload.sources[i]);
    if (service == nullptr) continue;
    if (scenario.policy.job_queue) {
      c.error("workload.sources[" + std::to_string(i) + "]",
              "a service does not go with policy.job_queue, which is for jobs that end");
    }
  }
}

void check_pods(const Scenario& scenario, Checker& c) {
  check_controllers(scenario, c);
  check_creation(scenario, c);
  check_affinity(scenario, c);
  check_preemption(scenario, c);
  const bool is_scored = has_trait(scenario, Trait::HeedsImages);
  const bool is_pulled = scenario.control_plane.level != ControlPlaneLevel::None;
  std::map<std::string, Bytes> sizes;
  look_at_all(scenario.workload, [&](const PodConstraintParams& pod, const std::string& path) {
    if (!pod.image) return;
    if (!is_pulled && !is_scored) {
      c.idle(path + ".image",
             "has no effect: nodes pull images with control_plane.level: delays or full, and no "
             "plugin scores them");
    }
    const auto [at, is_new] = sizes.try_emplace(pod.image->name, pod.image->size);
    if (is_new || at->second == pod.image->size) return;
    c.error(path + ".image.size", "the image '" + pod.image->name + "' has " +
                                      format_quantity(at->second) + " elsewhere");
  });
  if (is_pulled && sizes.empty() && c.is_given("control_plane.image_pulls")) {
    c.idle("control_plane.image_pulls", "has no effect: no pod names an image");
  }
}

}  // namespace orrery
