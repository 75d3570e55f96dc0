#include "models/scheduling/feasibility/candidate_rooms.hpp"

namespace orrery {

void CandidateRooms::put(PodId pod, NodeId node, SpecId spec) {
  if (pod.index >= spots_.size()) spots_.resize(jobs_.pods_bound());
  spots_[pod.index] = {.node = node, .spec = spec, .gpus = rooms_.put(node, spec)};
}

void CandidateRooms::take_away(PodId pod) {
  PodSpot& at = spots_[pod.index];
  rooms_.take_away(at.node, at.spec, at.gpus);
  at.node = {};
}

void CandidateRooms::release(JobId job) {
  for_each_spot(job, [this](const PodSpot& at) { rooms_.take_away(at.node, at.spec, at.gpus); });
}

void CandidateRooms::retake(JobId job) {
  for_each_spot(job, [this](const PodSpot& at) { rooms_.put_again(at.node, at.spec, at.gpus); });
}

bool CandidateRooms::holds_any_of(JobId job, const NodeSet& nodes) const {
  bool holds = false;
  for_each_spot(job, [&](const PodSpot& at) { holds = holds || nodes.contains(at.node); });
  return holds;
}

}  // namespace orrery
