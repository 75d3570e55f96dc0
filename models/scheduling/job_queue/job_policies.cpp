#include "models/scheduling/job_queue/job_policies.hpp"

#include <algorithm>

#include "models/scheduling/contract/policy_registry.hpp"
#include "sim/core/check.hpp"

namespace orrery {

JobPolicies::JobPolicies(JobBoard& board, const JobQueueParams& params) {
  for (const JobPolicyParams& policy : resolve_job_policies(params)) add(board, policy);
  ORRERY_CHECK(order_.plugin != nullptr && plan_.plugin != nullptr,
               "job queues are checked before the run");
}

void JobPolicies::add(JobBoard& board, const JobPolicyParams& params) {
  const PolicyRegistry::Entry* const entry = PolicyRegistry::instance().find(params.name);
  ORRERY_CHECK(entry != nullptr && entry->make_for_jobs, "job queues are checked before the run");
  const std::string& name = names_.emplace_back(params.name);
  ask(name, [&] { policies_.push_back(entry->make_for_jobs(board, params.args)); });
  Policy* const policy = policies_.back().get();
  if (auto* order = dynamic_cast<QueueOrder*>(policy)) order_ = {order, &name};
  if (auto* plan = dynamic_cast<Plan*>(policy)) plan_ = {plan, &name};
  if (auto* admit = dynamic_cast<Admit*>(policy)) admits_.push_back({admit, &name});
  if (auto* watcher = dynamic_cast<JobWatcher*>(policy)) watchers_.push_back({watcher, &name});
}

const Bound<Admit>* JobPolicies::who_refuses(const QueuedJob& job) const {
  const auto refuses = [&](const Bound<Admit>& by) { return !by.call(&Admit::admit, job); };
  const auto by = std::ranges::find_if(admits_, refuses);
  return by == admits_.end() ? nullptr : &*by;
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
