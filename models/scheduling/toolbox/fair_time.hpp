// models/scheduling/toolbox/fair_time.hpp -- how each job's time is split among GPU models.
//
// Gavel's allocation (OSDI'20). There are m jobs. Job j requests s_j GPUs and runs at speed v_jk on
// model k, of which there are W_k GPUs. The result x_jk is the share of time that job j runs on
// model k. The shares of a job add up to at most 1: sum_k x_jk <= 1. The jobs on model k use at
// most W_k GPUs: sum_j s_j x_jk <= W_k. If job j requests more than W_k GPUs, x_jk is 0.
#pragma once

#include <span>
#include <vector>

#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

struct FairTimeJob {
  double gpus = 1, weight = 1;
  std::vector<double> speed;  // by model
  // For finish_time(), in seconds. `elapsed` is the time since submission. `isolated` is the time
  // that the job's work so far would have taken on an equal share of the cluster (1/m for m jobs).
  // `left` is the remaining run time at speed 1.
  double elapsed = 0, isolated = 0, left = 0;
};
struct FairTime {
  double value = 0;                    // the objective: the least value, or the largest rho
  std::vector<std::vector<double>> x;  // by job, by model
};

// The value of job j is s_j sum_k x_jk v_jk / (w_j v_j). Job j requests s_j GPUs, has weight w_j,
// speed v_jk on model k, and mean speed v_j over all GPUs. Maximises the least value of all jobs.
// GPU time that then remains goes to jobs that can still use it. With one model this costs O(m log
// m). With several models a first linear program maximises the least value, and a second one the
// sum of all values. Example: two jobs request 4 GPUs each, have weight 1 and share 4 GPUs of one
// model. Each job runs half of the time (x = 1/2), so its value is 4 * 1/2 = 2.
ORRERY_API FairTime max_min_time(std::span<const FairTimeJob> jobs, std::span<const double> gpus);

// Minimises the largest rho_j = (elapsed + left / sum_k x_jk v_jk) / (isolated + left / u_j), to
// one part in 10,000. Here m is the number of jobs, and u_j is the speed of job j on 1/m of the
// GPUs of each model: see speed_alone(). The search bisects about 20 times. Each bisection costs
// O(m) with one model, and a linear program with several models.
ORRERY_API FairTime finish_time(std::span<const FairTimeJob> jobs, std::span<const double> gpus);
ORRERY_API double speed_alone(const FairTimeJob& job, std::span<const double> gpus, size_t jobs);

}  // namespace orrery
