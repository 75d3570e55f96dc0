// models/workload/steps/rehearsal.hpp -- mean steps of a few gangs that share links, by simulating
// them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/network/sharing/link_use.hpp"
#include "models/workload/training/step_cycle.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Duration of an exchange across nodes at this rate; more than a century counts as for ever (max).
Duration across_of(Bytes bytes, double bits_per_s);

// A gang whose exchange across nodes has a route.
struct SharingGang {
  StepCycle cycle;
  Bytes bytes{};        // of a step, on its heaviest link
  double rate_max = 0;  // bits a second on that link when no other gang uses any of its links
  std::vector<LinkUse> uses{};
  double position = 0;  // finished share of its present step

  // Duration of its exchange across nodes.
  Duration alone() const { return across_of(bytes, rate_max); }
};

struct Rehearsal {
  std::vector<Duration> steps;  // mean step of each gang, at least its step alone
  uint64_t played = 0;          // simulated steps of all gangs
};

// Simulates the gangs on a flow network of these links, each from its position, until two windows
// in a row agree within 1 % for each gang. Uses name links by their index in `capacities` (bits a
// second). A window is eight steps of the slowest gang; at most six windows are simulated.
//
// Example: two gangs of 1 s steps, 0.5 s of which exchange on a shared link. From equal positions
// both exchange at half the rate, and a step takes 1.5 s. From opposite positions they take turns,
// and a step takes 1 s.
Rehearsal rehearse(std::span<const SharingGang> gangs, std::span<const double> capacities);
// False if step lengths differ so much that a window would have too many steps, or if a step lasts
// for months. Gangs with such different steps do not synchronise, so expected rates suit them.
bool is_worth_rehearsing(std::span<const SharingGang* const> gangs);

}  // namespace orrery
