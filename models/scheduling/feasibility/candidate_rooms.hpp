// models/scheduling/feasibility/candidate_rooms.hpp -- the room that each node would have if only
// the pods of deadlock candidates existed.
#pragma once

#include <span>
#include <vector>

#include "models/scheduling/feasibility/room_table.hpp"
#include "models/workload/job/job_table.hpp"

namespace orrery {

struct PodSpot {
  NodeId node;  // invalid: the pod is not in the table
  SpecId spec;
  GpuMask gpus = 0;
};

// A RoomTable that stores which pods it contains, so that whole jobs can be taken out and put back.
class CandidateRooms {
 public:
  CandidateRooms(const ClusterState& cluster, const JobTable& jobs, bool counts_down_nodes)
      : jobs_{jobs}, rooms_{cluster, jobs.specs(), counts_down_nodes} {}

  void put(PodId pod, NodeId node, SpecId spec);
  void take_away(PodId pod);
  PodSpot spot(PodId pod) const {
    return pod.index < spots_.size() ? spots_[pod.index] : PodSpot{};
  }
  void release(JobId job);  // takes out all pods of the job, until retake()
  void retake(JobId job);

  bool fits(std::span<const PodNeed> needs) { return rooms_.fits(needs); }
  const NodeSet& eligible(SpecId spec) { return rooms_.eligible(spec); }
  bool holds_any_of(JobId job, const NodeSet& nodes) const;
  void nodes_changed() { rooms_.forget_eligibility(); }

 private:
  template <class F>
  void for_each_spot(JobId id, F&& f) const {
    const Job& job = jobs_.job(id);
    JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
      const PodSpot at = spot(pod);
      if (at.node.is_valid()) f(at);
    });
  }

  const JobTable& jobs_;
  RoomTable rooms_;
  std::vector<PodSpot> spots_;  // by pod
};

}  // namespace orrery
