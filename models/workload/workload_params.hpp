// models/workload/workload_params.hpp -- the section `workload` of a scenario, and the function
// that makes the job sources.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "models/facts/fact.hpp"
#include "models/workload/job/disruption_budget_params.hpp"
#include "models/workload/lifecycle/state/job_controller_params.hpp"
#include "models/workload/services/service_params.hpp"
#include "models/workload/sources/explicit_jobs.hpp"
#include "models/workload/sources/generator.hpp"
#include "models/workload/sources/trace_source.hpp"
#include "models/workload/sources/training_params.hpp"
#include "models/workload/training/step_detail.hpp"
#include "models/workload/typical_pods_params.hpp"

namespace orrery {

using JobSourceParams =
    std::variant<ExplicitJobsParams, GeneratorParams, TraceSourceParams, ServiceParams>;

struct WorkloadParams {
  static constexpr std::string_view kDoc = "The jobs of a run, and their life cycle.";

  std::vector<JobSourceParams> sources = {};
  TrainingParams training = {};
  JobControllerParams controller = {};
  StepDetail steps = StepDetail::Rate;
  std::optional<TypicalPodsParams> typical_pods = {};
  std::vector<DisruptionBudgetParams> disruption_budgets = {};

  template <class V>
  void fields(V& v) {
    v("sources", sources, "Sources of jobs. Their jobs are merged in the order of submission.");
    v("training", training,
      "Start, checkpoints and restarts of jobs. A training section of the job or its source "
      "replaces this section.",
      Heeded{Fact::SharedTraining});
    v("controller", controller, "Start, failure detection and restart of jobs.");
    v("steps", steps,
      "rate: a gang runs at the pace of its mean step until something changes. If up to 16 gangs "
      "share contended links, some of their steps are simulated to find the mean steps. If more "
      "gangs share the links, or the lengths of the steps differ too much, no step is simulated: "
      "a gang's mean step follows from its mean bandwidth in 32 samples. Each sample draws which "
      "gangs exchange at the same time. traced: every step is simulated.",
      Heeded{Fact::Steps, steps == StepDetail::Traced});
    v("typical_pods", typical_pods,
      "The most frequent kinds of pods, for which fragmentation is measured. Absent: fragmentation "
      "is not measured.");
    v("disruption_budgets", disruption_budgets,
      "PodDisruptionBudgets, which limit the evictions of pods by controllers.",
      Heeded{Fact::Controllers});
  }
  template <class C>
  void check(C& c) const {
    if (sources.empty()) c.error("sources", "needs a source of jobs");
  }
};

// Makes the sources in the order of `params.sources`. A source with unreadable input has no
// jobs, and its error() says why. `gpu_milli_total`: milli-GPUs of the cluster, for `load` of a
// shuffled trace. If `takes_gpus` is false, a trace ends with an error at its first job with GPUs.
std::vector<std::unique_ptr<JobSource>> make_job_sources(const WorkloadParams& params,
                                                         const RngStreams& rng,
                                                         int64_t gpu_milli_total = 0,
                                                         bool takes_gpus = true);

}  // namespace orrery
