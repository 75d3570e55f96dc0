#include "models/controllers/disruption_budgets.hpp"

#include <algorithm>
#include <utility>

namespace orrery {

DisruptionBudgets::DisruptionBudgets(const JobTable& jobs,
                                     std::vector<DisruptionBudgetParams> params, Replicas replicas)
    : jobs_{jobs}, params_{std::move(params)}, replicas_{std::move(replicas)} {}

bool DisruptionBudgets::is_ready(const Pod& pod, Time now) {
  const bool has_node = pod.state == PodState::Bound || pod.state == PodState::Running;
  return has_node && pod.started <= now && !pod.is_terminating;
}

bool DisruptionBudgets::selects(const DisruptionBudgetParams& budget, PodId id) const {
  const Pod& pod = jobs_.pod(id);
  if (!budget.team.empty() && jobs_.job(pod.job).spec.team != budget.team) return false;
  const std::vector<NodeLabel>& has = jobs_.spec(id).labels;
  return std::ranges::all_of(budget.labels, [&](const auto& wanted) {
    return std::ranges::count(has, NodeLabel{wanted.first, wanted.second}) > 0;
  });
}

std::vector<uint32_t> DisruptionBudgets::of(PodId pod) const {
  std::vector<uint32_t> budgets;
  for (uint32_t i = 0; i < params_.size(); ++i) {
    if (selects(params_[i], pod)) budgets.push_back(i);
  }
  return budgets;
}

bool DisruptionBudgets::is_disrupted(PodId pod, Time now) const {
  const auto at = disrupted_.find(pod);
  return at != disrupted_.end() && at->second.generation == jobs_.pod(pod).generation &&
         now - at->second.since < kEntryLasts;
}

// If min_available is an integer, `expected` is the number of selected pods that exist. Otherwise
// each job with at least one such pod adds all its selected pods to `expected`, even those that do
// not exist. A service adds at most its number of replicas.
DisruptionBudgets::Status DisruptionBudgets::status(uint32_t number, Time now) const {
  const DisruptionBudgetParams& budget = params_[number];
  const auto limit =
      IntOrPercent::parse(budget.min_available ? *budget.min_available : *budget.max_unavailable);
  const bool counts_pods = budget.min_available && !limit->is_percent;
  Status status;
  int32_t there = 0;
  jobs_.for_each_job([&](JobId id) {
    const Job& job = jobs_.job(id);
    int32_t selected = 0, existing = 0;
    bool has_scale = true;
    JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId at) {
      if (!selects(budget, at)) return;
      ++selected;
      const Pod& pod = jobs_.pod(at);
      if (pod.state == PodState::Absent || pod.state == PodState::Done) return;
      ++existing;
      has_scale = has_scale && (job.spec.service || jobs_.controller(at) != WorkloadKind::Job);
      if (is_ready(pod, now) && !is_disrupted(at, now)) ++status.healthy;
    });
    if (existing == 0) return;
    there += existing;
    status.expected += job.spec.service ? std::min(selected, replicas_(id)) : selected;
    status.has_failed = status.has_failed || (!has_scale && !counts_pods);
  });
  if (counts_pods) status.expected = there;
  const int32_t amount = limit->of(status.expected);
  status.desired = budget.min_available ? amount : std::max(status.expected - amount, 0);
  return status;
}

DisruptionBudgets::Answer DisruptionBudgets::evict(PodId id, Time now) {
  const Pod& pod = jobs_.pod(id);
  if (pod.state == PodState::Pending) return {};  // upstream deletes pending pods without a check
  const std::vector<uint32_t> budgets = of(id);
  if (budgets.empty()) return {};
  const DisruptionBudgetParams& budget = params_[budgets.front()];
  if (budgets.size() > 1) return {Verdict::SeveralBudgets, budget.name};
  const Status state = status(budgets.front(), now);
  if (!is_ready(pod, now)) {
    const bool is_healthy = state.healthy >= state.desired && state.desired > 0;
    if (budget.unhealthy == UnhealthyPodEviction::AlwaysAllow || is_healthy) return {};
  }
  if (state.allowed() == 0) return {Verdict::TooManyRequests, budget.name};
  disrupted_[id] = {pod.generation, now};
  std::erase_if(disrupted_, [&](const auto& entry) { return !is_disrupted(entry.first, now); });
  return {};
}

}  // namespace orrery
