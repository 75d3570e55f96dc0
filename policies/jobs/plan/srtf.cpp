// Shortest remaining time first: running jobs are stopped for jobs that have less time left.
// Example: A (5 h left) runs on all GPUs; B (2 h) arrives, so A is stopped and resumes 2 h later.
#include <algorithm>
#include <tuple>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/time_sharing.hpp"

namespace orrery {
namespace {

class Srtf final : public Policy, public Plan {
 public:
  using Params = NoParams;
  static constexpr Traits kTraits = Trait::StopsJobs;
  Srtf(JobBoard& board, const Params& /*params*/) : board_{board} {}

  void plan(const PlanNews& /*news*/) override {
    const Time now = board_.now();
    collect_jobs(board_, jobs_);
    std::ranges::sort(jobs_, {}, [&](JobSlot slot) {
      const QueuedJob& job = board_.job(slot);
      return std::tuple{job.left(now), !job.is_running(), job.serial};
    });
    share_out(board_, jobs_);
  }

 private:
  JobBoard& board_;
  std::vector<JobSlot> jobs_;
};
ORRERY_REGISTER_POLICY(Srtf, "SRTF",
                       "Runs the jobs with the shortest estimated remaining time. To start them, "
                       "it stops jobs with more time left. policy.job_queue.stops sets the cost "
                       "of a stop. Host time: O(n log n) over all waiting and running jobs for "
                       "each plan.");

}  // namespace
}  // namespace orrery
