// models/workload/sources/generator_fields.hpp -- fields() and check() of GeneratorParams, and
// functions on job shapes; included by generator.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include "models/workload/sources/explicit_jobs.hpp"
#include "models/workload/sources/generator.hpp"

namespace orrery {

template <class V>
void GeneratorParams::fields(V& v) {
  v("arrival_rate", arrival_rate, "Rate of the jobs that arrive one by one (a Poisson process).",
    Range{0.0, 1e9}, Unit{"jobs/h"});
  v("burst", burst, "Jobs that arrive in bursts; absent: no bursts.");
  v("shape", shape, "Sizes and compute times of jobs.", Required{});
  v("job_kind", job_kind,
    "pods: the pods of a job are independent. mpi_gang: they are a gang with one communicator. "
    "auto: mpi_gang if the job has several pods, or if training.checkpoint or training.step is "
    "set; else pods.");
  v("gpus_per_pod_max", gpus_per_pod_max,
    "Jobs with more GPUs have pods of this many GPUs, and one pod with the remaining GPUs.",
    Range{1, 16}, Unit{"GPU"});
  v("cpus_per_gpu", cpus_per_gpu, "CPU cores of a pod for each GPU; 0: no request.",
    Range{0.0, 10'000.0}, Unit{"cores"});
  v("memory_per_gpu", memory_per_gpu, "Host memory of a pod for each GPU; 0: no request.",
    Range{Bytes{}, kNodeMemoryMax});
  v("nics_per_gpu", nics_per_gpu, "RDMA devices of a pod for each GPU.", Range{0, 8}, Unit{"NIC"});
  v("pods", pods, "Constraints, labels and image of the pods.");
  v("teams", teams, "Teams and their relative frequencies; empty: no team.", kWeights);
  v("users_per_team", users_per_team,
    "Number of users of each team, who submit equally often; 0: jobs have no user.",
    Range{0, 1'000'000}, Unit{"users"});
  v("priorities", priorities, "Priorities of jobs; empty: all jobs have priority 0.");
  v("name", name, "Prefix of the jobs' names; a dash and a number follow it.");
  v("training", training, "Start, checkpoints and restarts; absent: as in workload.training.");
  v("start", start, "No job arrives before this time.", IsInstant{});
  v("until", until,
    "No job arrives at this time or later; absent: jobs arrive until the end of the run.");
  v("jobs_max", jobs_max, "Maximum number of jobs; 0: no limit.", Unit{"jobs"},
    Range{int64_t{0}, int64_t{1'000'000'000'000}});
}

// The largest number of GPUs that a job of a mixture of classes can have. 0 for a preset.
inline int64_t gpus_most(const JobShape& shape) {
  const auto* const mixture = std::get_if<ClassesShape>(&shape);
  int32_t most = 0;
  for (size_t i = 0; mixture != nullptr && i < mixture->classes.size(); ++i) {
    if (mixture->classes[i].weight > 0) most = std::max(most, greatest(mixture->classes[i].gpus));
  }
  return most;
}

// All job shapes of the generator: that of single arrivals, and that of bursts.
inline std::vector<const JobShape*> shapes_of(const GeneratorParams& generator) {
  std::vector<const JobShape*> shapes;
  if (generator.arrival_rate > 0) shapes.push_back(&generator.shape);
  const auto& burst = generator.burst;
  if (burst) shapes.push_back(burst->shape ? &*burst->shape : &generator.shape);
  return shapes;
}

template <class C>
void GeneratorParams::check(C& c) const {
  if (burst.has_value()) {
    const int64_t gpus = gpus_most(burst->shape.has_value() ? *burst->shape : shape);
    const int64_t pods_most =
        std::max<int64_t>(1, (gpus + gpus_per_pod_max - 1) / gpus_per_pod_max);
    if (pods_most * greatest(burst->jobs) > kPodsAtOnceMax) {
      c.error("burst.jobs", "at most 10000000 pods may be submitted at one instant");
    }
  }
  if (arrival_rate <= 0 && !burst.has_value()) {
    c.error("arrival_rate", "must be above 0 unless there is a burst: else no job arrives");
  }
  if (until.has_value() && *until <= start) c.error("until", "must be later than start");
  double sum = 0;
  for (const auto& [team, weight] : teams) sum += weight;
  if (!teams.empty() && sum <= 0) c.error("teams", "weights must not all be 0");
  sum = 0;
  for (const PriorityParams& one : priorities) sum += one.weight;
  if (!priorities.empty() && sum <= 0) c.error("priorities", "weights must not all be 0");
}

}  // namespace orrery
