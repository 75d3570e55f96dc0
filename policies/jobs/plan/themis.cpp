// Themis (NSDI'20): jobs lease GPUs. Unleased GPUs are auctioned among the jobs whose finish times
// are the most unfair.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/time_sharing.hpp"

namespace orrery {
namespace {

// rho of a job is the time from its submission to its expected end, divided by the time that the
// job would take on 1/n of the cluster, where n is the number of jobs. GPUs that are free, or whose
// lease is over, are auctioned. Of the jobs without a lease, the share 1 - f with the largest rho
// may bid, where f is `fairness`. Example: with f = 0.8, two of 10 jobs bid. A bid is the factor by
// which a job's rho improves if the job runs during the next lease. Of all sets of bidders
// that fit on the auctioned GPUs together, the set with the largest product of bids wins. It is
// found as a knapsack over the logarithms of bids.
class Themis final : public Policy, public Plan, public JobWatcher {
 public:
  struct Params {
    Duration lease = 20_min;
    double fairness = 0.8;

    template <class V>
    void fields(V& v) {
      v("lease", lease, "How long a job keeps its GPUs before they are auctioned again.",
        Range{1_s, 10'000_h}, Source{"Themis, NSDI'20: 20 min"});
      v("fairness", fairness,
        "The f of Themis: of the jobs without a lease, a share of 1 - f may bid, but at least one "
        "job. The bidders are the jobs with the largest rho. rho is the expected time from "
        "submission to end, divided by the run time on 1/n of the cluster, where n is the number "
        "of waiting and running jobs.",
        Range{0.0, 1.0}, Source{"Themis, NSDI'20: 0.8"});
    }
  };
  static constexpr Traits kTraits = Trait::StopsJobs;
  Themis(JobBoard& board, const Params& params)
      : board_{board}, params_{params}, rng_{board.rng("themis.leftovers")} {}

  void plan(const PlanNews& /*news*/) override {
    const Time now = board_.now();
    if (!was_contended_) renew_silently(now);
    collect_jobs(board_, jobs_);
    const auto is_leased = [&](JobSlot job) {
      return board_.job(job).is_running() && lease_ends_[job] > now;
    };
    const auto unleased = std::ranges::stable_partition(jobs_, is_leased);
    std::vector<JobSlot> others{unleased.begin(), unleased.end()};
    jobs_.erase(unleased.begin(), unleased.end());
    int64_t offer = board_.capacity();
    for (const JobSlot job : jobs_) offer -= board_.job(job).ask.count;
    const size_t jobs = jobs_.size() + others.size();
    std::ranges::sort(others, {}, [&](JobSlot job) {
      return std::tuple{-rho(board_.job(job), now, jobs), board_.job(job).serial};
    });
    // 1e-9 is subtracted, because (1 - 0.7) * 10 is above 3 in floating point.
    const double bidding =
        std::ceil((1 - params_.fairness) * static_cast<double>(others.size()) - 1e-9);
    const size_t bidders = std::clamp<size_t>(static_cast<size_t>(bidding), 1, others.size());
    const size_t winners = auction(others, bidders, offer);
    // GPUs that no winner takes go to the other jobs in random order.
    for (size_t i = others.size(); i > winners + 1; --i) {
      std::swap(others[i - 1], others[winners + rng_.below(i - winners)]);
    }
    jobs_.insert(jobs_.end(), others.begin(), others.end());
    share_out(board_, jobs_);
    was_contended_ = !board_.waiting().is_empty();
    Time next = Time::max();
    board_.running().for_each([&](JobSlot job) {
      if (!board_.job(job).is_running()) return;
      if (lease_ends_[job] <= now) lease_ends_[job] = now + params_.lease;
      next = std::min(next, lease_ends_[job]);
    });
    board_.wake_at(next);
  }

  void job_starts(const QueuedJob& job) override {
    if (job.slot >= lease_ends_.size()) lease_ends_.resize(job.slot + size_t{1});
    lease_ends_[job.slot] = board_.now() + params_.lease;
  }

 private:
  // While no job waits, each lease that ends is renewed at once.
  void renew_silently(Time now) {
    board_.running().for_each([&](JobSlot job) {
      const Duration over = now - lease_ends_[job];
      if (over < Duration{}) return;
      lease_ends_[job] = lease_ends_[job] + params_.lease * (over / params_.lease + 1);
    });
  }

  double rho(const QueuedJob& job, Time now, size_t jobs) const {
    const double fair = static_cast<double>(board_.capacity()) / static_cast<double>(jobs);
    const double alone =
        job.estimate.run.seconds() * std::max(1.0, static_cast<double>(job.ask.count) / fair);
    return ((now - job.submitted) + job.left(now)).seconds() / alone;
  }
  double improvement(const QueuedJob& job) const {
    const Duration soonest = (board_.now() - job.submitted) + job.left(board_.now());
    return std::log1p(params_.lease.seconds() / std::max(soonest, 1_ns).seconds());
  }

  // Moves the winners to the front; returns their number.
  size_t auction(std::vector<JobSlot>& jobs, size_t bidders, int64_t offer) const {
    // The unit of the knapsack is a cell: the greatest common divisor of the bidders' requests. If
    // the offer would then have more than kCellsMax cells, a cell is larger, and requests are
    // rounded up to whole cells.
    constexpr int64_t kCellsMax = 4096;
    int64_t cell = 0;
    for (size_t i = 0; i < bidders; ++i) cell = std::gcd(cell, board_.job(jobs[i]).ask.count);
    cell = std::max({cell, (offer + kCellsMax - 1) / kCellsMax, int64_t{1}});
    const auto cells = static_cast<size_t>(std::max(offer, int64_t{0}) / cell);
    const auto size_of = [&](size_t i) {
      return static_cast<size_t>((board_.job(jobs[i]).ask.count + cell - 1) / cell);
    };
    std::vector<double> best(cells + 1);
    std::vector<std::vector<bool>> is_in(bidders, std::vector<bool>(cells + 1));
    for (size_t i = 0; i < bidders; ++i) {
      const size_t size = size_of(i);
      const double gain = improvement(board_.job(jobs[i]));
      for (size_t c = cells + 1; c-- > size;) {
        if (best[c - size] + gain <= best[c]) continue;
        best[c] = best[c - size] + gain;
        is_in[i][c] = true;
      }
    }
    std::vector<JobSlot> won, lost;
    size_t left = cells;
    for (size_t i = bidders; i-- > 0;) {
      const bool wins = is_in[i][left];
      (wins ? won : lost).push_back(jobs[i]);
      if (wins) left -= size_of(i);
    }
    std::ranges::reverse(won);
    std::ranges::reverse(lost);
    std::ranges::copy(lost, std::ranges::copy(won, jobs.begin()).out);
    return won.size();
  }

  JobBoard& board_;
  const Params params_;
  Rng rng_;
  std::vector<Time> lease_ends_;  // by job
  std::vector<JobSlot> jobs_;
  bool was_contended_ = false;
};
ORRERY_REGISTER_POLICY(Themis, "Themis",
                       "Finish-time fairness: jobs lease GPUs. Free GPUs, and GPUs whose lease has "
                       "ended, are auctioned. A job wins all its GPUs or none. The paper's hidden "
                       "payments, a part of each winner's GPUs, are left out. Jobs that have no "
                       "lease and win nothing are offered, in random order, the GPUs that nobody "
                       "won. Host time: O(n log n) over all waiting and running jobs for each "
                       "plan, and up to 4,096 steps of the auction for each bidder.");

}  // namespace
}  // namespace orrery
