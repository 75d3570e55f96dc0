// Backfilling like Slurm's sched/backfill: at every event, jobs start in order of priority. A
// planner with bounded depth, window and resolution searches for gaps periodically.
#include <algorithm>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/availability.hpp"

namespace orrery {
namespace {

class SlurmBackfill final : public Policy, public Plan {
 public:
  struct Params {
    Duration bf_interval = 30_s;
    Duration bf_resolution = 60_s;
    Duration bf_window = 1_d;
    int32_t bf_max_job_test = 500, bf_max_job_user = 0, bf_max_job_start = 0;

    template <class V>
    void fields(V& v) {
      v("bf_interval", bf_interval, "Time between two planner passes.", Range{1_s, 24_h},
        Source{"slurm.conf SchedulerParameters"});
      v("bf_resolution", bf_resolution,
        "The estimated run time that a job has left is rounded up to a multiple of this.",
        Range{1_s, 24_h}, Source{"slurm.conf SchedulerParameters"});
      v("bf_window", bf_window, "How far ahead a pass looks: no reservation starts later.",
        Range{1_s, 366_d}, Source{"slurm.conf SchedulerParameters"});
      v("bf_max_job_test", bf_max_job_test,
        "Limit on the jobs that a pass considers. Jobs behind them have no reservation.",
        Range{1, 1'000'000}, Unit{"jobs"}, Source{"slurm.conf SchedulerParameters"});
      v("bf_max_job_user", bf_max_job_user,
        "Limit on the jobs of one user that a pass considers; 0: no limit. Further jobs of the "
        "user are skipped, and do not count for bf_max_job_test.",
        Range{0, 1'000'000}, Unit{"jobs"}, Source{"slurm.conf SchedulerParameters"});
      v("bf_max_job_start", bf_max_job_start,
        "Limit on the jobs that one pass starts; 0: no limit.", Range{0, 1'000'000}, Unit{"jobs"},
        Source{"slurm.conf SchedulerParameters"});
    }
  };
  SlurmBackfill(JobBoard& board, const Params& params) : board_{board}, params_{params} {}

  void plan(const PlanNews& /*news*/) override {
    JobSlot head = board_.head();
    while (head != kNoJob && board_.fits(board_.job(head))) {
      if (head < starts_.size()) starts_[head] = Time::max();
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

  Time reserved_start(JobSlot job) const override {
    return job < starts_.size() ? starts_[job] : Time::max();
  }

 private:
  void look_for_gaps() {
    std::ranges::fill(starts_, Time::max());
    future_.reset(board_, params_.bf_resolution);
    choose();
    const Time now = board_.now();
    int32_t started = 0;
    for (const JobSlot slot : tested_) {
      const QueuedJob& job = board_.job(slot);
      Duration span = job.left(now);
      const Duration over = span % params_.bf_resolution;
      if (over > Duration{}) span += params_.bf_resolution - over;
      const int64_t count = job.ask.count;
      const Time start = future_.earliest(count, span);
      if (start > now + params_.bf_window) continue;
      if (start == now && board_.fits(job)) {
        if (!board_.start(slot)) continue;
        if (++started == params_.bf_max_job_start) return;
      } else {
        if (slot >= starts_.size()) starts_.resize(slot + size_t{1}, Time::max());
        starts_[slot] = start;
      }
      future_.reserve(start, span, count);
    }
  }
  void choose() {
    tested_.clear();
    of_user_.clear();
    const JobTree& waiting = board_.waiting();
    for (JobSlot job = waiting.first();
         job != kNoJob && tested_.size() < static_cast<size_t>(params_.bf_max_job_test);
         job = waiting.next(job)) {
      if (params_.bf_max_job_user > 0) {
        const uint32_t user = board_.job(job).user;
        if (user >= of_user_.size()) of_user_.resize(user + size_t{1});
        if (of_user_[user]++ >= params_.bf_max_job_user) continue;
      }
      tested_.push_back(job);
    }
  }

  JobBoard& board_;
  const Params params_;
  Time due_;
  Availability future_;
  std::vector<JobSlot> tested_;
  std::vector<Time> starts_;      // by slot: reservations of the last planner pass
  std::vector<int32_t> of_user_;  // number of jobs seen by choose(), by user
};
ORRERY_REGISTER_POLICY(SlurmBackfill, "SlurmBackfill",
                       "Slurm's backfill scheduler. A pass takes no simulated time, so "
                       "bf_continue, bf_yield_* and bf_max_time have no counterpart. Host time: "
                       "O(depth * (depth + running jobs)) for each pass, where depth is "
                       "bf_max_job_test. With bf_max_job_user, O(queue) is added.");

}  // namespace
}  // namespace orrery
