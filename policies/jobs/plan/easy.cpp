// EASY backfilling: the first job that does not fit gets a reservation, and others may start if
// they do not delay it.
//
// `shadow` is the first instant at which the head of the queue fits, by the expected ends of
// running jobs. `extra` is what stays free when the head starts at `shadow`. A job may start if it
// fits now, and either ends by `shadow` or requests at most `extra`. Example: of 8 GPUs, A holds 6
// until 10 h, and the head B needs 4. Then `shadow` is 10 h and `extra` is 4. C needs 2 and starts,
// however long it runs.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"

namespace orrery {
namespace {

enum class BackfillOrder : uint8_t { Queue, Shortest };
constexpr std::array<std::string_view, 2> enum_names(BackfillOrder) {
  return {"queue", "shortest"};
}

class Easy final : public Policy, public Plan, public JobWatcher {
 public:
  struct Params {
    BackfillOrder backfill = BackfillOrder::Queue;
    template <class V>
    void fields(V& v) {
      v("backfill", backfill,
        "Order in which the jobs behind the head are tried. queue: order of the queue; shortest: "
        "shortest estimate first (EASY-SJBF).",
        Source{"queue: Lifka 1995; shortest: Tsafrir, Etzion, Feitelson, TPDS 2007"});
    }
  };
  Easy(JobBoard& board, const Params& params) : board_{board}, order_{params.backfill} {}

  void plan(const PlanNews& news) override {
    // A job that exceeds its estimate moves the reservation but frees nothing. If order_ is Queue,
    // backfilling then waits for the next call with news.has_room or with an arrived job that fits.
    runs_longer_ |= news.has_longer;
    if (order_ == BackfillOrder::Queue && !news.has_room && !any_fits(news.arrived)) return;
    JobSlot head = board_.head();
    bool must_try_all = news.has_room || std::exchange(runs_longer_, false) || head != head_;
    while (head != kNoJob && board_.fits(board_.job(head))) {
      board_.start(head);
      head = board_.head();
      must_try_all = true;
    }
    head_ = head;
    if (head == kNoJob || board_.waiting().size() == 1) return;
    JobTree::Limits limits = reserve(board_.job(head));
    // Only newly arrived jobs are tried. The other waiting jobs were rejected earlier and still
    // cannot start, because the time until the head's reservation only shrinks.
    if (!must_try_all) {
      arrived_.assign(news.arrived.begin(), news.arrived.end());
      if (order_ == BackfillOrder::Shortest) {
        std::ranges::sort(arrived_, {}, [this](JobSlot job) { return by_length_.key(job); });
      }
      for (const JobSlot job : arrived_) try_to_start(job, limits);
      return;
    }
    backfill(limits);
  }

  // Only the first job in the queue has a reservation. Backfilled jobs do not move the reservation.
  Time reserved_start(JobSlot job) const override {
    if (job != board_.waiting().first()) return Time::max();
    const Duration window = reserve(board_.job(job)).window;
    return window == Duration::max() ? Time::max() : board_.now() + window;
  }

  void job_waits(const QueuedJob& job) override {
    if (order_ != BackfillOrder::Shortest) return;
    by_length_.insert(job.slot, {job.left(board_.now()).ns, job.submitted, job.serial},
                      job.ask.count, job.left(board_.now()));
  }
  void job_leaves(const QueuedJob& job) override {
    if (order_ == BackfillOrder::Shortest) by_length_.erase(job.slot);
  }

 private:
  bool any_fits(std::span<const JobSlot> jobs) const {
    return std::ranges::any_of(jobs, [&](JobSlot job) {
      return board_.job(job).state == QueuedState::Waiting && board_.fits(board_.job(job));
    });
  }

  JobTree::Limits reserve(const QueuedJob& head) const {
    const JobTree& running = board_.running();
    JobTree::Limits limits{.free = board_.free()};
    const JobTree::Reach reach = running.reach(head.ask.count - limits.free);
    if (reach.job == kNoJob) {  // nodes are down, so the start is unknown
      limits.extra = limits.free;
      return limits;
    }
    const Time shadow = std::max(board_.now(), board_.job(reach.job).progress.expected_end);
    limits.window = shadow - board_.now();
    limits.extra = limits.free + running.sum_through(shadow.ns) - head.ask.count;
    return limits;
  }

  void backfill(JobTree::Limits& limits) {
    const JobTree& candidates = order_ == BackfillOrder::Shortest ? by_length_ : board_.waiting();
    JobKey key{INT64_MIN, {}, 0};
    for (;;) {
      const JobSlot job = candidates.find_after(key, limits);
      if (job == kNoJob) return;
      key = candidates.key(job);
      try_to_start(job, limits);
    }
  }

  void try_to_start(JobSlot slot, JobTree::Limits& limits) {
    const QueuedJob& job = board_.job(slot);
    if (slot == head_ || job.state != QueuedState::Waiting || !board_.fits(job)) return;
    const bool is_short = job.left(board_.now()) <= limits.window;
    if (!is_short && job.ask.count > limits.extra) return;
    const int64_t count = job.ask.count;
    if (!board_.start(slot)) return;
    limits.free -= count;
    if (!is_short) limits.extra -= count;
  }

  JobBoard& board_;
  const BackfillOrder order_;
  JobSlot head_ = kNoJob;
  bool runs_longer_ = false;      // an estimate was exceeded, so all candidates must be tried
  std::vector<JobSlot> arrived_;  // scratch space of plan()
  JobTree by_length_;             // waiting jobs by estimate, for Shortest
};
ORRERY_REGISTER_POLICY(
    Easy, "EASY",
    "EASY backfill: the first job that does not fit gets a reservation. Later jobs start if they "
    "do not delay that job. Host time: O(log n) for each job that arrives, starts or ends, with n "
    "jobs waiting or running. Finding a job to backfill takes longer if many jobs are small but "
    "too long, and many others are short but too large.");

}  // namespace
}  // namespace orrery
