#include "models/workload/traces/synthesis/trace_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

constexpr Duration kHour = 3600_s;
constexpr size_t kDay = 24;  // hours
constexpr size_t kWeek = 7 * kDay;
constexpr size_t kJobsOfWeek = 20 * kWeek;  // with fewer jobs, an hour of the week has too few gaps

}  // namespace

uint32_t TraceModel::Drawn::draw(Rng& rng) const {
  if (indices.size() == 1) return indices[0];
  const auto at = static_cast<int64_t>(rng.below(static_cast<uint64_t>(until.back())));
  return indices[static_cast<size_t>(std::upper_bound(until.begin(), until.end(), at) -
                                     until.begin())];
}

// The class is the number of binary digits of a job's milli-GPUs, so each class covers a factor of
// two. Without GPUs the class is 64 plus the number of binary digits of (milli-CPUs + pods - 1). If
// the CPUs are unknown (0), only the number of pods counts.
int TraceModel::size_class(const TraceJob& job) {
  constexpr int kNoGpus = 64;
  const int64_t milli = job.gpu_milli_total();
  if (milli > 0) return static_cast<int>(std::bit_width(static_cast<uint64_t>(milli)));
  const auto cores = static_cast<uint64_t>(job.cpu_milli() + job.pods - 1);
  return kNoGpus + static_cast<int>(std::bit_width(cores));
}

// Returns an empty text if the pool is full and does not contain `text`.
std::string_view TraceModel::kept(std::string_view text) {
  return pool_.intern(text).value_or(std::string_view{});
}

void TraceModel::add(const TraceJob& job) {
  const Shape shape{.pods = job.pods,
                    .gpus_per_pod = job.gpus_per_pod,
                    .gpus_last_pod = job.gpus_last_pod,
                    .gpu_milli = job.gpu_milli,
                    .cpu_milli_per_pod = job.cpu_milli_per_pod,
                    .memory_per_pod = job.memory_per_pod,
                    .priority = job.priority,
                    .group = kept(job.group),
                    .queue = kept(job.queue),
                    .application = kept(job.application),
                    .gpu_models = kept(job.gpu_models)};
  const auto [at, is_new] = shape_index_.emplace(shape, static_cast<uint32_t>(shapes_.size()));
  if (is_new) shapes_.push_back(shape);
  const auto [user, is_new_user] =
      user_index_.emplace(kept(job.user), static_cast<uint32_t>(users_.size()));
  if (is_new_user) {
    users_.push_back(user->first);
    user_jobs_.push_back(0);
  }
  if (!submits_.empty() && user->second == last_user_) ++same_user_;
  last_user_ = user->second;
  ++user_jobs_[user->second];
  ++user_shapes_[{user->second, at->second}];
  submits_.push_back(job.submit);
  if (job.submit.ns % tick_.ns != 0) tick_ = 1_ns;
  if ((job.duration % duration_tick_).ns != 0) duration_tick_ = 1_ns;
  durations_[size_class(job)].push_back(job.duration.seconds());
  ++statuses_[size_class(job)][job.status];
}

size_t TraceModel::hour_of(Time at, size_t hours) const {
  return static_cast<size_t>(at.ns / kHour.ns) % hours;
}

void TraceModel::fit_gaps() {
  const bool is_long = span() >= kHour * int64_t{2 * kWeek} && submits_.size() >= kJobsOfWeek;
  const size_t hours = is_long ? kWeek : kDay;
  std::vector<std::vector<double>> gaps(hours);
  for (size_t i = 1; i < submits_.size(); ++i) {
    const Time from = submits_[i - 1];
    gaps[hour_of(from, hours)].push_back((submits_[i] - from).seconds());
  }
  gaps_.resize(hours);
  for (size_t i = 0; i < hours; ++i) {
    if (!gaps[i].empty()) gaps_[i].emplace(std::move(gaps[i]));
  }
}

void TraceModel::fit() {
  ORRERY_CHECK(!submits_.empty(), "a model needs at least one job");
  fit_gaps();
  const auto jobs = static_cast<double>(submits_.size());
  double by_chance = 0;
  int64_t sum = 0;
  for (uint32_t i = 0; i < users_.size(); ++i) {
    by_chance += std::pow(static_cast<double>(user_jobs_[i]) / jobs, 2);
    by_user_.indices.push_back(i);
    by_user_.until.push_back(sum += user_jobs_[i]);
  }
  const double seen = static_cast<double>(same_user_) / std::max(1.0, jobs - 1);
  if (by_chance < 1) user_repeats_ = std::max(0.0, (seen - by_chance) / (1 - by_chance));
  shapes_of_.resize(users_.size());
  for (const auto& [key, count] : user_shapes_) {
    Drawn& shapes = shapes_of_[key.first];
    shapes.indices.push_back(key.second);
    shapes.until.push_back((shapes.until.empty() ? 0 : shapes.until.back()) + count);
  }
  for (auto& [size, sample] : durations_) {
    duration_of_.emplace(size, traces::Quantiles{std::move(sample)});
  }
  durations_.clear();
  for (const auto& [size, counts] : statuses_) {
    Drawn& statuses = status_of_[size];
    for (const auto& [status, count] : counts) {
      statuses.indices.push_back(static_cast<uint32_t>(status));
      statuses.until.push_back((statuses.until.empty() ? 0 : statuses.until.back()) + count);
    }
  }
}

ModelledTrace::ModelledTrace(const TraceModel& model, const TraceModelParams& params)
    : model_{model},
      params_{params},
      arrival_{RngStreams{params.seed}.stream("trace.arrival")},
      user_{RngStreams{params.seed}.stream("trace.user")},
      shape_{RngStreams{params.seed}.stream("trace.shape")},
      duration_{RngStreams{params.seed}.stream("trace.duration")},
      status_{RngStreams{params.seed}.stream("trace.status")},
      exact_{model.submits_.front()},
      end_{model.submits_.front() + params.span.value_or(model.span() + 1_ns)} {
  ORRERY_CHECK(!model.gaps_.empty(), "the model was fitted");
  // If all jobs arrive at one instant, time never advances, so the number of jobs must be limited.
  if (params_.jobs_max == 0 && model.span() == Duration{}) params_.jobs_max = model.jobs();
}

// The next arrival, rounded down to a tick of the trace's clock. `exact_` is the arrival before
// rounding. A gap is the time from one submission of the trace to the next. Hours of the day (or of
// the week) in which no gap began are skipped.
Time ModelledTrace::next_arrival() {
  const auto gaps_at = [&](Time at) -> const std::optional<traces::Quantiles>& {
    return model_.gaps_[model_.hour_of(at, model_.gaps_.size())];
  };
  for (size_t i = 0; i < model_.gaps_.size() && !gaps_at(exact_); ++i) {
    exact_ = Time{(exact_.ns / kHour.ns + 1) * kHour.ns};
  }
  const auto& gaps = gaps_at(exact_);
  if (!gaps) return Time::max();  // the trace has a single job
  exact_ = exact_ + nearest_ns(gaps->at(arrival_.uniform()) / params_.load);
  return Time{exact_.ns - exact_.ns % model_.tick_.ns};
}

const TraceJob* ModelledTrace::next() {
  if (params_.jobs_max > 0 && job_.id == params_.jobs_max) return nullptr;
  const bool is_first = job_.id == 0;
  const Time submit = is_first ? model_.submits_.front() : next_arrival();
  if (submit >= end_ || submit == Time::max()) return nullptr;
  const bool repeats = user_.chance(model_.user_repeats_);
  const uint32_t user = !is_first && repeats ? last_user_ : model_.by_user_.draw(user_);
  last_user_ = user;
  const TraceModel::Shape& shape = model_.shapes_[model_.shapes_of_[user].draw(shape_)];
  const int64_t id = job_.id + 1;
  job_ = {};
  job_.id = job_.row = id;
  job_.name = TraceName{std::to_string(id)};
  job_.submit = submit;
  job_.user = model_.users_[user];
  job_.pods = shape.pods;
  job_.gpus_per_pod = shape.gpus_per_pod;
  job_.gpus_last_pod = shape.gpus_last_pod;
  job_.gpu_milli = shape.gpu_milli;
  job_.cpu_milli_per_pod = shape.cpu_milli_per_pod;
  job_.memory_per_pod = shape.memory_per_pod;
  job_.priority = shape.priority;
  job_.group = shape.group;
  job_.queue = shape.queue;
  job_.application = shape.application;
  job_.gpu_models = shape.gpu_models;
  const int size = TraceModel::size_class(job_);
  const Duration half = Duration{model_.duration_tick_.ns / 2};
  job_.duration = nearest_ns(model_.duration_of_.at(size).at(duration_.uniform())) + half;
  job_.duration -= job_.duration % model_.duration_tick_;
  job_.status = static_cast<TraceStatus>(model_.status_of_.at(size).draw(status_));
  return &job_;
}

}  // namespace orrery
