// models/workload/steps/rehearsal.hpp -- the mean steps of a few gangs that share links, by playing
// them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/network/sharing/link_use.hpp"
#include "models/workload/training/step_cycle.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// An exchange across nodes at this rate; what takes longer than a century lasts for ever (max).
Duration across_of(Bytes bytes, double bits_per_s);

// Of a gang whose exchange across nodes can move.
struct SharingGang {
  StepCycle cycle;
  Bytes bytes{};        // of a step, on its heaviest link
  double rate_max = 0;  // bits a second on that link when no other gang uses any of its links
  std::vector<LinkUse> uses{};
  double position = 0;  // the part of its present step that is over

  Duration alone() const { return across_of(bytes, rate_max); }  // its exchange across nodes
};

struct Rehearsal {
  std::vector<Duration> steps;  // the mean step of each gang; at least a step alone
  uint64_t played = 0;          // steps of all
};

// Plays the gangs on a flow network of these links (uses name them by their place in `capacities`,
// bits a second) each from its position, until two windows in a row agree within 1 % for
// each gang. A window is eight steps of the slowest gang, and at most six are played.
Rehearsal rehearse(std::span<const SharingGang> gangs, std::span<const double> capacities);
// False if step lengths differ so much that a window would hold too many steps, or a step lasts for
// months. Gangs with such unlike steps do not synchronise, so expected rates suit them.
bool is_worth_rehearsing(std::span<const SharingGang* const> gangs);

}  // namespace orrery
