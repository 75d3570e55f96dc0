// models/scheduling/toolbox/fair_time.hpp -- which share of its time each job should spend on which
// GPUs.
//
// Gavel's allocation (OSDI'20). Of m jobs, job j asks for s_j GPUs and goes at speed v_jk on
// model k, of which there are W_k. x_jk is the share of time it has on them: sum_k x_jk <= 1 and
// sum_j s_j x_jk <= W_k. Jobs that ask for more than W_k have no share of k.
#pragma once

#include <span>
#include <vector>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

struct FairTimeJob {
  double gpus = 1, weight = 1;
  std::vector<double> speed;  // by model
  // For finish times, in seconds: since it was submitted; what it has done so far would have taken
  // on its own part of the cluster; and what is left, at speed 1.
  double elapsed = 0, isolated = 0, left = 0;
};
struct FairTime {
  double value = 0;                    // of the objective
  std::vector<std::vector<double>> x;  // by job, by model
};

// Maximises the least of s_j sum_k x_jk v_jk / (w_j v_j), v_j being the mean speed over all GPUs.
// What is left after that goes to those who can still use it: with one model the next least, by
// water filling in O(m log m); with several, by a second linear program, where it adds most.
ORRERY_API FairTime max_min_time(std::span<const FairTimeJob> jobs, std::span<const double> gpus);

// Minimises the largest rho_j = (elapsed + left / sum_k x_jk v_jk) / (isolated + left / u_j), u_j
// being the speed on 1/m of each model, to one part in 10,000. Each of some 20 bisections costs
// O(m) with one model, else a linear program.
ORRERY_API FairTime finish_time(std::span<const FairTimeJob> jobs, std::span<const double> gpus);
ORRERY_API double speed_alone(const FairTimeJob& job, std::span<const double> gpus, size_t jobs);

}  // namespace orrery
