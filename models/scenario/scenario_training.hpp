// models/scenario/scenario_training.hpp -- the `training` sections of a scenario.
#pragma once

#include <string>
#include <vector>

#include "models/workload/workload_params.hpp"

namespace orrery {

// A `training` section and the kinds of jobs that it applies to. Jobs of generators and traces may
// be of any kind, because only their source knows their sizes.
struct Training {
  std::string path;
  const TrainingParams* params = nullptr;
  bool has_jobs = false;           // applies to a job, or may
  bool has_gangs = false;          // applies to a gang, or may
  bool has_gangs_of_pods = false;  // a gang has more than one pod, or may have
  bool has_gpus = false;           // a job requests a GPU, or may
  bool has_ranks = false;          // a job requests several GPUs, or may

  void used_by(const ExplicitJobParams& job);
  void used_by_others(KindOfJob kind);
};

std::vector<Training> trainings(const WorkloadParams& params);  // the shared section first
int32_t gpus_of(const ExplicitJobParams& job);

}  // namespace orrery
