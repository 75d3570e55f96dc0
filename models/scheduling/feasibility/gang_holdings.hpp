// models/scheduling/feasibility/gang_holdings.hpp -- which pods of gangs have nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "models/scheduling/feasibility/room_table.hpp"
#include "models/workload/job/job_table.hpp"

namespace orrery {

struct PodHolding {
  NodeId node;  // invalid: none
  SpecId spec;
  JobId job;
  GangId gang;
};

struct GangHolding {
  int32_t assigned = 0;  // pods
  int64_t gpu_milli = 0;
};

struct JobHolding {
  uint64_t serial = UINT64_MAX;
  int32_t pods = 0;       // pods with nodes
  bool is_alike = false;  // all pods have one spec, and no role has a minimum
};

// A pod has a node from its reservation on: while it waits in Permit, and while it is bound.
class GangHoldings {
 public:
  explicit GangHoldings(const JobTable& jobs) : jobs_{jobs} {}

  bool knows(JobId id) const;  // begin() was called, and the id has not been reused since
  void begin(JobId id);        // call before its first pod is assigned
  void assign(PodId id, NodeId node);
  void unassign(PodId id);

  bool has_node(PodId id) const { return id.index < pods_.size() && pod(id).node.is_valid(); }
  const PodHolding& pod(PodId id) const { return pods_[id.index]; }
  const GangHolding& gang(GangId id) const { return gangs_[id.index]; }
  const JobHolding& job(JobId id) const { return job_holdings_[id.index]; }
  // The job is Pending and holds nodes, and one of its gangs has too few of them.
  bool is_partial(JobId id) const;
  // Pods that its gangs lack to start: what roles lack of their minimums and, for the rest of the
  // quorum, the smallest of the other pods.
  std::vector<PodNeed> missing(JobId id) const;
  int32_t needed(GangId id) const;  // number of pods with nodes that the gang needs to start

 private:
  int32_t role_pods_missing(const Gang& gang) const;
  void add_unlike(const Gang& gang, int32_t pods, std::vector<PodNeed>& needs) const;

  const JobTable& jobs_;
  std::vector<PodHolding> pods_;
  std::vector<GangHolding> gangs_;
  std::vector<int32_t> in_roles_;  // assigned pods
  std::vector<JobHolding> job_holdings_;
};

}  // namespace orrery
