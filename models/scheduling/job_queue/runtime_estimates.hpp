// models/scheduling/job_queue/runtime_estimates.hpp -- estimates of run times, and learning from
// past runs.
#pragma once

#include <cstdint>
#include <vector>

#include "models/scheduling/contract/job_policy_api.hpp"
#include "models/scheduling/job_queue/job_queue_params.hpp"
#include "sim/core/rng.hpp"

namespace orrery {

class RuntimeEstimates {
 public:
  RuntimeEstimates(const EstimateParams& params, const RngStreams& rng)
      : params_{params}, rng_{rng} {}

  // The estimate for a job that arrives. `run` is the real run time of the undisturbed job, at most
  // its time limit.
  Duration estimate(const QueuedJob& job, Duration run) const;
  // The next estimate for a job that has reached its present estimate.
  Duration corrected(const QueuedJob& job) const;
  void learn(uint32_t user, Duration run);  // a job of the user ended

 private:
  struct Runs {
    Duration last{-1}, before{-1};
  };
  EstimateParams params_;
  RngStreams rng_;
  std::vector<Runs> recent_;  // by user
};

}  // namespace orrery
