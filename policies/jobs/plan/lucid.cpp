// Lucid (ASPLOS'23): jobs are profiled for a short time, then run shortest first. Two jobs share a
// GPU if their profiles show little interference.
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/named_in_vain.hpp"
#include "models/scheduling/toolbox/time_sharing.hpp"

namespace orrery {
namespace {

struct SharingScore {
  static constexpr std::string_view kDoc = "How much of a GPU an application uses.";
  std::string application;
  int32_t score = 2;

  template <class V>
  void fields(V& v) {
    v("application", application, "Name of the application.", Required{}, Example{"ResNet18"});
    v("score", score, "How much of a GPU the application uses. 0: little, 1: about half, 2: all.",
      Range{0, 2});
  }
};

class Lucid final : public Policy, public QueueOrder, public Plan, public JobWatcher {
 public:
  struct Params {
    int64_t profiler_gpus = 0;
    int64_t profiled_gpus_max = 8;
    Duration profile_time = 500_s;
    std::vector<SharingScore> scores = {};
    int32_t score_of_others = 2;
    int32_t scores_max = 2;
    std::vector<double> paces = {1, 0.99, 0.96, 0.99, 0.93, 0.83, 0.96, 0.89, 0.76};
    int64_t shared_gpus_max = 8;
    double host_length_min = 0.5;
    Duration check_every = 100_s;
    int64_t busy_arrivals = 2;

    template <class V>
    void fields(V& v) {
      v("profiler_gpus", profiler_gpus,
        "GPUs reserved for profiling; 0: jobs are not profiled. A job that needs more than all "
        "unreserved GPUs can start only in the profiler.",
        Range{int64_t{0}, int64_t{1'000'000}});
      v("profiled_gpus_max", profiled_gpus_max, "Jobs with more GPUs than this are not profiled.",
        Range{int64_t{1}, int64_t{1'000'000}});
      v("profile_time", profile_time,
        "A job that has run in the profiler for this time is stopped and joins the queue. The job "
        "keeps its progress.",
        Range{1_s, 24_h}, Source{"Lucid artifact: 500 s"});
      v("scores", scores, "Sharing scores of applications, as found by profiling.",
        Source{"empty: the Lucid artifact's labels of 66 model configurations are not built in"});
      v("score_of_others", score_of_others, "Score of applications that `scores` does not list.",
        Range{0, 2});
      v("scores_max", scores_max, "Two jobs may share if the sum of their scores is at most this.",
        Range{0, 4}, Source{"Lucid artifact: 2"});
      v("paces", paces,
        "Pace of a sharing job, relative to exclusive use: nine numbers. The first three are for "
        "jobs with score 0, the next three for score 1, the last three for score 2. The "
        "three numbers of each score are for partners with scores 0, 1 and 2.",
        Range{0.0, 1000.0}, Source{"means over the 1,388 pairs measured for Lucid, limited to 1"});
      v("shared_gpus_max", shared_gpus_max, "Jobs with more GPUs than this never share.",
        Range{int64_t{0}, int64_t{1'000'000}}, Source{"Lucid artifact: 8"});
      v("host_length_min", host_length_min,
        "A waiting job joins a running job only if the running job's estimated GPU time is at "
        "least this multiple of the waiting job's.",
        Range{0.0, 1000.0}, Source{"Lucid artifact: half"});
      v("check_every", check_every, "Time between checks of the load (see busy_arrivals).",
        Range{1_s, 24_h}, Source{"Lucid artifact: 100 s"});
      v("busy_arrivals", busy_arrivals,
        "The cluster is busy if a check finds that more jobs than this arrived in the last "
        "10 min; negative: always.",
        Unit{"jobs"}, Range{int64_t{-1}, int64_t{1'000'000}},
        Source{"Lucid artifact: 2 predicted arrivals"});
    }
    void check(Checker& c) const {
      const bool is_table =
          paces.size() == 9 && std::ranges::all_of(paces, [](double pace) { return pace > 0; });
      if (!is_table) c.error("paces", "must have 9 numbers, all above 0");
      if (profiler_gpus > 0 && profiled_gpus_max > profiler_gpus) {
        c.error("profiled_gpus_max", "must not be above profiler_gpus");
      }
      if (scores.empty() && 2 * score_of_others > scores_max) {
        c.warning("scores", "no two jobs share without scores and with this score_of_others");
      }
    }
  };
  static constexpr Traits kTraits = Trait::StopsJobs;
  Lucid(JobBoard& board, const Params& params) : board_{board}, params_{params} {}

  std::vector<std::string> named_in_vain() const override {
    std::map<std::string, int32_t> named;
    for (const SharingScore& entry : params_.scores) named.emplace(entry.application, entry.score);
    return orrery::named_in_vain("scores", "application", named, [&](const std::string& name) {
      return board_.has_application(name);
    });
  }

  // The rank is units of the counted resource times milliseconds. A million GPUs for a century make
  // 3.2e18, which fits into 64 bits.
  int64_t rank(const QueuedJob& job) override { return job.estimate.first / 1_ms * job.ask.units; }

  void plan(const PlanNews& /*news*/) override {
    const Time now = board_.now();
    if (now >= next_check_) check_load(now);
    leave_profiler(now);
    enter_profiler();
    start_others();
    Time next = board_.waiting().is_empty() ? Time::max() : next_check_;
    for (const JobSlot job : profiling_) {
      if (board_.job(job).is_running()) next = std::min(next, profiled_at(job));
    }
    board_.wake_at(next);
  }

  void job_waits(const QueuedJob& job) override {
    if (job.slot >= standings_.size()) standings_.resize(job.slot + size_t{1});
    if (job.progress.started >= Time{} || standings_[job.slot].serial == job.serial + 1) return;
    const bool is_profiled =
        params_.profiler_gpus > 0 && job.ask.units <= params_.profiled_gpus_max;
    standings_[job.slot] = {.stage = is_profiled ? Stage::New : Stage::Known,
                            .score = score_of(job),
                            .serial = job.serial + 1};
    arrivals_.push_back(job.submitted);
  }
  void job_starts(const QueuedJob& job) override {
    if (standings_[job.slot].stage == Stage::Profiling) {
      profiling_.push_back(job.slot);
      in_profiler_ += job.ask.units;
    } else if (job.ask.units <= params_.shared_gpus_max) {
      sharing_.push_back(job.slot);
    }
  }
  void job_stops(const QueuedJob& job) override { leaves(job); }
  void job_ends(const QueuedJob& job) override { leaves(job); }

 private:
  enum class Stage : uint8_t { New, Profiling, Known };
  struct Standing {
    Stage stage = Stage::Known;
    int32_t score = 2;
    uint64_t serial = 0;  // serial of the job, plus one
  };

  int32_t score_of(const QueuedJob& job) const {
    const auto found = std::ranges::find(params_.scores, board_.application_name(job.application),
                                         &SharingScore::application);
    return found == params_.scores.end() ? params_.score_of_others : found->score;
  }
  void check_load(Time now) {
    while (!arrivals_.empty() && now - arrivals_.front() > 10_min) arrivals_.pop_front();
    may_share_ = static_cast<int64_t>(arrivals_.size()) > params_.busy_arrivals;
    next_check_ = now + params_.check_every;
  }

  Time profiled_at(JobSlot job) const {
    return board_.job(job).progress.counted_from + params_.profile_time;
  }
  void leave_profiler(Time now) {
    const std::vector<JobSlot> jobs = profiling_;
    for (const JobSlot job : jobs) {
      if (board_.job(job).is_running() && now >= profiled_at(job)) board_.stop(job);
    }
  }
  // Starts new jobs in the profiler, the smallest first. If a job does not fit, the jobs behind
  // it wait too.
  void enter_profiler() {
    if (params_.profiler_gpus == 0) return;
    jobs_.clear();
    board_.waiting().for_each([&](JobSlot job) {
      if (standings_[job].stage == Stage::New) jobs_.push_back(job);
    });
    std::ranges::sort(jobs_, {}, [&](JobSlot job) {
      return std::tuple{board_.job(job).ask.units, board_.job(job).serial};
    });
    for (const JobSlot slot : jobs_) {
      const QueuedJob& job = board_.job(slot);
      if (in_profiler_ + job.ask.units > params_.profiler_gpus || !board_.fits(job)) return;
      standings_[slot].stage = Stage::Profiling;
      if (!board_.start(slot)) standings_[slot].stage = Stage::New;
    }
  }

  void start_others() {
    jobs_.clear();
    board_.waiting().for_each([&](JobSlot job) {
      if (standings_[job].stage == Stage::Known) jobs_.push_back(job);
    });
    const bool may_share = may_share_ && board_.has_paces();
    for (const JobSlot slot : jobs_) {
      const QueuedJob& job = board_.job(slot);
      const JobSlot host = may_share ? host_for(job) : kNoJob;
      if (host != kNoJob) {
        join(slot, host);
      } else if (fits_beside_profiler(job)) {
        board_.start(slot);
      } else if (!may_share) {
        return;
      }
    }
  }
  bool fits_beside_profiler(const QueuedJob& job) const {
    const int64_t kept = std::max(params_.profiler_gpus - in_profiler_, int64_t{0});
    return board_.fits(job) && job.ask.count + kept * board_.unit() <= board_.free();
  }
  JobSlot host_for(const QueuedJob& job) {
    if (job.ask.units > params_.shared_gpus_max || job.ask.units == 0) return kNoJob;
    for (const JobSlot slot : sharing_) {
      const QueuedJob& host = board_.job(slot);
      const bool is_alone = host.is_running() && !host.is_over && host.partner == kNoJob;
      if (!is_alone || host.ask.request != job.ask.request) continue;
      if (standings_[slot].score + standings_[job.slot].score > params_.scores_max) continue;
      const double length = static_cast<double>(rank(host));
      if (length >= params_.host_length_min * static_cast<double>(rank(job))) return slot;
    }
    return kNoJob;
  }
  void join(JobSlot slot, JobSlot host) {
    if (!board_.start_beside(slot, host)) return;
    const auto pace = [&](JobSlot own, JobSlot other) {
      const int32_t at = 3 * standings_[own].score + standings_[other].score;
      const double own_pace = params_.paces[static_cast<size_t>(at)];
      return Pace::of_millionths(std::llround(own_pace * Pace::kFull), 500);
    };
    board_.set_pace(slot, pace(slot, host));
    board_.set_pace(host, pace(host, slot));
  }
  void leaves(const QueuedJob& job) {
    if (std::erase(profiling_, job.slot) == 0) {
      std::erase(sharing_, job.slot);
      return;
    }
    in_profiler_ -= job.ask.units;
    standings_[job.slot].stage = Stage::Known;
  }

  JobBoard& board_;
  const Params params_;
  std::vector<Standing> standings_;           // by job
  std::vector<JobSlot> profiling_, sharing_;  // running jobs, in the order of their starts
  std::deque<Time> arrivals_;  // submissions of the last 10 min, and older ones until check_load()
  std::vector<JobSlot> jobs_;  // scratch space of plan()
  int64_t in_profiler_ = 0;
  Time next_check_;
  bool may_share_ = false;
};
ORRERY_REGISTER_POLICY(
    Lucid, "Lucid",
    "Jobs with the least estimated GPU time start first. While the cluster is busy, two jobs with "
    "equal requests may share their GPUs, if the scores of their applications allow it. The memory "
    "of GPUs is ignored. While the cluster is not busy, no job overtakes the first waiting job "
    "that does not fit. Without `driver: counting`, the cluster never counts as busy, whatever "
    "`busy_arrivals` is. Host time: O(waiting jobs * running jobs) for each plan.");

}  // namespace
}  // namespace orrery
