// Tiresias (NSDI'19): jobs of unknown length; those that had little service go first.
#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "models/scheduling/gittins.hpp"
#include "models/scheduling/policy_registry.hpp"
#include "models/scheduling/time_sharing.hpp"

namespace orrery {
namespace {

enum class Service : uint8_t { Dlas, DlasGpu, Gittins };
constexpr std::array<std::string_view, 3> enum_names(Service) {
  return {"dlas", "dlas_gpu", "gittins"};
}

class Tiresias final : public Policy, public Plan, public JobWatcher {
 public:
  struct Params {
    Service by = Service::DlasGpu;
    std::vector<int64_t> limits = {3250, 7200, 18000};
    int32_t promote_knob = 0;
    int64_t gittins_delta = 3250;

    template <class V>
    void fields(V& v) {
      v("by", by,
        "dlas: seconds executed; dlas_gpu: seconds times GPUs; gittins: the Gittins index of "
        "dlas_gpu service, by the jobs that ended so far.");
      v("limits", limits, "Service at which a job leaves each queue; it stays in the last one.",
        Unit{"s"}, Source{"Tiresias artifact"});
      v("promote_knob", promote_knob,
        "A job that waited so many times as long as it has run begins anew in the first queue, "
        "when that is looked at, at the next event; 0: never.",
        Range{0, 1000}, Source{"Tiresias artifact: PROMOTEKNOB"});
      v("gittins_delta", gittins_delta, "Service that a job would get next.",
        Range{int64_t{1}, int64_t{1} << 40U}, Unit{"s"}, Source{"Tiresias artifact"});
    }
    void check(Checker& c) const {
      if (limits.empty() || !std::ranges::is_sorted(limits) || limits.front() <= 0) {
        c.error("limits", "must be numbers above 0, in ascending order");
      }
    }
  };
  Tiresias(JobBoard& board, const Params& params) : board_{board}, params_{params} {}

  void plan(const PlanNews& /*news*/) override {
    collect_jobs(board_, jobs_);
    for (const JobSlot job : jobs_) refresh(board_.job(job));
    std::ranges::sort(jobs_, {}, [this](JobSlot job) {
      const Standing& s = standings_[job];
      return std::tuple{s.queue, -s.index, s.entered, board_.job(job).serial};
    });
    share_out(board_, jobs_);
    Time next = Time::max();
    board_.running().for_each([&](JobSlot job) { next = std::min(next, crossing(job)); });
    board_.wake_at(next);
  }

  void job_waits(const QueuedJob& job) override {
    if (job.slot >= standings_.size()) standings_.resize(job.slot + size_t{1});
    if (job.started < Time{}) standings_[job.slot] = {.entered = job.queued};
  }
  void job_ends(const QueuedJob& job) override {
    if (params_.by != Service::Gittins) return;
    const double service = job.run.seconds() * static_cast<double>(job.units);
    ended_.insert(std::ranges::upper_bound(ended_, service), service);
  }

 private:
  struct Standing {
    size_t queue = 0;
    Time entered = {};       // into this queue
    double index = 0;        // Gittins
    Duration forgiven = {};  // executed before the last promotion
  };

  double weight(const QueuedJob& job) const {
    return params_.by == Service::Dlas ? 1 : static_cast<double>(job.units);
  }
  double service(const QueuedJob& job, const Standing& s) const {
    return (job.executed_by(board_.now()) - s.forgiven).seconds() * weight(job);
  }
  void refresh(const QueuedJob& job) {
    Standing& s = standings_[job.slot];
    if (params_.by == Service::Gittins) {
      s.index = gittins_index(ended_, service(job, s), static_cast<double>(params_.gittins_delta));
      return;
    }
    const Duration executed = job.executed_by(board_.now()) - s.forgiven;
    if (params_.promote_knob > 0 && s.queue > 0 && !job.is_running() &&
        board_.now() - job.queued >= executed * params_.promote_knob) {
      s = {.entered = board_.now(), .forgiven = job.executed};
    }
    while (s.queue + 1 < params_.limits.size() &&
           service(job, s) >= static_cast<double>(params_.limits[s.queue])) {
      ++s.queue;
      s.entered = board_.now();
    }
  }
  // When a running job leaves its queue, or has had its quantum.
  Time crossing(JobSlot slot) const {
    const QueuedJob& job = board_.job(slot);
    if (!job.is_running()) return Time::max();
    const Standing& s = standings_[slot];
    const Duration setup = std::max(job.started + job.setup - board_.now(), Duration{});
    if (params_.by == Service::Gittins) {
      return board_.now() + setup +
             nearest_ns(static_cast<double>(params_.gittins_delta) / weight(job));
    }
    if (s.queue + 1 >= params_.limits.size()) return Time::max();
    const double left = static_cast<double>(params_.limits[s.queue]) - service(job, s);
    return board_.now() + setup + std::max(nearest_ns(left / weight(job)), 1_ns);
  }

  JobBoard& board_;
  const Params params_;
  std::vector<Standing> standings_;  // by job
  std::vector<double> ended_;        // service of whole jobs, sorted
  std::vector<JobSlot> jobs_;
};
ORRERY_REGISTER_POLICY(Tiresias, "Tiresias",
                       "Discretised least attained service, or the Gittins index: jobs run in the "
                       "order of their queues and are stopped for those ahead. O(n log n) over all "
                       "jobs that wait or run; the Gittins index adds O(ended jobs) to each.");

}  // namespace
}  // namespace orrery
