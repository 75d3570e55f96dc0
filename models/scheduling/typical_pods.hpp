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

// Reads up to jobs_max jobs of all sources, in order of submission. Pods are of one kind if all
// members of TypicalPod except `weight` are equal. Returns the most frequent kinds, until they make
// up `popularity` percent of all pods read. More frequent kinds come first; of equally frequent
// kinds, the larger request comes first.
std::vector<TypicalPod> typical_pods(std::vector<std::unique_ptr<JobSource>> sources,
                                     const TypicalPodsParams& params);
// typical_pods() for the workload's section `typical_pods`, with traces in their recorded order
// even if the workload shuffles them. Empty if this section is absent or the workload has no pods.
std::vector<TypicalPod> typical_pods_of(const WorkloadParams& params, const RngStreams& rng);

}  // namespace orrery
