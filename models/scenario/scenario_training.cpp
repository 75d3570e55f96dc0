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

// GPUs of the generator's largest job; 0 if a preset gives the sizes.
int32_t gpus_of_largest(const GeneratorParams& generator) {
  int64_t most = 0;
  for (const JobShape* const shape : shapes_of(generator)) {
    if (std::holds_alternative<PresetShape>(*shape)) return 0;
    most = std::max(most, gpus_most(*shape));
  }
  return static_cast<int32_t>(most);
}

// Checks the training steps of gangs. A listed gang must start with all of its pods, and its ranks
// must fill whole parallel groups. The jobs of a generator or trace differ in size, so their step
// must have neither a model nor parallel groups. Each parameter server needs a node of its own, and
// n ranks run on at most n nodes. So a listed gang, and the largest gang of a generator, must have
// enough ranks for all servers.
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

// Checks the jobs and pods that faults.ranks names, if the scenario lists all jobs.
void check_ranks(const Scenario& scenario, Checker& c) {
  if (scenario.faults.ranks.empty()) return;
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
      c.error(at + "gpus", "the pods of gang " + in_quotes(fault.job) + " have fewer GPUs");
    }
  }
}

// Checks that the stores used by gangs exist. With `policy.driver: counting`, also checks that no
// gang has `checkpoint`.
void check_stores(const Scenario& scenario, Checker& c) {
  const std::vector<std::string> names = scenario.storage.names();
  const auto check = [&](const std::string& name, const std::string& field) {
    if (std::ranges::find(names, name) != names.end()) return;
    c.error(field, "storage has no store " + in_quotes(name) + did_you_mean(name, names));
  };
  for (const Training& training : trainings(scenario.workload)) {
    if (!training.has_gangs) continue;
    if (const auto& dataset = training.params->dataset; dataset) {
      check(dataset->store, training.path + ".dataset.store");
      if (dataset->cache) check(std::string{kLocalStore}, training.path + ".dataset.cache");
    }
    const auto& checkpoint = training.params->checkpoint;
    if (checkpoint && scenario.policy.driver == Driver::Counting) {
      c.error(training.path + ".checkpoint", "has no effect with policy.driver: counting");
    } else if (checkpoint) {
      check(checkpoint->store, training.path + ".checkpoint.store");
    }
  }
}

}  // namespace

int32_t gpus_of(const ExplicitJobParams& job) {
  if (job.gangs.empty()) return job.pods * job.pod.gpus;
  int32_t gpus = 0;
  for (const ExplicitGangParams& gang : job.gangs) {
    for (const ExplicitRoleParams& role : gang.roles) gpus += role.pods * role.pod.gpus;
  }
  return gpus;
}

void Training::used_by(const ExplicitJobParams& job) {
  has_jobs = true;
  has_gpus = has_gpus || gpus_of(job) > 0;
  has_ranks = has_ranks || gpus_of(job) > 1;
  if (job.kind != JobKind::MpiGang) return;
  has_gangs = true;
  int64_t pods = job.gangs.empty() ? job.pods : 0;
  for (const ExplicitGangParams& gang : job.gangs) {
    for (const ExplicitRoleParams& role : gang.roles) pods += role.pods;
  }
  has_gangs_of_pods = has_gangs_of_pods || pods > 1;
}

void Training::used_by_others(KindOfJob kind) {
  has_jobs = has_gpus = has_ranks = true;
  if (kind != KindOfJob::Pods) has_gangs = has_gangs_of_pods = true;
}

std::vector<Training> trainings(const WorkloadParams& params) {
  std::vector<Training> all{{.path = "workload.training", .params = &params.training}};
  const auto of = [&](const std::string& at,
                      const std::optional<TrainingParams>& own) -> Training& {
    if (own) all.push_back({.path = at + ".training", .params = &*own});
    return own ? all.back() : all.front();
  };
  for (size_t i = 0; i < params.sources.size(); ++i) {
    const std::string path = "workload.sources[" + std::to_string(i) + "]";
    if (const auto* const listed = std::get_if<ExplicitJobsParams>(&params.sources[i])) {
      for (size_t j = 0; j < listed->jobs.size(); ++j) {
        const std::string at = path + ".jobs[" + std::to_string(j) + "]";
        of(at, listed->jobs[j].training).used_by(listed->jobs[j]);
      }
    } else if (const auto* const generator = std::get_if<GeneratorParams>(&params.sources[i])) {
      of(path, generator->training).used_by_others(generator->job_kind);
    } else if (const auto* const trace = std::get_if<TraceSourceParams>(&params.sources[i])) {
      of(path, trace->training).used_by_others(trace->job_kind);
    }
  }
  return all;
}

void check_training(const Scenario& scenario, Checker& c) {
  check_groups(scenario.workload, c);
  check_ranks(scenario, c);
  check_stores(scenario, c);
}

bool has_nvls(std::span<const Machine> machines) {
  return std::ranges::any_of(machines, [](const Machine& machine) {
    return machine.gpus() > 0 && comm_group(machine, machine.all_gpus(), 1).has_nvls;
  });
}

void check_machines(const Scenario& scenario, std::span<const Machine> machines, Checker& c) {
  if (has_nvls(machines)) return;
  for (const Training& training : trainings(scenario.workload)) {
    if (!training.params->step) continue;
    const std::vector<ExchangeParams>& exchanges = training.params->step->exchanges;
    for (size_t i = 0; i < exchanges.size(); ++i) {
      if (exchanges[i].algorithm != AlgorithmChoice::Nvls) continue;
      c.error(training.path + ".step.exchanges[" + std::to_string(i) + "].algorithm",
              "no machine of the cluster has NVSwitches that reduce data (NVLink SHARP): nvls "
              "needs Hopper or later");
    }
  }
}

}  // namespace orrery
