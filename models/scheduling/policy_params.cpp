#include "models/scheduling/policy_params.hpp"

#include <algorithm>
#include <vector>

namespace orrery {
namespace {

// The driver has no use for what places pods, and needs what starts jobs.
void check_counting(const PolicyParams& policy, const std::string& path, const config::Node& node,
                    Diagnostics& diagnostics) {
  if (!policy.job_queue) {
    diagnostics.error(node["driver"].position, path + ".driver",
                      "counting needs a `job_queue`, which starts the jobs");
  }
  if (!policy.plugins.empty()) {
    diagnostics.idle(node["plugins"].position, path + ".plugins",
                     "have no effect with driver: counting, which places no pods");
  }
  constexpr const char* kNoPods = "has no effect with driver: counting, which places no pods";
  for (const char* field :
       {"disable", "percentage_of_nodes_to_score", "tie_break", "queue", "cost"}) {
    const config::Node* const given = node.find(field);
    if (given != nullptr) diagnostics.idle(given->position, path + "." + field, kNoPods);
  }
  // A warning: another driver is tried on the profile that there is.
  const config::Node* const base = node.find("base");
  if (base != nullptr) diagnostics.warning(base->position, path + ".base", kNoPods);
}

}  // namespace

bool takes_gpus(const PolicyParams& policy) {
  if (policy.driver != Driver::Counting || !policy.job_queue) return true;
  const std::vector<Counted>& counts = policy.job_queue->counts;
  return std::ranges::find(counts, Counted::Gpus) != counts.end();
}

void check_policy(const PolicyParams& policy, const std::string& path, const config::Node& node,
                  Diagnostics& diagnostics) {
  if (policy.driver == Driver::Counting) check_counting(policy, path, node, diagnostics);
  if (policy.job_queue) {
    check_job_queue(*policy.job_queue, path + ".job_queue", node["job_queue"], diagnostics);
  }
  check_profile(policy, path, node, diagnostics);
}

}  // namespace orrery
