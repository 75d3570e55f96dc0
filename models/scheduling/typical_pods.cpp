#include "models/scheduling/typical_pods.hpp"

#include <algorithm>
#include <string>
#include <tuple>

namespace orrery {
namespace {

// Copies only the fields on which fragmentation depends.
PodSpec essence(const PodSpec& spec) {
  PodSpec kept;
  kept.cpu_milli = spec.cpu_milli;
  kept.gpus = spec.gpus;
  kept.gpu_milli = spec.gpus == 0 ? 0 : spec.gpu_milli;
  kept.required_terms = spec.required_terms;
  return kept;
}

std::string text_of(const std::vector<SelectorTerm>& terms) {
  std::string text;
  for (const SelectorTerm& term : terms) {
    for (const Requirement& requirement : term.all_of) {
      for (const std::string& value : requirement.values) text.append(value).append("|");
    }
  }
  return text;
}

bool is_greater(const TypicalPod& a, const TypicalPod& b) {
  if (a.weight != b.weight) return a.weight > b.weight;
  const auto asks = [](const TypicalPod& p) {
    return std::tuple{p.cpu_milli, p.gpu_milli, p.gpus, text_of(p.required_terms)};
  };
  return asks(a) > asks(b);
}

JobSource* earliest(std::vector<std::unique_ptr<JobSource>>& sources) {
  JobSource* first = nullptr;
  for (auto& source : sources) {
    if (source->peek() == nullptr) continue;
    if (first == nullptr || source->peek()->submitted < first->peek()->submitted) {
      first = source.get();
    }
  }
  return first;
}

}  // namespace

std::vector<TypicalPod> typical_pods(std::vector<std::unique_ptr<JobSource>> sources,
                                     const TypicalPodsParams& params) {
  SpecTable table;
  std::vector<TypicalPod> kinds;  // by SpecId
  int64_t pods = 0;
  for (int64_t jobs = 0; jobs < params.jobs_max; ++jobs) {
    JobSource* const source = earliest(sources);
    if (source == nullptr) break;
    for (const GangSpec& gang : source->peek()->gangs) {
      for (const RoleSpec& role : gang.roles) {
        const PodSpec spec = essence(role.spec);
        const SpecId id = table.intern(spec);
        if (id.index == kinds.size()) {
          kinds.push_back({.cpu_milli = spec.cpu_milli,
                           .gpus = spec.gpus,
                           .gpu_milli = spec.gpu_milli,
                           .required_terms = spec.required_terms,
                           .weight = 0});
        }
        kinds[id.index].weight += role.pods;
        pods += role.pods;
      }
    }
    source->pop();
  }
  std::ranges::sort(kinds, is_greater);
  const double wanted = params.popularity * static_cast<double>(pods) / 100;
  int64_t counted = 0;
  const auto rest = std::ranges::find_if(kinds, [&](const TypicalPod& kind) {
    if (static_cast<double>(counted) >= wanted) return true;
    counted += kind.weight;
    return false;
  });
  kinds.erase(rest, kinds.end());
  return kinds;
}

std::vector<TypicalPod> typical_pods_of(const WorkloadParams& params, const RngStreams& rng) {
  if (!params.typical_pods) return {};
  WorkloadParams as_recorded = params;
  for (JobSourceParams& source : as_recorded.sources) {
    if (auto* const trace = std::get_if<TraceSourceParams>(&source)) trace->shuffle.reset();
  }
  return typical_pods(make_job_sources(as_recorded, rng), *params.typical_pods);
}

}  // namespace orrery
