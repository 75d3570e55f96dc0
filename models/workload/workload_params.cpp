#include "models/workload/workload_params.hpp"

namespace orrery {

std::vector<std::unique_ptr<JobSource>> make_job_sources(const WorkloadParams& params,
                                                         const RngStreams& rng) {
  std::vector<std::unique_ptr<JobSource>> sources;
  for (const JobSourceParams& source : params.sources) {
    const uint64_t index = sources.size();
    if (const auto* const jobs = std::get_if<ExplicitJobsParams>(&source)) {
      sources.push_back(make_explicit_jobs(*jobs, params.training));
    } else if (const auto* const generator = std::get_if<GeneratorParams>(&source)) {
      sources.push_back(make_generator(*generator, params.training, rng, index));
    } else {
      sources.push_back(make_trace_source(std::get<TraceSourceParams>(source), params.training));
    }
  }
  return sources;
}

}  // namespace orrery
