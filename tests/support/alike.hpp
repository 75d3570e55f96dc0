// tests/support/alike.hpp -- clusters of equal nodes and jobs of equal pods, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/workload/job/job_spec.hpp"

namespace orrery {

// A job of equal pods with `gpus` GPUs each.
inline JobSpec make_job(JobKind kind, int32_t pods, int32_t gpus, Duration work) {
  JobSpec job;
  job.kind = kind;
  job.work = work;
  RoleSpec role;
  role.spec.gpus = gpus;
  role.pods = pods;
  job.gangs.push_back({.roles = {role}, .min_available = 0});
  return job;
}

// A cluster of equal nodes, with ample resources except for GPUs.
inline ClusterState make_cluster(uint32_t nodes, uint32_t gpus) {
  ClusterState cluster;
  for (uint32_t i = 0; i < nodes; ++i) {
    NodeSpec spec;
    spec.name = "n";
    spec.name += std::to_string(i);  // GCC 12 warns of "n" + text
    spec.allocatable[Resource::Cpu] = 100'000;
    spec.allocatable[Resource::Memory] = int64_t{1} << 40;
    spec.allocatable[Resource::Gpu] = int64_t{gpus} * kMilli;
    spec.allocatable[Resource::Pods] = 1'000'000;
    cluster.add_node(spec);
  }
  cluster.seal();
  return cluster;
}

}  // namespace orrery
