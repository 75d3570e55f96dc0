// models/scheduling/contract/traits.hpp -- what the rest of the program must know of a policy.
#pragma once

#include <cstdint>

namespace orrery {

// A policy declares `static constexpr Traits kTraits = Trait::... | Trait::...;`. Other code asks
// for traits, never for the name of a policy. A trait that a loaded policy does not declare is
// false; for some questions, a loaded policy that serves a point is assumed to use it: see
// is_loaded_for().
enum class Trait : uint16_t {
  None = 0,
  ChecksRoom = 1U << 0U,          // a Filter that keeps pods off nodes without room for them
  Preempts = 1U << 1U,            // makes room at the cost of other pods
  HeedsPodAffinity = 1U << 2U,    // affinity and anti_affinity of pods
  HeedsSpread = 1U << 3U,         // topology_spread of pods
  HeedsImages = 1U << 4U,         // images of pods
  WaitsInPermit = 1U << 5U,       // heeds the schedule timeout of gangs
  RetriesInPermit = 1U << 6U,     // gathers gangs pod by pod, and starts over when one fits nowhere
  NeedsFragmentation = 1U << 7U,  // Handle::fragmentation()
  StopsJobs = 1U << 8U,           // of the job queue: stops running jobs
  HeedsQueueNodes = 1U << 9U,     // the nodes that a job queue chose for a job
  NeedsProcess = 1U << 10U,       // two runs that use the policy must not share a process
  PreemptsGangs = 1U << 11U,      // makes room for whole gangs at the cost of others
};
using Traits = Trait;
constexpr Traits operator|(Traits a, Traits b) {
  return static_cast<Traits>(static_cast<uint16_t>(a) | static_cast<uint16_t>(b));
}
constexpr bool has(Traits traits, Trait one) {
  return (static_cast<uint16_t>(traits) & static_cast<uint16_t>(one)) != 0;
}

template <class P>
constexpr Traits traits_of() {
  if constexpr (requires { P::kTraits; }) return P::kTraits;
  return Trait::None;
}

}  // namespace orrery
