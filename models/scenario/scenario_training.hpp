// models/scenario/scenario_training.hpp -- the `training` sections of a scenario.
#pragma once

#include <string>
#include <vector>

#include "models/workload/workload_params.hpp"

namespace orrery {

// A `training` section and the kinds of jobs that it applies to. Generators and traces count as
// having jobs of all sizes, because the sizes of their jobs are not known here.
struct Training {
  std::string path;
  const TrainingParams* params = nullptr;
  bool has_jobs = false;           // applies to some job
  bool has_gangs = false;          // applies to some gang
  bool has_gangs_of_pods = false;  // applies to some gang with more than one pod
  bool has_gpus = false;           // applies to some job that requests a GPU
  bool has_ranks = false;          // applies to some job that requests several GPUs

  void used_by(const ExplicitJobParams& job);
  void used_by_others(KindOfJob kind);
};

// All `training` sections. The first is workload.training, which applies to jobs for which no other
// section is given.
std::vector<Training> trainings(const WorkloadParams& params);
int32_t gpus_of(const ExplicitJobParams& job);

}  // namespace orrery
