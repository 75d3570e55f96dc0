// Tiresias (NSDI'19) schedules jobs of unknown length: jobs with little attained service go first.
//
// With dlas and dlas_gpu, running jobs of a queue stay ahead of the waiting jobs of this queue, as
// in the artifact: a job is stopped only for a job of a higher queue. A job that enters a queue
// goes to the end of the queue. Example with dlas_gpu: the limit of the first queue is 3.6
// GPU-hours. After 27 min, a job on 8 GPUs goes to the end of the second queue. With gittins there
// is one queue, and a job is stopped for any job with a larger Gittins index.
#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/gittins.hpp"
#include "models/scheduling/toolbox/time_sharing.hpp"

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
    std::vector<int64_t> limits = {3250, 7200};
    int32_t promote_knob = 0;
    int64_t gittins_delta = 3250;

    template <class V>
    void fields(V& v) {
      constexpr Range kService{int64_t{1}, int64_t{1} << 40U};
      v("by", by,
        "What ranks a job. dlas: its executed seconds; dlas_gpu: its executed seconds times its "
        "GPUs; gittins: its Gittins index, computed from its GPU seconds and those of ended jobs.");
      v("limits", limits,
        "After this many executed seconds (dlas) or GPU seconds (dlas_gpu), a job moves to the "
        "next queue. There is one queue more than limits.",
        kService, Unit{"s"}, Source{"Tiresias artifact: 3 queues"},
        Heeded{by != Service::Gittins, "by is gittins"});
      v("promote_knob", promote_knob,
        "For dlas and dlas_gpu: a stopped job returns to the first queue when its total wait "
        "between runs is this many times its run time. Each such return resets both times. 0: "
        "never.",
        Range{0, 1000}, Source{"Tiresias artifact: PROMOTEKNOB"},
        Heeded{by != Service::Gittins, "by is gittins"});
      v("gittins_delta", gittins_delta,
        "For gittins: a quantum of GPU seconds. The index is the chance that a job ends within its "
        "next quantum, divided by the GPU seconds that it is expected to use in this quantum.",
        kService, Unit{"s"}, Source{"Tiresias artifact"},
        Heeded{by == Service::Gittins, "by is not gittins"});
    }
    void check(Checker& c) const {
      if (limits.empty() || !std::ranges::is_sorted(limits)) {
        c.error("limits", "must be numbers in ascending order");
      }
    }
  };
  static constexpr Traits kTraits = Trait::StopsJobs;
  Tiresias(JobBoard& board, const Params& params) : board_{board}, params_{params} {}

  void plan(const PlanNews& /*news*/) override {
    collect_jobs(board_, jobs_);
    std::ranges::sort(jobs_, {}, [this](JobSlot job) { return board_.job(job).serial; });
    moved_.clear();
    for (const JobSlot job : jobs_) refresh(board_.job(job));
    std::ranges::stable_sort(moved_, {}, &Move::when);
    for (const Move& move : moved_) standings_[move.job].place = next_place_++;
    std::ranges::stable_sort(jobs_, {}, [this](JobSlot job) {
      const Standing& s = standings_[job];
      return std::tuple{s.queue, -s.index, params_.by == Service::Gittins ? 0 : s.place};
    });
    share_out(board_, jobs_);
    std::ranges::stable_partition(jobs_, [this](JobSlot j) { return board_.job(j).is_running(); });
    Time next = Time::max();
    for (const JobSlot job : jobs_) {
      standings_[job].place = next_place_++;
      next = std::min(next, change(board_.job(job)));
    }
    board_.wake_at(next);
  }

  void job_waits(const QueuedJob& job) override {
    if (job.slot >= standings_.size()) standings_.resize(job.slot + size_t{1});
    Standing& s = standings_[job.slot];
    if (s.serial != job.serial) s = {.serial = job.serial, .place = next_place_++};
  }
  void job_starts(const QueuedJob& job) override {
    Standing& s = standings_[job.slot];
    if (job.progress.executed > s.forgiven) s.waited += board_.now() - job.queued;
  }
  void job_ends(const QueuedJob& job) override {
    if (params_.by != Service::Gittins || !job.has_started()) return;
    const double service = job.run.seconds() * static_cast<double>(job.ask.units);
    ended_.insert(std::ranges::upper_bound(ended_, service), service);
  }

 private:
  struct Standing {
    uint64_t serial = UINT64_MAX;  // serial number of the job
    size_t queue = 0;
    uint64_t place = 0;      // position in the queue
    double index = 0;        // Gittins index
    Duration forgiven = {};  // compute executed before the last promotion
    Duration waited = {};    // waiting time between runs since the last promotion
  };

  struct Move {  // a move into another queue
    Time when;
    JobSlot job = kNoJob;
  };

  double weight(const QueuedJob& job) const {
    return params_.by == Service::Dlas ? 1 : static_cast<double>(job.ask.units);
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
    if (promoted_at(job) <= board_.now()) {
      s = {.serial = s.serial, .forgiven = job.progress.executed};
      moved_.push_back({board_.now(), job.slot});
      return;
    }
    const size_t queue = s.queue;
    while (s.queue < params_.limits.size() && left(job, s) <= 0) ++s.queue;
    if (s.queue == queue) return;
    const double past = service(job, s) - static_cast<double>(params_.limits[s.queue - 1]);
    moved_.push_back({board_.now() - nearest_ns(past / weight(job)), job.slot});
  }
  double left(const QueuedJob& job, const Standing& s) const {  // service until the job's demotion
    return static_cast<double>(params_.limits[s.queue]) - service(job, s);
  }
  Time promoted_at(const QueuedJob& job) const {
    const Standing& s = standings_[job.slot];
    if (params_.promote_knob == 0 || s.queue == 0 || job.state != QueuedState::Waiting) {
      return Time::max();
    }
    return job.queued + (job.progress.executed - s.forgiven) * params_.promote_knob - s.waited;
  }
  // The time of the job's next promotion or demotion. For a running job with gittins: the time when
  // it will have used one more quantum.
  Time change(const QueuedJob& job) const {
    if (!job.is_running()) return std::max(promoted_at(job), board_.now() + 1_ns);
    const Standing& s = standings_[job.slot];
    const Duration setup =
        std::max(job.progress.started + job.progress.setup - board_.now(), Duration{});
    if (params_.by == Service::Gittins) {
      return board_.now() + setup +
             nearest_ns(static_cast<double>(params_.gittins_delta) / weight(job));
    }
    if (s.queue == params_.limits.size()) return Time::max();
    return board_.now() + setup + std::max(nearest_ns(left(job, s) / weight(job)), 1_ns);
  }

  JobBoard& board_;
  const Params params_;
  std::vector<Standing> standings_;  // by job
  uint64_t next_place_ = 0;
  std::vector<double> ended_;  // service of finished jobs, sorted
  std::vector<JobSlot> jobs_;  // scratch space of plan()
  std::vector<Move> moved_;    // scratch space of plan()
};
ORRERY_REGISTER_POLICY(Tiresias, "Tiresias",
                       "Discretised least attained service, or the Gittins index. Jobs run in the "
                       "order of their queues or indices, and are stopped for jobs ahead of them. "
                       "Host time: O(n log n) over all waiting and running jobs for each plan. The "
                       "Gittins index adds O(ended jobs) for each waiting or running job.");

}  // namespace
}  // namespace orrery
