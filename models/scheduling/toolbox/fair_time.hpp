// models/scheduling/toolbox/fair_time.hpp -- the share of its time that each job should spend on
// each GPU model.
//
// Gavel's allocation (OSDI'20). Of m jobs, job j requests s_j GPUs and runs at speed v_jk on model
// k, which has W_k GPUs. x_jk is the share of time on k: sum_k x_jk <= 1 and sum_j s_j x_jk <= W_k.
// Jobs that request more than W_k have no share of k.
#pragma once

#include <span>
#include <vector>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

struct FairTimeJob {
  double gpus = 1, weight = 1;
  std::vector<double> speed;  // by model
  // For finish times, in seconds: time since submission; the time that its work so far would have
  // taken on its own part of the cluster; and the remaining time at speed 1.
  double elapsed = 0, isolated = 0, left = 0;
};
struct FairTime {
  double value = 0;                    // of the objective
  std::vector<std::vector<double>> x;  // by job, by model
};

// Maximises the least of s_j sum_k x_jk v_jk / (w_j v_j), where v_j is the mean speed over all
// GPUs. The rest goes to jobs that can still use it: with one model by water filling in O(m log m),
// with several by a second linear program that maximises the sum. Example: 4 GPUs of one model, two
// jobs of 4 GPUs and equal weight: each has a share of 1/2.
ORRERY_API FairTime max_min_time(std::span<const FairTimeJob> jobs, std::span<const double> gpus);

// Minimises the largest rho_j = (elapsed + left / sum_k x_jk v_jk) / (isolated + left / u_j), to
// one part in 10,000; u_j is the speed on 1/m of each model. Each of some 20 bisections costs O(m)
// with one model, else a linear program.
ORRERY_API FairTime finish_time(std::span<const FairTimeJob> jobs, std::span<const double> gpus);
ORRERY_API double speed_alone(const FairTimeJob& job, std::span<const double> gpus, size_t jobs);

}  // namespace orrery
