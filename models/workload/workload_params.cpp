#include "models/workload/workload_params.hpp"

#include <utility>

namespace orrery {

std::vector<std::unique_ptr<JobSource>> make_job_sources(const WorkloadParams& params,
                                                         const RngStreams& rng,
                                                         int64_t gpu_milli_total, bool takes_gpus) {
  std::vector<std::unique_ptr<JobSource>> sources;
  for (const JobSourceParams& source : params.sources) {
    const uint64_t index = sources.size();
    if (const auto* const jobs = std::get_if<ExplicitJobsParams>(&source)) {
      sources.push_back(make_explicit_jobs(*jobs, params.training));
    } else if (const auto* const generator = std::get_if<GeneratorParams>(&source)) {
      sources.push_back(make_generator(*generator, params.training, rng, index));
    } else if (const auto* const service = std::get_if<ServiceParams>(&source)) {
      sources.push_back(make_service(*service));
    } else {
      const auto& trace = std::get<TraceSourceParams>(source);
      std::unique_ptr<TraceReader> reader = open_trace(trace);
      if (trace.shuffle) {
        reader = shuffled(std::move(reader), *trace.shuffle, rng.stream("workload.shuffle", index),
                          gpu_milli_total);
      }
      sources.push_back(make_trace_source(std::move(reader), trace, params.training, takes_gpus));
    }
  }
  return sources;
}

}  // namespace orrery
