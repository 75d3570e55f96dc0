// models/scenario/scenario_training.hpp -- the `training` sections of a scenario, and what their
// steps exchange.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/workload/workload_params.hpp"

namespace orrery {

// A `training` section, and what kind of jobs it is for.
struct Training {
  struct ListedGang {
    int32_t gpus = 0;
    int32_t count = 1;  // of such jobs
    std::vector<int32_t> of_pods{};
  };
  std::string path;
  const TrainingParams* params = nullptr;
  bool has_jobs = false;             // any at all
  bool has_gangs = false;            // or may have
  bool leaves_nodes = false;         // some gang has more than one pod, or may have
  bool gathers = false;              // some pod waits for others to have nodes, or may
  bool is_of_others = false;         // of jobs whose sizes only their source knows
  bool has_other_gangs = false;      // of these
  int32_t gpus_max = 0;              // of a listed job
  std::vector<ListedGang> listed{};  // gangs

  void used_by(const ExplicitJobParams& job);
  void used_by_others(bool gangs);
};

// An exchange that steps of a section make.
struct ExchangeMade {
  Collective collective;
  AlgorithmChoice algorithm = AlgorithmChoice::Auto;
  int32_t spread = 0;     // ranks from the first to the last of a group; 0: not known
  bool may_cross = true;  // from node to node
};

std::vector<Training> trainings(const WorkloadParams& params);  // first the one that jobs share
std::string no_gangs(const Training& training);                 // why it may not speak of ranks
int32_t gpus_of(const ExplicitJobParams& job);
// Of gangs; what cannot be, because the section has mistakes, is left out.
std::vector<ExchangeMade> exchanges_made(const Training& training);
std::vector<ExchangeMade> exchanges_made(const std::vector<Training>& all);
bool may_leave_nodes(const Training& training, size_t exchange);  // of those that its step lists

}  // namespace orrery
