// models/scheduling/policy_params.hpp -- the section `policy` of a scenario.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/scheduling/controller_params.hpp"
#include "models/scheduling/framework/profile.hpp"
#include "models/scheduling/job_queue/job_queue_params.hpp"

namespace orrery {

// The scheduler of pods and, in front of it, the queue of whole jobs.
struct PolicyParams : ProfileParams {
  std::optional<JobQueueParams> job_queue;
  std::vector<ControllerParams> controllers;

  template <class V>
  void fields(V& v) {
    ProfileParams::fields(v);
    v("job_queue", job_queue,
      "The queue in which whole jobs wait before their pods are created. Absent: no job queue.");
    v("controllers", controllers,
      "Policies that act on the cluster as time passes: they cordon, evict, drain, suspend, scale. "
      "Policies that are due at the same time act in the order of this list.",
      Heeded{driver != Driver::Counting, "driver is counting, which places no pods"});
  }
};

// Whether jobs take GPUs. False if the driver is `counting` and the job queue does not count GPUs.
bool takes_gpus(const PolicyParams& policy);
// Whether two runs with this policy must not share a process.
bool needs_process(const PolicyParams& policy);
// Checks the profile (see check_profile()), the job queue, the controllers and their combination.
void check_policy(const PolicyParams& policy, const std::string& path, const config::Node& node,
                  Diagnostics& diagnostics);

}  // namespace orrery
