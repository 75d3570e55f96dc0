// models/controllers/disruption_budgets.hpp -- PodDisruptionBudgets: which evictions are allowed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "models/workload/job/disruption_budget_params.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// The arithmetic of the disruption controller and of the Eviction API. For each budget
//   expected = sum of the pods that the owners of selected pods want; if min_available is an
//              integer, the number of selected pods that exist
//   desired  = min_available (a percentage is of expected), or expected - max_unavailable
//   healthy  = selected pods that are ready, not terminating and not in DisruptedPods
//   allowed  = max(0, healthy - desired); 0 if expected is 0
// Example: a budget with min_available 50 % selects 7 pods. Then desired = ceil(3.5) = 4, so 3 of 7
// healthy pods may be evicted. An allowed eviction puts the pod into DisruptedPods for 2 min, or
// until the pod is created again.
class DisruptionBudgets {
 public:
  static constexpr Duration kEntryLasts = 2_min;
  using Replicas = std::function<int32_t(JobId service)>;

  // `replicas` returns the present number of replicas of a service.
  DisruptionBudgets(const JobTable& jobs, std::vector<DisruptionBudgetParams> params,
                    Replicas replicas);

  struct Status {
    int32_t expected = 0, desired = 0, healthy = 0;
    bool has_failed = false;  // an owner has no scale subresource, so no eviction is allowed
    int32_t allowed() const {
      if (has_failed || expected <= 0 || healthy < desired) return 0;
      return healthy - desired;
    }
  };
  size_t size() const { return params_.size(); }
  Status status(uint32_t budget, Time now) const;
  std::vector<uint32_t> of(PodId pod) const;  // indices of the budgets that select the pod

  enum class Verdict : uint8_t { Allowed, TooManyRequests, SeveralBudgets };
  struct Answer {
    Verdict verdict = Verdict::Allowed;
    std::string budget = {};  // the budget that forbids the eviction
  };
  // Decides as the Eviction API does. An allowed eviction uses up one disruption of the pod's
  // budget. It uses up none if the pod is pending, or if the pod is unready and the budget's
  // `unhealthy` policy allows its eviction.
  Answer evict(PodId pod, Time now);
  static bool is_ready(const Pod& pod, Time now);

 private:
  struct Entry {  // entry of DisruptedPods
    uint64_t generation = 0;
    Time since;
  };
  bool selects(const DisruptionBudgetParams& budget, PodId pod) const;
  bool is_disrupted(PodId pod, Time now) const;

  const JobTable& jobs_;
  std::vector<DisruptionBudgetParams> params_;
  Replicas replicas_;
  std::map<PodId, Entry> disrupted_;
};

}  // namespace orrery
