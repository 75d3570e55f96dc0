// models/scenario/scenario_pods.cpp -- checks of pods' images, affinity and controllers, and of
// services.
#include <algorithm>
#include <functional>
#include <map>
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

// True if the policy, or a policy of run.changes, has the trait.
bool has_trait(const Scenario& scenario, Trait trait) {
  return has_trait(scenario.policy, trait) ||
         std::ranges::any_of(scenario.run.changes, [&](const ChangeParams& change) {
           return has_trait(change.policy, trait);
         });
}

void check_affinity(const Scenario& scenario, Checker& c) {
  const bool is_filtered = has_trait(scenario, Trait::HeedsPodAffinity);
  const bool is_spread = has_trait(scenario, Trait::HeedsSpread);
  bool has_terms = false;
  look_at_all(scenario.workload, [&](const PodConstraintParams& pod, const std::string& path) {
    const auto refuse = [&](bool is_heeded, const std::string& field) {
      if (!is_heeded || !scenario.control_plane.autoscaler) return;
      c.error(path + "." + field,
              "does not go with control_plane.autoscaler, which packs pods by what they ask for");
    };
    refuse(is_filtered && !pod.affinity.empty(), "affinity");
    refuse(is_filtered && !pod.anti_affinity.empty(), "anti_affinity");
    refuse(is_spread && !pod.topology_spread.empty(), "topology_spread");
    has_terms = has_terms || !pod.affinity.empty() || !pod.anti_affinity.empty();
  });
  for (size_t i = 0; has_terms && is_filtered && i < scenario.run.changes.size(); ++i) {
    if (has_trait(scenario.run.changes[i].policy, Trait::HeedsPodAffinity)) continue;
    c.error("run.changes[" + std::to_string(i) + "].policy",
            "has no InterPodAffinity, which pods with affinity or anti_affinity need");
  }
}

// True for gang schedulers: they bind a pod only once enough pods of its gang exist.
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
              "the gang would wait for ever: this policy binds no pod until enough pods of its "
              "gang exist, but an ordered StatefulSet creates its second pod when the first runs");
    }
  }
}

}  // namespace

// Reports services in a scenario with policy.job_queue, which is for jobs that end.
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
  check_affinity(scenario, c);
  std::map<std::string, Bytes> sizes;
  look_at_all(scenario.workload, [&](const PodConstraintParams& pod, const std::string& path) {
    if (!pod.image) return;
    const auto [at, is_new] = sizes.try_emplace(pod.image->name, pod.image->size);
    if (is_new || at->second == pod.image->size) return;
    c.error(path + ".image.size", "the image '" + pod.image->name + "' has " +
                                      format_quantity(at->second) + " elsewhere");
  });
}

bool has_images(const WorkloadParams& workload) {
  bool has = false;
  look_at_all(workload, [&](const PodConstraintParams& pod, const std::string&) {
    has = has || pod.image.has_value();
  });
  return has;
}

}  // namespace orrery
