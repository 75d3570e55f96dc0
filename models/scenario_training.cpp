#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/scenario.hpp"
#include "sim/config/diagnostics.hpp"

namespace orrery {
namespace {

// All `training` sections, with their paths.
std::vector<std::pair<std::string, const TrainingParams*>> trainings(const WorkloadParams& params) {
  std::vector<std::pair<std::string, const TrainingParams*>> all;
  all.emplace_back("workload.training", &params.training);
  for (size_t i = 0; i < params.sources.size(); ++i) {
    const std::string path = "workload.sources[" + std::to_string(i) + "]";
    const auto add = [&](const std::string& at, const std::optional<TrainingParams>& training) {
      if (training) all.emplace_back(at + ".training", &*training);
    };
    if (const auto* const listed = std::get_if<ExplicitJobsParams>(&params.sources[i])) {
      for (size_t j = 0; j < listed->jobs.size(); ++j) {
        add(path + ".jobs[" + std::to_string(j) + "]", listed->jobs[j].training);
      }
    } else if (const auto* const generator = std::get_if<GeneratorParams>(&params.sources[i])) {
      add(path, generator->training);
    } else if (const auto* const trace = std::get_if<TraceSourceParams>(&params.sources[i])) {
      add(path, trace->training);
    }
  }
  return all;
}

int32_t gpus_of(const ExplicitJobParams& job) {
  if (job.gangs.empty()) return job.pods * job.pod.gpus;
  int32_t gpus = 0;
  for (const ExplicitGangParams& gang : job.gangs) {
    for (const ExplicitRoleParams& role : gang.roles) gpus += role.pods * role.pod.gpus;
  }
  return gpus;
}

bool has_quorum(const ExplicitJobParams& job) {
  const auto is_partial = [](const ExplicitGangParams& gang) { return gang.min_available != 0; };
  return job.min_available != 0 || std::ranges::any_of(job.gangs, is_partial);
}

// Ranks must fill whole groups, so jobs whose sizes only their source knows have none but `all`.
void check_groups(const WorkloadParams& params, Checker& c) {
  for (size_t i = 0; i < params.sources.size(); ++i) {
    const std::string path = "workload.sources[" + std::to_string(i) + "]";
    const auto check_sizes = [&](const std::optional<TrainingParams>& own) {
      const std::optional<StepParams>& step = (own ? *own : params.training).step;
      if (!step || (!step->model && step->parallel.tensor * step->parallel.pipeline == 1 &&
                    step->parallel.expert == 1)) {
        return;
      }
      c.error(path, "jobs of unlike sizes cannot have a step with model or parallel");
    };
    if (const auto* const listed = std::get_if<ExplicitJobsParams>(&params.sources[i])) {
      for (size_t j = 0; j < listed->jobs.size(); ++j) {
        const ExplicitJobParams& job = listed->jobs[j];
        const std::optional<StepParams>& step =
            (job.training ? *job.training : params.training).step;
        if (!step || job.kind != JobKind::MpiGang) continue;
        if (has_quorum(job)) {
          c.error(path + ".jobs[" + std::to_string(j) + "]",
                  "a gang with a step needs all of its pods: min_available must be 0");
        }
        for (const StepMistake& mistake : step->mistakes_for(gpus_of(job))) {
          const std::string at = path + ".jobs[" + std::to_string(j) + "]";
          c.error(at, "training.step." + std::string{mistake.field} + ": " + mistake.message);
        }
      }
    } else if (const auto* const generator = std::get_if<GeneratorParams>(&params.sources[i])) {
      check_sizes(generator->training);
    } else if (const auto* const trace = std::get_if<TraceSourceParams>(&params.sources[i])) {
      check_sizes(trace->training);
    }
  }
}

}  // namespace

// What sections say about one another: a parameter without effect is a mistake.
void check_training(const Scenario& scenario, Checker& c) {
  const NetworkLevel level = scenario.network.level;
  const bool is_counting = scenario.policy.driver == Driver::Counting;
  const std::vector<std::string> stores = scenario.storage.names();
  check_groups(scenario.workload, c);
  bool has_step = false, uses_store = false;
  for (const auto& [path, training] : trainings(scenario.workload)) {
    has_step = has_step || training->step;
    uses_store = uses_store || training->checkpoint || training->dataset;
    if (training->step && level == NetworkLevel::None) {
      c.error(path + ".step", "has an effect only with network.level alpha_beta or flow");
    }
    if (training->step && is_counting) {
      c.error(path + ".step", "has no effect with policy.driver: counting, which knows no nodes");
    }
    const auto check_store = [&](const std::string& name, const std::string& field) {
      if (std::ranges::find(stores, name) != stores.end()) return;
      c.error(path + field, "storage has no store " + in_quotes(name) + did_you_mean(name, stores));
    };
    if (training->dataset) {
      check_store(training->dataset->store, ".dataset.store");
      if (training->dataset->cache) check_store(std::string{kLocalStore}, ".dataset.cache");
      if (scenario.workload.steps == StepDetail::Traced) {
        c.error(path + ".dataset", "has no effect with workload.steps: traced");
      }
    }
    if (!training->checkpoint) continue;
    if (is_counting) {
      c.error(path + ".checkpoint", "has no effect with policy.driver: counting");
    } else {
      check_store(training->checkpoint->store, ".checkpoint.store");
    }
  }
  if (level != NetworkLevel::None && !has_step) {
    c.error("network.level", "has no effect: no job says what a step of it is (training.step)");
  }
  if (scenario.workload.steps == StepDetail::Traced && !has_step) {
    c.error("workload.steps", "has no effect: no job says what a step of it is (training.step)");
  }
  if (!stores.empty() && !uses_store) {
    c.error("storage", "has no effect: no job uses a store (training.checkpoint or dataset)");
  }
}

}  // namespace orrery
