// models/scenario/scenario_training.hpp -- the `training` sections of a scenario.
#pragma once

#include <string>
#include <vector>

#include "models/workload/workload_params.hpp"

namespace orrery {

// A `training` section, and what kind of jobs it is for. Jobs of generators and traces, whose sizes
// only their source knows, may be anything.
struct Training {
  std::string path;
  const TrainingParams* params = nullptr;
  bool has_jobs = false;           // any at all
  bool has_gangs = false;          // or may have
  bool has_gangs_of_pods = false;  // some gang has more than one pod, or may have
  bool has_gpus = false;           // some job asks for a GPU, or may
  bool has_ranks = false;          // some job asks for several GPUs, or may

  void used_by(const ExplicitJobParams& job);
  void used_by_others(KindOfJob kind);
};

std::vector<Training> trainings(const WorkloadParams& params);  // first the one that jobs share
int32_t gpus_of(const ExplicitJobParams& job);

}  // namespace orrery
