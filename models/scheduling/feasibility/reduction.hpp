// models/scheduling/feasibility/reduction.hpp -- finds groups of jobs that can never complete.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/scheduling/feasibility/candidate_rooms.hpp"

namespace orrery {

struct ReductionCandidate {
  JobId job;
  std::vector<PodNeed> needs;  // pods that the job lacks
  int32_t priority = 0;        // highest priority of the job's pods
  // The job may preempt candidates whose pods all have a lower priority than this value. Empty:
  // the job may not preempt.
  std::optional<int32_t> preempts_below = {};
};

struct StuckMember {
  JobId job;
  bool is_infeasible = false;  // its missing pods would not fit even without other jobs
};
struct StuckSet {
  std::vector<StuckMember> members;  // in the order of the candidates
  bool is_deadlock = false;          // at least one member would fit without the other jobs
};

// Reduction, as in the banker's algorithm: repeatedly choose a candidate whose missing pods fit. It
// completes and releases what it holds. The candidates that remain are stuck. Example with 4 nodes
// for one pod each: A holds 2 nodes and lacks 2, B holds 1 and lacks 1, and 1 node is free. B fits,
// completes and releases 2 nodes. Then A fits. If B lacked 2 nodes, neither A nor B would fit, and
// both would be stuck.
//
// A candidate also completes if its missing pods would fit without the candidates that it may
// preempt. The candidates that it may preempt remain and must complete themselves. Example with 4
// nodes: A and B hold 2 nodes each and lack 2 each, and A may preempt B. A completes and releases 2
// nodes. Then B fits.
//
// Two stuck jobs are in the same StuckSet if they lack pods of the same spec, or if one holds a
// node that the other's missing pods could use. `rooms` must contain the pods of all candidates,
// and is unchanged at the end.
std::vector<StuckSet> find_stuck(CandidateRooms& rooms,
                                 std::span<const ReductionCandidate> candidates);

}  // namespace orrery
