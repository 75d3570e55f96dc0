#include "models/scheduling/policy_params.hpp"

#include <algorithm>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {

bool takes_gpus(const PolicyParams& policy) {
  if (policy.driver != Driver::Counting || !policy.job_queue) return true;
  const std::vector<Counted>& counts = policy.job_queue->counts;
  return std::ranges::find(counts, Counted::Gpus) != counts.end();
}

bool needs_process(const PolicyParams& policy) {
  const auto needs = [](const auto& one) {
    const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(one.name);
    return entry != nullptr && has(entry->traits, Trait::NeedsProcess);
  };
  return std::ranges::any_of(resolve_plugins(policy), needs) ||
         (policy.job_queue && std::ranges::any_of(policy.job_queue->policies, needs)) ||
         std::ranges::any_of(policy.controllers, needs);
}

void check_policy(const PolicyParams& policy, const std::string& path, const config::Node& node,
                  Diagnostics& diagnostics) {
  if (policy.driver == Driver::Counting && !policy.job_queue) {
    diagnostics.error(node["driver"].position, path + ".driver",
                      "counting needs a `job_queue`, which starts the jobs");
  }
  if (policy.job_queue) {
    check_job_queue(*policy.job_queue, path + ".job_queue", node["job_queue"], diagnostics);
  }
  check_controllers(policy.controllers, path + ".controllers", node["controllers"], diagnostics);
  check_profile(policy, path, node, diagnostics);
}

}  // namespace orrery
