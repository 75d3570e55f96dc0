// Backfilling as Slurm's sched/backfill does it: jobs start in order of priority at every event,
// and a planner with bounded depth, window and resolution looks for gaps every so often.
#include "models/scheduling/availability.hpp"
#include "models/scheduling/policy_registry.hpp"

namespace orrery {
namespace {

class SlurmBackfill final : public Policy, public Plan {
 public:
  struct Params {
    Duration bf_interval = 30_s;
    Duration bf_resolution = 60_s;
    Duration bf_window = 1_d;
    int32_t bf_max_job_test = 500;

    template <class V>
    void fields(V& v) {
      v("bf_interval", bf_interval, "Between two looks for gaps.", Range{1_s, 24_h},
        Source{"slurm.conf SchedulerParameters"});
      v("bf_resolution", bf_resolution, "Ends are rounded up to it.", Range{1_s, 24_h},
        Source{"slurm.conf SchedulerParameters"});
      v("bf_window", bf_window, "No reservation starts later than that.", Range{1_s, 366_d},
        Source{"slurm.conf SchedulerParameters"});
      v("bf_max_job_test", bf_max_job_test, "Jobs looked at; those behind have no reservation.",
        Range{1, 1'000'000}, Unit{"jobs"}, Source{"slurm.conf SchedulerParameters"});
    }
  };
  SlurmBackfill(JobBoard& board, const Params& params) : board_{board}, params_{params} {}

  void plan(const PlanNews& /*news*/) override {
    JobSlot head = board_.head();
    while (head != kNoJob && board_.fits(board_.job(head))) {
      board_.start(head);
      head = board_.head();
    }
    if (head == kNoJob) return;
    if (board_.now() >= due_) {
      look_for_gaps();
      due_ = board_.now() + params_.bf_interval;
    }
    board_.wake_at(due_);
  }

 private:
  void look_for_gaps() {
    future_.reset(board_, params_.bf_resolution);
    tested_.clear();
    const JobTree& waiting = board_.waiting();
    for (JobSlot job = waiting.first();
         job != kNoJob && tested_.size() < static_cast<size_t>(params_.bf_max_job_test);
         job = waiting.next(job)) {
      tested_.push_back(job);
    }
    const Time now = board_.now();
    for (const JobSlot slot : tested_) {
      const QueuedJob& job = board_.job(slot);
      Duration span = job.left(now);
      const Duration over = span % params_.bf_resolution;
      if (over > Duration{}) span += params_.bf_resolution - over;
      const int64_t count = job.count;
      const Time start = future_.earliest(count, span);
      if (start > now + params_.bf_window) continue;
      if (start == now && board_.fits(job) && !board_.start(slot)) continue;
      future_.reserve(start, span, count);
    }
  }

  JobBoard& board_;
  const Params params_;
  Time due_;
  Availability future_;
  std::vector<JobSlot> tested_;
};
ORRERY_REGISTER_POLICY(SlurmBackfill, "SlurmBackfill",
                       "Slurm's backfill scheduler. Between its looks O(log n); a look costs "
                       "O(depth * (depth + running jobs)).");

}  // namespace
}  // namespace orrery
