// models/scheduling/job_queue/runtime_estimates.hpp -- how long jobs are believed to run, and what
// is learnt.
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

  // Of a job that arrives; `run` is how long it would take undisturbed.
  Duration estimate(const QueuedJob& job, Duration run) const;
  // A longer one, of a job that has run for its present estimate.
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
