// models/scheduling/feasibility/reduction.hpp -- candidates that can never complete, in groups.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/scheduling/feasibility/candidate_rooms.hpp"

namespace orrery {

struct ReductionCandidate {
  JobId job;
  std::vector<PodNeed> needs;  // pods that it lacks
  int32_t priority = 0;        // highest priority of its pods
  // It may preempt candidates whose pods all have a lower priority than this; empty: none.
  std::optional<int32_t> preempts_below = {};
};

struct StuckMember {
  JobId job;
  bool is_infeasible = false;  // its missing pods would not fit even without other jobs
};
struct StuckSet {
  std::vector<StuckMember> members;  // in the order of the candidates
  bool is_deadlock = false;          // a member is blocked by others
};

// Reduction, as in the banker's algorithm: repeatedly lets a candidate whose missing pods fit
// complete and release what it holds. Those that remain are stuck. Example, on 4 nodes of a pod
// each: A holds 2 and lacks 2, B holds 1 and lacks 1, one node is free. B fits, completes and
// releases 2 nodes; then A fits. Had B lacked 2, neither would fit, and both would be stuck.
//
// A candidate also completes if its missing pods fit once the candidates that it may preempt are
// gone. These keep their nodes until they lose them, and are examined like all others. Example: A
// and B lack 2 nodes each, and A may preempt B. A completes and releases 2 nodes; then B fits.
//
// A group joins stuck jobs that need equal pods with the holders of nodes that such pods could use.
// `rooms` holds the pods of all candidates, and is as before afterwards.
std::vector<StuckSet> find_stuck(CandidateRooms& rooms,
                                 std::span<const ReductionCandidate> candidates);

}  // namespace orrery
