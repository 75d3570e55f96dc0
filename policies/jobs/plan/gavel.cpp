// Gavel (OSDI'20): each job gets its fair share of time on each GPU model, in rounds. Example: two
// jobs with a share of 1/2 of the same GPUs run in alternate rounds.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "models/scheduling/toolbox/fair_time.hpp"
#include "models/scheduling/toolbox/gpu_speeds.hpp"
#include "models/scheduling/toolbox/named_in_vain.hpp"
#include "models/scheduling/toolbox/time_sharing.hpp"

namespace orrery {
namespace {

enum class Objective : uint8_t { MaxMin, FinishTime };
constexpr std::array<std::string_view, 2> enum_names(Objective) {
  return {"max_min", "finish_time"};
}
constexpr int32_t kNowhere = -1;

class Gavel final : public Policy, public Plan, public JobWatcher {
 public:
  struct Params {
    Objective objective = Objective::MaxMin;
    Duration round = 6_min;
    GpuSpeedParams speeds = {};
    std::map<std::string, double> weights = {};

    template <class V>
    void fields(V& v) {
      v("objective", objective,
        "max_min: maximises the lowest of the jobs' normalised throughputs; finish_time: minimises "
        "the largest ratio of a job's finish time to its finish time on an equal part of the "
        "cluster.",
        Source{"Gavel, OSDI'20, section 4.1"});
      v("round", round,
        "Length of a round. At the start of a round, the jobs that run in it are chosen.",
        Range{1_s, 10'000_h}, Source{"Gavel, OSDI'20: 6 min"});
      v("speeds", speeds, "Speeds of jobs on each GPU model.");
      v("weights", weights,
        "Weights of teams, by name; other teams have weight 1. No effect with objective: "
        "finish_time.",
        Range{0.0, 1e9});
    }
    void check(Checker& c) const {
      for (const auto& [team, weight] : weights) {
        if (!(weight > 0)) c.error("weights", "must be above 0");
      }
    }
  };
  static constexpr Traits kTraits = Trait::StopsJobs;
  Gavel(JobBoard& board, const Params& params)
      : board_{board}, params_{params}, speeds_{params.speeds} {}

  std::vector<std::string> named_in_vain() const override {
    auto messages = orrery::named_in_vain("weights", "team", params_.weights,
                                          [&](const std::string& n) { return board_.has_team(n); });
    const auto tell_if_no_gpu = [&](const std::string& parameter, const std::string& gpu) {
      std::string models;
      for (const PoolPart& part : board_.parts()) {
        if (part.model == gpu) return;
        if (!part.model.empty()) models += (models.empty() ? "" : ", ") + part.model;
      }
      messages.push_back(parameter + " names GPU '" + gpu + "', which no node has; there are " +
                         models);
    };
    for (const auto& [gpu, name] : params_.speeds.names) tell_if_no_gpu("speeds.names", gpu);
    for (size_t i = 0; i < params_.speeds.list.size(); ++i) {
      const GpuSpeedEntry& entry = params_.speeds.list[i];
      const std::string where = "speeds.list[" + std::to_string(i) + "]";
      tell_if_no_gpu(where, entry.gpu);
      if (entry.application.empty() || board_.has_application(entry.application)) continue;
      messages.push_back(where + " names application '" + entry.application +
                         "', of which no job came");
    }
    return messages;
  }
  void plan(const PlanNews& /*news*/) override {
    if (board_.now() >= round_ends_) begin_round();
    give_way();
    fill_in();
    board_.wake_at(round_ends_);
  }

  void job_waits(const QueuedJob& job) override {
    if (job.slot >= standings_.size()) standings_.resize(job.slot + size_t{1});
    if (job.progress.started >= Time{}) return;
    standings_[job.slot] = {};
    has_changed_ = true;
  }
  void job_starts(const QueuedJob& job) override { used_of(job) += job.ask.count; }
  void job_stops(const QueuedJob& job) override { used_of(job) -= job.ask.count; }
  void job_ends(const QueuedJob& job) override {
    used_of(job) -= job.ask.count;
    has_changed_ = true;
  }
  void job_cancelled(const QueuedJob& /*job*/) override { has_changed_ = true; }

 private:
  struct Standing {
    std::vector<double> speed;     // by part of the pool
    std::vector<double> share;     // share of future time, by part of the pool
    std::vector<double> due, had;  // by part: rounds that the job should have had; rounds it had
    double isolated = 0;  // seconds that the work so far takes on an equal part of the cluster
    Duration counted;     // work included in `isolated`
    int32_t chosen = kNowhere;  // part of the pool for this round
    int32_t part = kNowhere;    // part where the job runs, or ran last
  };
  struct Claim {
    double priority;
    bool must_move;
    uint64_t serial;
    JobSlot job;
    size_t part;
  };

  int64_t& used_of(const QueuedJob& job) {
    const auto part = static_cast<size_t>(standings_[job.slot].part);
    if (part >= used_.size()) used_.resize(part + 1);
    return used_[part];
  }
  // Updates `counts_`: how much of the counted resource each part of the pool has. A part has the
  // GPUs of one model. With `driver: per_pod` or `per_gang` the speed of a job does not depend on
  // the GPU model, and the whole pool is one part.
  void look_at_pool() {
    std::vector<int64_t> counts;
    if (!board_.has_paces()) {
      counts.push_back(board_.capacity());
    } else {
      for (const PoolPart& part : board_.parts()) counts.push_back(part.count);
    }
    if (counts == counts_) return;
    counts_ = std::move(counts);
    used_.resize(counts_.size());
    has_changed_ = true;
  }
  void meet(const QueuedJob& job) {
    Standing& s = standings_[job.slot];
    if (!s.speed.empty()) return;
    s.share.assign(counts_.size(), 0);
    s.due = s.had = s.share;
    for (size_t k = 0; k < counts_.size(); ++k) {
      s.speed.push_back(board_.has_paces() ? speeds_.speed(board_.application_name(job.application),
                                                           job.ask.units, board_.parts()[k].model)
                                           : 1);
    }
  }

  void begin_round() {
    round_ends_ = board_.now() + params_.round;
    look_at_pool();
    collect_jobs(board_, jobs_);
    for (const JobSlot job : jobs_) meet(board_.job(job));
    if (has_changed_ || params_.objective == Objective::FinishTime) share_time();
    has_changed_ = false;
    std::vector<Claim> claims;
    for (const JobSlot job : jobs_) claim(board_.job(job), claims);
    std::ranges::sort(claims, {}, [](const Claim& c) {
      return std::tuple{-c.priority, c.must_move, c.serial, c.part};
    });
    std::vector<int64_t> left = counts_;
    for (const Claim& c : claims) take(c, left);
    for (const JobSlot job : jobs_) {
      const Standing& s = standings_[job];
      if (s.chosen != kNowhere) ++standings_[job].had[static_cast<size_t>(s.chosen)];
    }
  }

  // Adds a claim of the job for each part of the pool that can run the job. The higher the ratio of
  // due rounds to received rounds, the earlier the claim is served. Claims for parts in which the
  // job has no share of time come last; among these, the claim with the highest speed is first.
  void claim(const QueuedJob& job, std::vector<Claim>& claims) {
    Standing& s = standings_[job.slot];
    s.chosen = kNowhere;
    for (size_t k = 0; k < counts_.size(); ++k) {
      s.due[k] += s.share[k];
      if (s.speed[k] <= 0) continue;
      constexpr double kNever = 1e9;  // above any ratio of rounds, as in Gavel's artifact
      const double served = s.had[k] > 0 ? s.due[k] / s.had[k] : s.due[k] * kNever;
      const double priority = s.share[k] > 0 ? served : s.speed[k] * 1e-12;
      const bool must_move = job.is_running() && s.part != static_cast<int32_t>(k);
      claims.push_back({priority, must_move, job.serial, job.slot, k});
    }
  }
  void take(const Claim& c, std::vector<int64_t>& left) {
    Standing& s = standings_[c.job];
    const int64_t count = board_.job(c.job).ask.count;
    if (s.chosen != kNowhere || count > left[c.part]) return;
    s.chosen = static_cast<int32_t>(c.part);
    left[c.part] -= count;
  }

  void share_time() {
    std::vector<FairTimeJob> fair;
    std::vector<double> gpus;
    const double unit = static_cast<double>(board_.capacity());
    for (const int64_t count : counts_) gpus.push_back(static_cast<double>(count) / unit);
    for (const JobSlot slot : jobs_) {
      const QueuedJob& job = board_.job(slot);
      const auto weight = params_.weights.find(std::string{board_.team_name(job.team)});
      fair.push_back({.gpus = static_cast<double>(job.ask.count) / unit,
                      .weight = weight == params_.weights.end() ? 1 : weight->second,
                      .speed = standings_[slot].speed});
      if (params_.objective == Objective::FinishTime) add_times(job, gpus, fair.back());
    }
    const FairTime result =
        params_.objective == Objective::MaxMin ? max_min_time(fair, gpus) : finish_time(fair, gpus);
    for (size_t j = 0; j < jobs_.size(); ++j) standings_[jobs_[j]].share = result.x[j];
  }
  void add_times(const QueuedJob& job, std::span<const double> gpus, FairTimeJob& fair) {
    Standing& s = standings_[job.slot];
    const Time now = board_.now();
    const double speed = speed_alone(fair, gpus, jobs_.size());
    const Duration done = job.executed_by(now);
    if (speed > 0) s.isolated += (done - s.counted).seconds() / speed;
    s.counted = done;
    fair.elapsed = (now - job.submitted).seconds();
    fair.isolated = s.isolated;
    fair.left = std::max(job.left(now), 1_s).seconds();
  }

  void give_way() {
    for (const JobSlot job : jobs_) {
      const Standing& s = standings_[job];
      const QueuedJob& record = board_.job(job);
      if (record.is_running() && s.chosen != s.part) board_.stop(job);
    }
  }
  void fill_in() {
    for (const JobSlot slot : jobs_) {
      Standing& s = standings_[slot];
      const QueuedJob& job = board_.job(slot);
      if (s.chosen == kNowhere || job.state != QueuedState::Waiting || !board_.fits(job)) continue;
      const auto part = static_cast<size_t>(s.chosen);
      if (used_[part] + job.ask.count > counts_[part]) continue;
      s.part = s.chosen;
      if (board_.start(slot) && board_.has_paces()) {
        board_.set_pace(slot, Pace::of_millionths(std::llround(s.speed[part] * Pace::kFull)));
      }
    }
  }

  JobBoard& board_;
  const Params params_;
  const GpuSpeeds speeds_;
  std::vector<int64_t> counts_, used_;  // amounts available, and held by jobs, by part of the pool
  std::vector<Standing> standings_;     // by job
  std::vector<JobSlot> jobs_;           // waiting and running jobs of this round
  Time round_ends_;
  bool has_changed_ = false;
};
ORRERY_REGISTER_POLICY(Gavel, "Gavel",
                       "Fair shares of the time on each GPU model, approximated by rounds. In a "
                       "round, a job runs on GPUs of one model, at that model's speed. With "
                       "`driver: per_pod` or `per_gang`, all GPUs count as one model. A job that "
                       "arrives during a round waits for the next one. Host time: O(n log n) per "
                       "round over all waiting and running jobs. With several models, each round "
                       "may also solve linear programs: two for max_min, about 20 for finish_time. "
                       "Each program has a variable for each job and model.");

}  // namespace
}  // namespace orrery
