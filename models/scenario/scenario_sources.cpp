// models/scenario/scenario_sources.cpp -- three checks. Without run.until, every source and its
// jobs must end. A generator's pods must not request more GPUs than the largest node has. With
// driver: counting, policy.job_queue.counts must name gpus if jobs request GPUs.
#include <algorithm>
#include <optional>
#include <string>
#include <variant>

#include "models/scenario/scenario_checks.hpp"
#include "models/scenario/scenario_training.hpp"

namespace orrery {
namespace {

std::string path_of(size_t source) { return "workload.sources[" + std::to_string(source) + "]"; }

bool asks_for_gpus(const JobShape& shape) {
  return std::holds_alternative<PresetShape>(shape) || gpus_most(shape) > 0;
}

// The GPUs of the largest job that may arrive.
int64_t largest_job(const GeneratorParams& generator) {
  int64_t most = 0;
  for (const JobShape* const shape : shapes_of(generator)) {
    int64_t here = gpus_most(*shape);
    if (const auto* const preset = std::get_if<PresetShape>(shape)) {
      here = published_jobs(preset->preset).sizes.back().gpus_drawn;
      if (preset->gpus_max > 0) here = std::min<int64_t>(here, preset->gpus_max);
    }
    most = std::max(most, here);
  }
  return most;
}

// The path of the first source or listed job that requests GPUs. Rows of traces are checked when
// they are read.
std::optional<std::string> who_asks_for_gpus(const WorkloadParams& workload) {
  for (size_t i = 0; i < workload.sources.size(); ++i) {
    if (const auto* const listed = std::get_if<ExplicitJobsParams>(&workload.sources[i])) {
      for (size_t j = 0; j < listed->jobs.size(); ++j) {
        if (gpus_of(listed->jobs[j]) == 0) continue;
        return path_of(i) + ".jobs[" + std::to_string(j) + "]";
      }
    } else if (const auto* const generator = std::get_if<GeneratorParams>(&workload.sources[i])) {
      const auto asks = [](const JobShape* shape) { return asks_for_gpus(*shape); };
      if (std::ranges::any_of(shapes_of(*generator), asks)) return path_of(i);
    }
  }
  return std::nullopt;
}

}  // namespace

// A run without `until` ends when all jobs are over, so every source and its jobs must end.
void check_end(const Scenario& scenario, Checker& c) {
  for (size_t i = 0; i < scenario.workload.sources.size(); ++i) {
    const JobSourceParams& source = scenario.workload.sources[i];
    const std::string at = path_of(i);
    if (const auto* const generator = std::get_if<GeneratorParams>(&source)) {
      if (generator->until || generator->jobs_max > 0) continue;
      c.error(at,
              "makes jobs for ever, and the run would never end: give it until or jobs_max, or "
              "give run.until");
    } else if (const auto* const trace = std::get_if<TraceSourceParams>(&source)) {
      if (!trace->departures) c.error(at + ".departures", "jobs that never end need run.until");
    } else if (const auto* const service = std::get_if<ServiceParams>(&source)) {
      if (service->lasts) continue;
      c.error(at + ".lasts", "must be given without run.until: the run would never end");
    }
  }
}

void check_pod_sizes(const Scenario& scenario, const ClusterState& state, Checker& c) {
  if (scenario.policy.driver == Driver::Counting) return;
  int64_t most = 0;
  for (uint32_t n = 0; n < state.nodes(); ++n) {
    most = std::max<int64_t>(most, state.gpus(NodeId{n}));
  }
  for (size_t i = 0; most > 0 && i < scenario.workload.sources.size(); ++i) {
    const auto* const generator = std::get_if<GeneratorParams>(&scenario.workload.sources[i]);
    if (generator == nullptr || generator->gpus_per_pod_max <= most) continue;
    const std::string at = path_of(i) + ".gpus_per_pod_max";
    if (!c.is_given(at) && largest_job(*generator) <= most) continue;
    c.error(at, "pods of up to " + std::to_string(generator->gpus_per_pod_max) +
                    " GPUs, and no node has more than " + std::to_string(most) +
                    ": they would wait for ever; expected at most " + std::to_string(most));
  }
}

void check_counts(const Scenario& scenario, Checker& c) {
  if (takes_gpus(scenario.policy)) return;
  const std::optional<std::string> who = who_asks_for_gpus(scenario.workload);
  if (!who) return;
  c.error("policy.job_queue.counts",
          "must name gpus, which " + *who +
              " asks for: else more jobs run at a time than there are GPUs for");
}

}  // namespace orrery
