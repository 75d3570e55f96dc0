#include "models/scheduling/job_queue/runtime_estimates.hpp"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

constexpr std::array<Duration, 11> kSteps = {1_min, 5_min, 15_min, 30_min, 1_h,  2_h,
                                             5_h,   10_h,  20_h,   50_h,   100_h};

Duration scaled(Duration span, double factor) {
  return factor == 1 ? span : nearest_ns(span.seconds() * factor);
}

Duration at_most_requested(Duration estimate, Duration requested) {
  return requested < Duration{} ? estimate : std::min(estimate, requested);
}

}  // namespace

Duration RuntimeEstimates::estimate(const QueuedJob& job, Duration run) const {
  const Duration requested = job.ask.run < Duration{} ? run : job.ask.run;
  Duration estimate = run;
  if (params_.kind == EstimateKind::Requested) {
    estimate = requested;
  } else if (params_.kind == EstimateKind::Noisy) {
    Rng rng = rng_.stream("job_queue.estimate", job.serial);
    estimate = scaled(run, rng.lognormal(0, params_.sigma));
  } else if (params_.kind == EstimateKind::RecentTwo) {
    estimate = requested;
    if (job.user < recent_.size() && recent_[job.user].before >= Duration{}) {
      const Runs& runs = recent_[job.user];
      Duration mean{(runs.last + runs.before).ns / 2};
      mean -= mean % 1_s;
      estimate = at_most_requested(std::max(mean, 1_s), requested);
    }
  }
  return std::max(scaled(estimate, params_.factor), 1_ns);
}

Duration RuntimeEstimates::corrected(const QueuedJob& job) const {
  Duration longer = job.estimate.run;
  const auto done = static_cast<size_t>(job.estimate.corrections);
  if (params_.correction == Correction::Requested) {
    longer = job.ask.run;
  } else if (params_.correction == Correction::Steps) {
    longer = done < kSteps.size()
                 ? at_most_requested(job.estimate.first + kSteps[done], job.ask.run)
                 : job.ask.run;
  }
  return longer > job.estimate.run ? longer : job.estimate.run * 2;
}

void RuntimeEstimates::learn(uint32_t user, Duration run) {
  if (params_.kind != EstimateKind::RecentTwo) return;
  if (user >= recent_.size()) recent_.resize(user + size_t{1});
  recent_[user].before = recent_[user].last;
  recent_[user].last = run;
}

}  // namespace orrery
