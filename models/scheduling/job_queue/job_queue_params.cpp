#include "models/scheduling/job_queue/job_queue_params.hpp"

#include <algorithm>

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

bool serves(const PolicyRegistry::Entry& entry, std::string_view point) {
  return std::ranges::find(entry.points, point) != entry.points.end();
}

bool is_served(const std::vector<JobPolicyParams>& policies, std::string_view point) {
  return std::ranges::any_of(policies, [&](const JobPolicyParams& p) {
    const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(p.name);
    return entry != nullptr && serves(*entry, point);
  });
}

}  // namespace

void JobQueueParams::check(Checker& c) const {
  if (counts.empty()) c.error("counts", "must name at least one resource");
  for (const Counted counted : counts) {
    if (std::ranges::count(counts, counted) == 1) continue;
    c.error("counts", "names a resource twice");
    break;
  }
}

std::vector<JobPolicyParams> resolve_job_policies(const JobQueueParams& params) {
  std::vector<JobPolicyParams> policies = params.policies;
  if (!is_served(policies, "QueueOrder")) policies.push_back({.name = "FIFO", .args = {}});
  if (!is_served(policies, "Plan")) policies.push_back({.name = "Strict", .args = {}});
  return policies;
}

void check_job_queue(const JobQueueParams& params, const std::string& path,
                     const config::Node& node, Diagnostics& diagnostics) {
  const PolicyRegistry& registry = PolicyRegistry::instance();
  const config::Node& listed = node["policies"];
  for (size_t i = 0; i < params.policies.size(); ++i) {
    const JobPolicyParams& p = params.policies[i];
    const std::string where = path + ".policies[" + std::to_string(i) + "]";
    const Position at = i < listed.items.size() ? listed.items[i].position : node.position;
    const PolicyRegistry::Entry* const entry = registry.find(p.name);
    if (entry == nullptr) {
      diagnostics.error(
          at, where + ".name",
          "no policy is called '" + p.name + "'" + did_you_mean(p.name, registry.names()));
    } else if (!entry->make_for_jobs) {
      diagnostics.error(at, where + ".name",
                        "'" + p.name + "' is for pods: it belongs into `policy.plugins`");
    } else {
      entry->check(p.args, where + ".args", diagnostics);
    }
  }
  for (const std::string_view point : {"QueueOrder", "Plan"}) {
    const auto n = std::ranges::count_if(params.policies, [&](const JobPolicyParams& p) {
      const PolicyRegistry::Entry* const entry = registry.find(p.name);
      return entry != nullptr && serves(*entry, point);
    });
    if (n <= 1) continue;
    diagnostics.error(
        node.position, path + ".policies",
        "at most one policy may serve " + std::string{point} + ", found " + std::to_string(n));
  }
}

}  // namespace orrery
