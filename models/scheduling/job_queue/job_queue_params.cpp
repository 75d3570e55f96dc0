#include "models/scheduling/job_queue/job_queue_params.hpp"

#include <algorithm>

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

// How many policies implement the extension point.
int64_t count_of(const std::vector<JobPolicyParams>& policies, const PointName& point) {
  return std::ranges::count_if(policies, [&](const JobPolicyParams& p) {
    const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(p.name);
    return entry != nullptr && entry->serves(point, p.args);
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
  if (count_of(policies, QueueOrder::kPoint) == 0) policies.push_back({.name = "FIFO", .args = {}});
  if (count_of(policies, Plan::kPoint) == 0) policies.push_back({.name = "Strict", .args = {}});
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
      diagnostics.error(at, where + ".name", PolicyRegistry::instance().no_policy_called(p.name));
    } else if (!entry->make_for_jobs) {
      diagnostics.error(at, where + ".name", entry->misplaced(p.name, p.args));
    } else {
      const size_t mistakes = diagnostics.count();
      entry->check(p.args, where + ".args", diagnostics);
      if (diagnostics.count() == mistakes && !entry->serves_jobs(p.args)) {
        diagnostics.error(at, where, entry->misplaced(p.name, p.args));
      }
    }
  }
  for (const PointName& point : {QueueOrder::kPoint, Plan::kPoint}) {
    const int64_t n = count_of(params.policies, point);
    if (n <= 1) continue;
    diagnostics.error(
        node.position, path + ".policies",
        "at most one policy may serve " + std::string{point.name} + ", found " + std::to_string(n));
  }
}

}  // namespace orrery
