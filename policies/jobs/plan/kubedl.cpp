// KubeDL's coordinator: tenants take turns, and a turn starts at most one job.
#include <algorithm>

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

// Tenants are teams, which take turns in the order in which their first jobs arrived. A team gets
// its turn even if none of its jobs can start. Example: A, B and C have waiting jobs, but those of
// B do not fit. Then jobs of A, C, A, C ... start, and B's turns pass unused. While no waiting job
// of any team fits, there are no turns.
class KubeDl final : public Policy, public QueueOrder, public Plan, public JobWatcher {
 public:
  struct Params {
    Duration schedule_period = 100_ms;

    template <class V>
    void fields(V& v) {
      v("schedule_period", schedule_period,
        "Time between two turns, even if the team of the last turn could start no job.",
        Range{1_ms, 1_h}, Source{"KubeDL, pkg/jobcoordinator: SchedulePeriod"});
    }
  };
  KubeDl(JobBoard& board, const Params& params) : board_{board}, params_{params} {}

  int64_t rank(const QueuedJob& job) override { return -int64_t{job.priority}; }

  void plan(const PlanNews& news) override {
    for (const JobSlot job : news.arrived) {
      tenants_ = std::max(tenants_, board_.job(job).team + uint32_t{1});
    }
    if (board_.now() >= due_ && has_candidate()) {
      take_turn(static_cast<uint32_t>(turns_++ % tenants_));
      due_ = board_.now() + params_.schedule_period;
    }
    if (has_candidate()) board_.wake_at(due_);
  }

  void job_waits(const QueuedJob& job) override {
    by_team_.insert(job.slot, {rank_in(job.team, job.priority), job.submitted, job.serial},
                    job.ask.count, {});
  }
  void job_leaves(const QueuedJob& job) override { by_team_.erase(job.slot); }

 private:
  // Sorts all jobs of a team before the jobs of the next team, and within a team by priority.
  static int64_t rank_in(uint32_t team, int32_t priority) {
    return (int64_t{team} << 32) + (int64_t{INT32_MAX} - priority);
  }
  bool has_candidate() const {
    const JobTree& waiting = board_.waiting();
    JobKey key{INT64_MIN, {}, 0};
    for (;;) {
      const JobSlot job = waiting.find_after(key, {.free = board_.free()});
      if (job == kNoJob || board_.fits(board_.job(job))) return job != kNoJob;
      key = waiting.key(job);
    }
  }
  void take_turn(uint32_t tenant) {
    JobKey key{rank_in(tenant, INT32_MAX) - 1, Time::max(), UINT64_MAX};
    for (;;) {
      const JobSlot job = by_team_.find_after(key, {.free = board_.free()});
      if (job == kNoJob || board_.job(job).team != tenant) return;
      key = by_team_.key(job);
      if (board_.fits(board_.job(job)) && board_.start(job)) return;
    }
  }

  JobBoard& board_;
  const Params params_;
  JobTree by_team_;  // waiting jobs by rank_in()
  uint32_t tenants_ = 0;
  uint64_t turns_ = 0;
  Time due_;
};
ORRERY_REGISTER_POLICY(KubeDl, "KubeDL",
                       "Teams take turns. In its turn, a team starts its job with the highest "
                       "priority. Jobs that do not fit or that Quota holds back are skipped. "
                       "Jobs of equal priority start in the order of submission (upstream: at "
                       "random). Host time with n waiting jobs: O(log n) for each turn and for "
                       "each job that joins or leaves the queue, more with several counted "
                       "resources.");

}  // namespace
}  // namespace orrery
