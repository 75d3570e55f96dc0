// models/scheduling/typical_pods.hpp -- the most frequent pods of a workload.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/scheduling/toolbox/fragmentation.hpp"
#include "models/workload/job/job_source.hpp"
#include "models/workload/workload_params.hpp"
#include "sim/core/rng.hpp"

namespace orrery {

// Reads up to jobs_max jobs of all sources together. The most frequent pods come first; equally
// frequent ones by request, largest first.
std::vector<TypicalPod> typical_pods(std::vector<std::unique_ptr<JobSource>> sources,
                                     const TypicalPodsParams& params);
// The result of `typical_pods` of the section; empty if it is absent or the workload has no pods.
std::vector<TypicalPod> typical_pods_of(const WorkloadParams& params, const RngStreams& rng);

}  // namespace orrery
