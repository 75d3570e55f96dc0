// models/workload/steps/rehearsal.hpp -- simulates a few gangs that share links, to find the mean
// durations of their steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/network/sharing/link_use.hpp"
#include "models/workload/training/step_cycle.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Duration of an exchange across nodes at this rate; Duration::max() if it exceeds a century.
Duration across_of(Bytes bytes, double bits_per_s);

// A gang that exchanges data across nodes, over links that other gangs may share.
struct SharingGang {
  StepCycle cycle;
  Bytes bytes{};  // bytes of a step on the gang's heaviest link
  // Bits a second on the heaviest link while no other gang uses any of the gang's links.
  double rate_max = 0;
  std::vector<LinkUse> uses{};
  double position = 0;  // finished share of the gang's present step

  // Duration of the exchange across nodes while no other gang uses any of the gang's links.
  Duration alone() const { return across_of(bytes, rate_max); }
};

struct Rehearsal {
  // Mean step duration of each gang; never less than the step takes without other gangs.
  std::vector<Duration> steps;
  uint64_t played = 0;  // simulated steps of all gangs
};

// Simulates the gangs, each from its position, on a flow network with one link for each entry of
// `capacities` (bits a second). The `uses` of a gang name links by their index in `capacities`.
// After a warm-up the simulation proceeds in windows of eight steps of the slowest gang. It stops
// once each gang's mean step durations in two successive windows differ by at most 1 %, or after
// six windows. The mean durations over the last two windows are returned.
//
// Example: two gangs with steps of 1 s, of which 0.5 s are an exchange on a shared link. From equal
// positions both exchange at half the rate, and a step takes 1.5 s. From opposite positions they
// take turns, and a step takes 1 s.
Rehearsal rehearse(std::span<const SharingGang> gangs, std::span<const double> capacities);
// Returns false if step lengths differ so much that a window of rehearse() would have too many
// steps, or if a step takes more than 30 days. Gangs with such different steps do not synchronise,
// so ExpectedRates suits them.
bool is_worth_rehearsing(std::span<const SharingGang* const> gangs);

}  // namespace orrery
