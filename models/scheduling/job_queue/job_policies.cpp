#include "models/scheduling/job_queue/job_policies.hpp"

#include <algorithm>

#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/core/check.hpp"

namespace orrery {

JobPolicies::JobPolicies(JobBoard& board, const JobQueueParams& params) {
  for (const JobPolicyParams& policy : resolve_job_policies(params)) add(board, policy);
  ORRERY_CHECK(!at<QueueOrder>().empty() && !at<Plan>().empty(),
               "job queues are checked before the run");
}

void JobPolicies::add(JobBoard& board, const JobPolicyParams& params) {
  const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(params.name);
  ORRERY_CHECK(entry != nullptr && entry->make_for_jobs, "job queues are checked before the run");
  const std::string& name = names_.emplace_back(entry->label(params.name, params.args));
  ask(name, [&] { policies_.push_back(entry->make_for_jobs(board, params.args)); });
  Policy* const policy = policies_.back().get();
  const std::vector<std::string> points = entry->points_with(params.args);
  const auto bind = [&]<class P>() {
    auto* const served = dynamic_cast<P*>(policy);
    if (served == nullptr || std::ranges::count(points, P::kPoint.name) == 0) return;
    std::get<Serving<P>>(bound_).push_back({served, &name});
  };
  JobPoints::for_each(bind);
}

const Bound<Admit>* JobPolicies::who_refuses(const QueuedJob& job) const {
  const auto refuses = [&](const Bound<Admit>& by) { return !by.call(&Admit::admit, job); };
  const std::vector<Bound<Admit>>& admits = at<Admit>();
  const auto by = std::ranges::find_if(admits, refuses);
  return by == admits.end() ? nullptr : &*by;
}

std::vector<std::string> JobPolicies::notes() const {
  std::vector<std::string> notes;
  for (size_t i = 0; i < policies_.size(); ++i) {
    const auto named = ask(names_[i], [&] { return policies_[i]->named_in_vain(); });
    for (const std::string& what : named) {
      notes.push_back("policy.job_queue: " + names_[i] + ": " + what);
    }
  }
  return notes;
}

}  // namespace orrery
