// models/workload/sources/generator.hpp -- parameters of a generator of jobs that arrive one by one
// and in bursts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/workload/job/job_source.hpp"
#include "models/workload/job/pod_params.hpp"
#include "models/workload/sources/distributions.hpp"
#include "models/workload/sources/training_params.hpp"
#include "sim/config/value_distributions.hpp"

namespace orrery {

struct PresetShape {
  static constexpr std::string_view kKind = "preset";
  static constexpr std::string_view kDoc = "Sizes and durations as published for a cluster.";

  JobSizePreset preset = JobSizePreset::Helios;
  int32_t gpus_max = 0;
  PresetEnds ends = PresetEnds::Completed;

  template <class V>
  void fields(V& v) {
    v("preset", preset,
      "The cluster. Its data are from AcmeTrace's cluster_summary.csv and from the figures of "
      "AcmeTrace's paper (NSDI 2024).",
      Required{});
    v("gpus_max", gpus_max, "Larger jobs are cut to this size; 0: no limit.", Range{0, 1'000'000},
      Unit{"GPU"});
    v("ends", ends,
      "completed: all jobs complete. published: each job is cancelled, or fails for good, with the "
      "probability published for the cluster, whatever the job's size. A cancelled or failed job "
      "ends when its duration is over.");
  }
};
struct JobClassParams {
  static constexpr std::string_view kDoc = "Jobs with sizes and durations of one kind.";

  double weight = 1;
  CountDistribution gpus = {};
  DurationDistribution duration = {};

  template <class V>
  void fields(V& v) {
    v("weight", weight, "Relative frequency of this class.", kWeights);
    v("gpus", gpus, "GPUs of a job; 0: one pod without GPUs.", Required{}, Unit{"GPU"});
    v("duration", duration, "Compute time of a job.", Required{});
  }
};
struct ClassesShape {
  static constexpr std::string_view kKind = "classes";
  static constexpr std::string_view kDoc = "A mixture of classes of jobs.";

  std::vector<JobClassParams> classes = {};

  template <class V>
  void fields(V& v) {
    v("classes", classes, "Classes of jobs with their own sizes and durations.", Required{});
  }
  template <class C>
  void check(C& c) const {
    double sum = 0;
    for (const JobClassParams& one : classes) sum += one.weight;
    if (sum <= 0) c.error("classes", "needs a class with a weight above 0");
  }
};
using JobShape = std::variant<PresetShape, ClassesShape>;

struct BurstParams {
  static constexpr std::string_view kDoc = "Bursts of jobs submitted at one instant.";

  Duration every = 1_h;
  CountDistribution jobs = {};
  std::optional<JobShape> shape = {};

  template <class V>
  void fields(V& v) {
    v("every", every, "Mean time between bursts. Bursts arrive as a Poisson process.", Required{},
      Range{1_ms, Duration::max()});
    v("jobs", jobs, "Number of jobs in a burst.", Unit{"jobs"});
    v("shape", shape, "Sizes and durations of the burst's jobs; absent: the generator's `shape`.");
  }
  template <class C>
  void check(C& c) const {
    if (greatest(jobs) == 0) c.error("jobs", "must not always be 0");
  }
};

struct PriorityParams {
  static constexpr std::string_view kDoc = "A priority and its relative frequency.";

  int32_t priority = 0;
  double weight = 1;

  template <class V>
  void fields(V& v) {
    v("priority", priority, "Priority of the pods.", kPriorities, Required{});
    v("weight", weight, "Relative frequency of this priority.", kWeights);
  }
};

struct GeneratorParams {
  static constexpr std::string_view kKind = "generator";
  static constexpr std::string_view kDoc = "Generates jobs from the seed of the run.";

  double arrival_rate = 0;
  std::optional<BurstParams> burst = {};
  JobShape shape = {};
  KindOfJob job_kind = KindOfJob::Auto;
  int32_t gpus_per_pod_max = 8;
  double cpus_per_gpu = 0;
  Bytes memory_per_gpu = {};
  int32_t nics_per_gpu = 0;
  PodConstraintParams pods = {};
  std::map<std::string, double> teams = {};
  int32_t users_per_team = 0;
  std::vector<PriorityParams> priorities = {};
  std::string name = "job";
  std::optional<TrainingParams> training = {};
  Duration start = {};
  std::optional<Duration> until = {};
  int64_t jobs_max = 0;

  template <class V>
  void fields(V& v);
  template <class C>
  void check(C& c) const;
};

// `index` is the place of the generator among the sources. Each generator has its own random
// streams.
std::unique_ptr<JobSource> make_generator(const GeneratorParams& params,
                                          const TrainingParams& training, const RngStreams& rng,
                                          uint64_t index);

}  // namespace orrery

#include "models/workload/sources/generator_fields.hpp"
