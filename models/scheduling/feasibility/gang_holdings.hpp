// models/scheduling/feasibility/gang_holdings.hpp -- which pods of gangs have nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "models/scheduling/feasibility/room_table.hpp"
#include "models/workload/job/job_table.hpp"

namespace orrery {

struct PodHolding {
  NodeId node;  // invalid: the pod has no node
  SpecId spec;
  JobId job;
  GangId gang;
};

struct GangHolding {
  int32_t assigned = 0;   // number of pods with nodes
  int64_t gpu_milli = 0;  // GPUs of these pods
};

struct JobHolding {
  uint64_t serial = UINT64_MAX;
  int32_t pods = 0;       // pods with nodes
  bool is_alike = false;  // all pods have one spec, and no role has a minimum
};

// Stores which pods of gangs have nodes. A pod has a node from its reservation on, so also while it
// waits in Permit.
class GangHoldings {
 public:
  explicit GangHoldings(const JobTable& jobs) : jobs_{jobs} {}

  // Whether begin() was called for this job. Calls for an earlier job with the same id do not
  // count.
  bool knows(JobId id) const;
  void begin(JobId id);  // must be called before the job's first pod is assigned
  void assign(PodId id, NodeId node);
  void unassign(PodId id);

  bool has_node(PodId id) const { return id.index < pods_.size() && pod(id).node.is_valid(); }
  const PodHolding& pod(PodId id) const { return pods_[id.index]; }
  const GangHolding& gang(GangId id) const { return gangs_[id.index]; }
  const JobHolding& job(JobId id) const { return job_holdings_[id.index]; }
  // Whether the job is Pending and some of its pods have nodes, but one of its gangs cannot start,
  // because too few of the gang's pods have nodes.
  bool is_partial(JobId id) const;
  // Returns the pods that must still get nodes before the job can start. For each gang, these are
  // the pods that its roles need for their minimums. If the gang would still be below min_available
  // with these pods, its smallest other pods are added.
  std::vector<PodNeed> missing(JobId id) const;
  int32_t needed(GangId id) const;  // how many pods must have nodes for the gang to start

 private:
  int32_t role_pods_missing(const Gang& gang) const;
  void add_unlike(const Gang& gang, int32_t pods, std::vector<PodNeed>& needs) const;

  const JobTable& jobs_;
  std::vector<PodHolding> pods_;
  std::vector<GangHolding> gangs_;
  std::vector<int32_t> in_roles_;  // by role: number of pods with nodes
  std::vector<JobHolding> job_holdings_;
};

}  // namespace orrery
