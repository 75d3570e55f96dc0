// KubeDL's coordinator: tenants take turns, and each lets one job go.
#include <algorithm>

#include "models/scheduling/policy_registry.hpp"

namespace orrery {
namespace {

// Tenants are teams, in the order of their first jobs. With nothing that could start, no turn
// passes: the next one is kept for who is due.
class KubeDl final : public Policy, public QueueOrder, public Plan {
 public:
  struct Params {
    Duration schedule_period = 100_ms;

    template <class V>
    void fields(V& v) {
      v("schedule_period", schedule_period,
        "Between two turns; that of a tenant without a job that may start passes, too.",
        Range{1_ms, 1_h}, Source{"KubeDL, pkg/jobcoordinator: SchedulePeriod"});
    }
  };
  KubeDl(JobBoard& board, const Params& params) : board_{board}, params_{params} {}

  int64_t rank(const QueuedJob& job) const override { return -int64_t{job.priority}; }

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

 private:
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
    const JobTree& waiting = board_.waiting();
    for (JobSlot job = waiting.first(); job != kNoJob;) {
      const JobSlot next = waiting.next(job);
      const QueuedJob& candidate = board_.job(job);
      if (candidate.team == tenant && board_.fits(candidate) && board_.start(job)) return;
      job = next;
    }
  }

  JobBoard& board_;
  const Params params_;
  uint32_t tenants_ = 0;
  uint64_t turns_ = 0;
  Time due_;
};
ORRERY_REGISTER_POLICY(KubeDl, "KubeDL",
                       "Teams take turns; each lets the job of highest priority go that fits and "
                       "is within its Quota, equal ones by submission (KubeDL draws lots). A turn "
                       "is O(queue).");

}  // namespace
}  // namespace orrery
