#include "models/scenario/scenario_training.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "models/scenario/scenario_checks.hpp"
#include "models/scenario/scenario_jobs.hpp"
#include "sim/config/diagnostics.hpp"

namespace orrery {
namespace {

bool has_quorum(const ExplicitJobParams& job) {
  const auto is_partial = [](const ExplicitGangParams& gang) { return gang.min_available != 0; };
  return job.min_available != 0 || std::ranges::any_of(job.gangs, is_partial);
}

// 0: sizes are those of a preset.
int32_t gpus_of_largest(const GeneratorParams& generator) {
  int64_t most = 0;
  for (const JobShape* const shape : shapes_of(generator)) {
    if (std::holds_alternative<PresetShape>(*shape)) return 0;
    most = std::max(most, gpus_most(*shape));
  }
  return static_cast<int32_t>(most);
}

// Ranks must fill whole groups, so jobs whose sizes only their source knows have none but `all`.
void check_groups(const WorkloadParams& params, Checker& c) {
  for (size_t i = 0; i < params.sources.size(); ++i) {
    const std::string path = "workload.sources[" + std::to_string(i) + "]";
    const auto report = [&](const std::string& at, const std::vector<StepMistake>& mistakes) {
      for (const StepMistake& mistake : mistakes) {
        c.error(at, "training.step." + mistake.field + ": " + mistake.message);
      }
    };
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
        const std::string at = path + ".jobs[" + std::to_string(j) + "]";
        report(at, step->mistakes_for(gpus_of(job)));
        report(at, step->servers_beyond(gpus_of(job)));
      }
    } else if (const auto* const generator = std::get_if<GeneratorParams>(&params.sources[i])) {
      check_sizes(generator->training);
      const auto& step = (generator->training ? *generator->training : params.training).step;
      if (step && generator->job_kind != KindOfJob::Pods) {
        report(path, step->servers_beyond(gpus_of_largest(*generator)));
      }
    } else if (const auto* const trace = std::get_if<TraceSourceParams>(&params.sources[i])) {
      check_sizes(trace->training);
    }
  }
}

void check_step(const Training& training, const Scenario& scenario, Checker& c) {
  const std::string at = training.path + ".step";
  if (scenario.network.level == NetworkLevel::None) {
    c.idle(at, "has an effect only with network.level alpha_beta or flow");
  }
  if (scenario.policy.driver == Driver::Counting) {
    c.idle(at, "has no effect with policy.driver: counting, which knows no nodes");
  } else if (!training.has_gangs) {
    c.idle(at, no_gangs(training));
  } else {
    check_exchanges_of(training, c);
  }
}

int32_t pods_of(const ExplicitGangParams& gang) {
  int32_t pods = 0;
  for (const ExplicitRoleParams& role : gang.roles) pods += role.pods;
  return pods;
}

bool is_elastic(const ExplicitJobParams& job) {
  if (job.kind != JobKind::MpiGang) return false;
  if (job.gangs.empty()) return job.min_available != 0 && job.min_available < job.pods;
  return std::ranges::any_of(job.gangs, [](const ExplicitGangParams& gang) {
    return gang.min_available != 0 && gang.min_available < pods_of(gang);
  });
}

void check_rendezvous(const Scenario& scenario, Checker& c) {
  const bool is_heeded = scenario.policy.driver != Driver::Counting &&
                         std::ranges::any_of(scenario.workload.sources, [](const auto& source) {
                           const auto* const listed = std::get_if<ExplicitJobsParams>(&source);
                           return listed && std::ranges::any_of(listed->jobs, is_elastic);
                         });
  if (is_heeded) return;
  for (const char* const field : {"last_call", "monitor_interval"}) {
    const std::string at = std::string{"workload.controller."} + field;
    if (!c.is_given(at)) continue;
    c.idle(at, "has no effect: no gang may run without some of its pods (min_available)");
  }
}

// Names can be known only if all jobs are listed.
void check_ranks(const Scenario& scenario, Checker& c) {
  if (scenario.faults.ranks.empty()) {
    const bool hears_of_nodes =
        scenario.control_plane.level != ControlPlaneLevel::None && scenario.faults.strike_nodes();
    if (!hears_of_nodes && c.is_given("workload.controller.hang_timeout")) {
      c.warning("workload.controller.hang_timeout",
                "has an effect only on gangs that hang for a dead rank: see faults.ranks");
    }
    return;
  }
  if (scenario.policy.driver == Driver::Counting) {
    c.error("faults.ranks", "has no effect with policy.driver: counting, which knows no pods");
    return;
  }
  const ScenarioJobs jobs{scenario.workload};
  if (!jobs.are_all()) return;
  for (size_t i = 0; i < scenario.faults.ranks.size(); ++i) {
    const RankFaultParams& fault = scenario.faults.ranks[i];
    const std::string at = "faults.ranks[" + std::to_string(i) + "].";
    if (!jobs.check_name(fault.job, at + "job", c)) continue;
    const std::vector<const ExplicitJobParams*> called = jobs.called(fault.job);
    const auto could_be = [&](const ExplicitJobParams* job) {
      return job->kind == JobKind::MpiGang && (!job->gangs.empty() || fault.pod < job->pods);
    };
    if (std::ranges::none_of(called, could_be)) {
      c.error(at + "pod",
              "no gang called " + in_quotes(fault.job) + " has a pod " + std::to_string(fault.pod));
      continue;
    }
    const auto has_gpus = [&](const ExplicitJobParams* job) {
      return could_be(job) && (!job->gangs.empty() || fault.gpus <= job->pod.gpus);
    };
    if (std::ranges::none_of(called, has_gpus)) {
      c.error(at + "gpus", "its pods have fewer GPUs");
    }
  }
}

}  // namespace

std::string no_gangs(const Training& training) {
  return training.path == "workload.training"
             ? "has no effect: each gang has a training of its own, or there is none"
             : "has no effect on jobs of kind pods, which have no ranks";
}

// What sections say about one another: a parameter without effect is a mistake.
void check_training(const Scenario& scenario, Checker& c) {
  check_groups(scenario.workload, c);
  check_ranks(scenario, c);
  check_rendezvous(scenario, c);
  bool has_step = false;
  std::vector<Training> all = trainings(scenario.workload);
  if (!all.front().has_jobs) {
    if (c.is_given("workload.training")) {
      c.idle("workload.training",
             "has no effect: there is no job but services and those with a training of their own");
    }
    all.erase(all.begin());
  }
  for (const Training& training : all) {
    has_step = has_step || training.params->step;
    if (training.params->step) check_step(training, scenario, c);
    check_unused(training, scenario, c);
  }
  check_stores(scenario, all, c);
  if (has_step) return check_exchanges(scenario, all, c);
  constexpr std::string_view kNoStep =
      "has no effect: no job says what a step of it is (training.step)";
  if (scenario.network.level != NetworkLevel::None) c.idle("network.level", std::string{kNoStep});
  if (scenario.workload.steps == StepDetail::Traced) c.idle("workload.steps", std::string{kNoStep});
}

void check_machines(const Scenario& scenario, std::span<const Machine> machines, Checker& c) {
  check_exchanges_in_nodes(scenario, machines, c);
  check_restarts(scenario, machines, c);
  const bool has_nvls = std::ranges::any_of(machines, [](const Machine& machine) {
    return machine.gpus() > 0 && comm_group(machine, machine.all_gpus(), 1).has_nvls;
  });
  if (has_nvls) return;
  if (scenario.network.sharp) {
    c.idle("network.sharp", "has no effect: no machine of the cluster has NVSwitches that add up");
  }
  for (const Training& training : trainings(scenario.workload)) {
    if (!training.params->step) continue;
    const std::vector<ExchangeParams>& exchanges = training.params->step->exchanges;
    for (size_t i = 0; i < exchanges.size(); ++i) {
      if (exchanges[i].algorithm != AlgorithmChoice::Nvls) continue;
      c.error(training.path + ".step.exchanges[" + std::to_string(i) + "].algorithm",
              "no machine of the cluster has NVSwitches that add up: nvls takes Hopper or later");
    }
  }
}

}  // namespace orrery
