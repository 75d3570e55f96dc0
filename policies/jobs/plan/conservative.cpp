// Conservative backfilling: every waiting job has a reservation, and no job may delay a reservation
// of an earlier job. Example with 8 GPUs: A holds 6 until 10 h. B needs 4 for 2 h and has a
// reservation at 10 h. C needs 2 for 20 h and starts at once, because it leaves 6 GPUs at 10 h.
#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/availability.hpp"

namespace orrery {
namespace {

class Conservative final : public Policy, public Plan {
 public:
  using Params = NoParams;
  Conservative(JobBoard& board, const Params& /*params*/) : board_{board} {}

  void plan(const PlanNews& news) override {
    if (!news.has_only_arrivals() || !is_valid_) {  // after an early end, jobs may start earlier
      is_valid_ = true;
      future_.reset(board_);
      in_order_.clear();
      board_.waiting().for_each([this](JobSlot job) { in_order_.push_back(job); });
      for (const JobSlot job : in_order_) reserve(job);
      return;
    }
    // A new job that is last in the queue changes no other reservation. If any job follows a new
    // job, all jobs are planned again.
    future_.advance(board_.now());
    for (const JobSlot job : news.arrived) {
      if (board_.waiting().next(job) != kNoJob) {
        is_valid_ = false;
        return plan({.arrived = {}, .has_room = true});
      }
    }
    for (const JobSlot job : news.arrived) reserve(job);
  }

  Time reserved_start(JobSlot job) const override {
    return job < starts_.size() ? starts_[job] : Time::max();
  }

 private:
  void reserve(JobSlot slot) {
    const QueuedJob& job = board_.job(slot);
    const Duration span = job.left(board_.now());
    const int64_t count = job.ask.count;
    const Time start = future_.earliest(count, span);
    if (slot >= starts_.size()) starts_.resize(slot + size_t{1}, Time::max());
    starts_[slot] = start;
    if (start == Time::max()) return;  // the job does not fit on the nodes that are up
    if (start == board_.now() && board_.fits(job) && !board_.start(slot)) return;
    future_.reserve(start, span, count);
  }

  JobBoard& board_;
  // Free amount of the counted resource over time. The amounts reserved for waiting jobs and for
  // jobs started since the last reset are subtracted.
  Availability future_;
  std::vector<JobSlot> in_order_;
  std::vector<Time> starts_;  // by slot: start of each reservation
  bool is_valid_ = false;
};
ORRERY_REGISTER_POLICY(Conservative, "Conservative",
                       "Conservative backfill: every waiting job has a reservation, and no job may "
                       "delay the reservation of an earlier job. All reservations are recomputed "
                       "whenever a job ends. Host time: O(queue * (queue + running jobs)).");

}  // namespace
}  // namespace orrery
