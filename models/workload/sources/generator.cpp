#include "models/workload/sources/generator.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// One of the two arrival processes: jobs one by one (churn), or bursts. Every attribute has its own
// random stream, so a change to one attribute (a new team, another size) never shifts the others.
struct Arrivals {
  Arrivals(std::string_view process, const RngStreams& rng, uint64_t index)
      : arrival{stream(process, "arrival", rng, index)},
        jobs{stream(process, "jobs", rng, index)},
        shape{stream(process, "shape", rng, index)},
        gpus{stream(process, "gpus", rng, index)},
        duration{stream(process, "duration", rng, index)},
        team{stream(process, "team", rng, index)},
        user{stream(process, "user", rng, index)},
        priority{stream(process, "priority", rng, index)},
        ends{stream(process, "ends", rng, index)} {}

  static Rng stream(std::string_view process, std::string_view attribute, const RngStreams& rng,
                    uint64_t index) {
    std::string name = "workload.";
    name.append(process).append(".").append(attribute);
    return rng.stream(name, index);
  }

  Rng arrival, jobs, shape, gpus, duration, team, user, priority, ends;
  Time next = Time::max();
  int32_t jobs_left = 0;  // jobs left of the burst at `next`
};

class Generator final : public JobSource {
 public:
  Generator(const GeneratorParams& params, const TrainingParams& training, const RngStreams& rng,
            uint64_t index)
      : params_{params},
        training_{params.training.value_or(training)},
        churn_{"churn", rng, index},
        burst_{"burst", rng, index},
        end_{params.until.has_value() ? Time{} + *params.until : Time::max()} {
    for (const auto& [team, weight] : params_.teams) {
      teams_.push_back(team);
      team_weights_.push_back(weight);
    }
    for (const PriorityParams& one : params_.priorities) priority_weights_.push_back(one.weight);
    const Time start = Time{} + params_.start;
    if (params_.arrival_rate > 0) churn_.next = start + churn_gap();
    if (params_.burst.has_value()) next_burst(start);
    advance();
  }

  const JobSpec* peek() override { return has_job_ ? &job_ : nullptr; }
  void pop() override { advance(); }

 private:
  Duration churn_gap() {
    return nearest_ns(churn_.arrival.exponential() * 3600 / params_.arrival_rate);
  }
  void next_burst(Time from) {
    const BurstParams& burst = *params_.burst;
    burst_.next = from + burst_.arrival.exponential(burst.every);
    burst_.jobs_left = draw(burst.jobs, burst_.jobs);
  }

  void advance() {
    has_job_ = false;
    if (params_.jobs_max > 0 && made_ == params_.jobs_max) return;
    while (burst_.next < end_ && burst_.jobs_left == 0) next_burst(burst_.next);
    const bool is_burst = burst_.next < churn_.next;
    Arrivals& process = is_burst ? burst_ : churn_;
    if (process.next >= end_ || process.next == Time::max()) return;
    job_.submitted = process.next;
    if (is_burst) {
      --burst_.jobs_left;
      make_job(burst_, params_.burst->shape.has_value() ? *params_.burst->shape : params_.shape);
    } else {
      churn_.next = churn_.next + churn_gap();
      make_job(churn_, params_.shape);
    }
    has_job_ = true;
  }

  void make_job(Arrivals& process, const JobShape& shape) {
    const JobSizeModel::Draw size = draw_shape(process, shape);
    job_.external_id = made_++;
    job_.name = params_.name + "-" + std::to_string(job_.external_id);
    job_.work = size.duration;
    if (!teams_.empty()) job_.team = teams_[draw_weighted(team_weights_, process.team)];
    if (params_.users_per_team > 0) {
      const uint64_t user = process.user.below(static_cast<uint64_t>(params_.users_per_team));
      job_.user = (job_.team.empty() ? "user" : job_.team) + "-" + std::to_string(user);
    }
    int32_t priority = 0;
    if (!priority_weights_.empty()) {
      priority = params_.priorities[draw_weighted(priority_weights_, process.priority)].priority;
    }
    split_into_pods(size.gpus, priority);
    job_.ending = draw_ending(process, shape);
    training_.apply(job_);
  }

  std::optional<Ending> draw_ending(Arrivals& process, const JobShape& shape) const {
    const auto* const preset = std::get_if<PresetShape>(&shape);
    if (preset == nullptr || preset->ends == PresetEnds::Completed) return {};
    const PublishedJobs& published = published_jobs(preset->preset);
    const double percent = 100 * process.ends.uniform();
    if (percent < published.cancelled_percent) {
      return Ending{job_.work, kTerminated, EndCause::Cancelled};
    }
    if (percent < published.cancelled_percent + published.failed_percent) {
      return Ending{job_.work, 1, EndCause::Error};
    }
    return {};
  }

  JobSizeModel::Draw draw_shape(Arrivals& process, const JobShape& shape) {
    if (const auto* const preset = std::get_if<PresetShape>(&shape)) {
      JobSizeModel::Draw size = JobSizeModel::preset(preset->preset).draw(process.shape);
      if (preset->gpus_max > 0) size.gpus = std::min(size.gpus, preset->gpus_max);
      return size;
    }
    const auto& classes = std::get<ClassesShape>(shape).classes;
    size_t chosen = 0;
    if (classes.size() > 1) {
      weights_.clear();
      for (const JobClassParams& one : classes) weights_.push_back(one.weight);
      chosen = draw_weighted(weights_, process.shape);
    }
    return {.gpus = draw(classes[chosen].gpus, process.gpus),
            .duration = draw(classes[chosen].duration, process.duration)};
  }

  void split_into_pods(int32_t gpus, int32_t priority) {
    const int32_t per_pod = std::min(gpus, params_.gpus_per_pod_max);
    const int32_t whole = per_pod == 0 ? 1 : gpus / per_pod;
    const int32_t rest = per_pod == 0 ? 0 : gpus % per_pod;
    job_.kind = training_.kind_of(params_.job_kind, whole + (rest > 0 ? 1 : 0));
    job_.gangs.resize(1);
    auto& roles = job_.gangs[0].roles;
    roles.resize(rest > 0 ? 2 : 1);
    roles[0] = {spec_of(per_pod, priority), whole};
    if (rest > 0) roles[1] = {spec_of(rest, priority), 1};
  }

  PodSpec spec_of(int32_t gpus, int32_t priority) const {
    PodSpec spec;
    spec.gpus = gpus;
    spec.cpu_milli = std::llround(params_.cpus_per_gpu * 1000 * gpus);
    spec.memory_bytes = params_.memory_per_gpu.count * gpus;
    spec.nics = params_.nics_per_gpu * gpus;
    spec.priority = priority;
    params_.pods.apply(spec);
    return spec;
  }

  GeneratorParams params_;
  TrainingParams training_;
  Arrivals churn_, burst_;
  Time end_;
  std::vector<std::string> teams_;
  std::vector<double> team_weights_, priority_weights_;
  std::vector<double> weights_;  // weights of the classes; a member to save allocations
  JobSpec job_;
  bool has_job_ = false;
  int64_t made_ = 0;
};

}  // namespace

std::unique_ptr<JobSource> make_generator(const GeneratorParams& params,
                                          const TrainingParams& training, const RngStreams& rng,
                                          uint64_t index) {
  return std::make_unique<Generator>(params, training, rng, index);
}

}  // namespace orrery
