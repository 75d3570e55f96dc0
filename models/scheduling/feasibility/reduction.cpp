#include "models/scheduling/feasibility/reduction.hpp"

#include <algorithm>
#include <map>

namespace orrery {
namespace {

using ReductionCandidates = std::vector<const ReductionCandidate*>;

struct Remainder {
  ReductionCandidates stuck, released;
};

bool fits(CandidateRooms& rooms, const ReductionCandidate& candidate,
          const ReductionCandidates& others) {
  if (rooms.fits(candidate.needs)) return true;
  if (!candidate.preempts_below) return false;
  const auto for_each_victim = [&](auto&& f) {
    for (const auto* other : others) {
      if (other->priority < *candidate.preempts_below) f(other->job);
    }
  };
  for_each_victim([&](JobId job) { rooms.release(job); });
  const bool would_fit = rooms.fits(candidate.needs);
  for_each_victim([&](JobId job) { rooms.retake(job); });
  return would_fit;
}

// Separates the candidates that are stuck from those that can complete. At the end `rooms` contains
// only pods of stuck candidates.
Remainder reduce(CandidateRooms& rooms, std::span<const ReductionCandidate> candidates) {
  Remainder result;
  for (const ReductionCandidate& candidate : candidates) result.stuck.push_back(&candidate);
  for (size_t before = 0; before != result.stuck.size();) {
    before = result.stuck.size();
    const ReductionCandidates in_turn = result.stuck;
    for (const ReductionCandidate* const candidate : in_turn) {
      if (!fits(rooms, *candidate, result.stuck)) continue;
      rooms.release(candidate->job);
      result.released.push_back(candidate);
      std::erase(result.stuck, candidate);
    }
  }
  return result;
}

// For each stuck candidate, whether it is infeasible. `rooms` must contain only pods of stuck
// candidates.
std::vector<bool> find_infeasible(CandidateRooms& rooms, const ReductionCandidates& stuck) {
  std::vector<bool> is_infeasible;
  for (const auto* candidate : stuck) rooms.release(candidate->job);
  for (const auto* candidate : stuck) {
    rooms.retake(candidate->job);
    is_infeasible.push_back(!rooms.fits(candidate->needs));
    rooms.release(candidate->job);
  }
  for (const auto* candidate : stuck) rooms.retake(candidate->job);
  return is_infeasible;
}

// Puts stuck jobs into one group if they lack pods of the same spec, or if one holds a node that
// the other's missing pods could use. Returns for each group the indices of its jobs in `stuck`.
std::vector<std::vector<size_t>> group(CandidateRooms& rooms, const ReductionCandidates& stuck) {
  std::vector<size_t> group_of(stuck.size());  // for each job the smallest index in its group
  for (size_t i = 0; i < group_of.size(); ++i) group_of[i] = i;
  const auto join = [&](size_t a, size_t b) {
    const size_t from = std::max(group_of[a], group_of[b]);
    const size_t to = std::min(group_of[a], group_of[b]);
    if (from != to) std::ranges::replace(group_of, from, to);
  };
  // Spec of a missing pod, and the first job that lacks such a pod.
  std::map<SpecId, size_t> needed;
  for (size_t i = 0; i < stuck.size(); ++i) {
    for (const PodNeed& need : stuck[i]->needs) {
      join(i, needed.try_emplace(need.spec, i).first->second);
    }
  }
  for (const auto& [spec, user] : needed) {
    const NodeSet nodes = rooms.eligible(spec);
    for (size_t i = 0; i < stuck.size(); ++i) {
      if (group_of[i] != group_of[user] && rooms.holds_any_of(stuck[i]->job, nodes)) join(i, user);
    }
  }
  std::vector<std::vector<size_t>> members(stuck.size());
  for (size_t i = 0; i < stuck.size(); ++i) members[group_of[i]].push_back(i);
  std::erase_if(members, [](const auto& m) { return m.empty(); });
  return members;
}

}  // namespace

std::vector<StuckSet> find_stuck(CandidateRooms& rooms,
                                 std::span<const ReductionCandidate> candidates) {
  const Remainder remainder = reduce(rooms, candidates);
  const ReductionCandidates& stuck = remainder.stuck;
  const std::vector<bool> is_infeasible = find_infeasible(rooms, stuck);
  for (const auto* candidate : remainder.released) rooms.retake(candidate->job);
  std::vector<StuckSet> sets;
  for (const std::vector<size_t>& indices : group(rooms, stuck)) {
    StuckSet& set = sets.emplace_back();
    for (const size_t i : indices) {
      set.members.push_back({.job = stuck[i]->job, .is_infeasible = is_infeasible[i]});
      set.is_deadlock = set.is_deadlock || !is_infeasible[i];
    }
  }
  return sets;
}

}  // namespace orrery
