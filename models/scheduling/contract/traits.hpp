// models/scheduling/contract/traits.hpp -- properties of a policy that the rest of the program
// depends on.
#pragma once

#include <cstdint>

namespace orrery {

// A policy declares `static constexpr Traits kTraits = Trait::... | Trait::...;`. Other code checks
// traits, never the name of a policy. A trait that a loaded policy does not declare is false. For
// some checks a loaded policy with a certain point counts as having the trait: see is_loaded_for().
enum class Trait : uint16_t {
  None = 0,
  ChecksRoom = 1U << 0U,        // a Filter that rejects nodes without room
  Preempts = 1U << 1U,          // evicts other pods to make room
  HeedsPodAffinity = 1U << 2U,  // affinity and anti_affinity of pods
  HeedsSpread = 1U << 3U,       // topology_spread of pods
  HeedsImages = 1U << 4U,       // images of pods
  WaitsInPermit = 1U << 5U,     // heeds the schedule timeout of gangs
  // Waits for gangs pod by pod, and starts over if one pod fits nowhere.
  RetriesInPermit = 1U << 6U,
  NeedsFragmentation = 1U << 7U,  // uses Handle::fragmentation()
  StopsJobs = 1U << 8U,           // a policy of the job queue that stops running jobs
  HeedsQueueNodes = 1U << 9U,     // the nodes that a job queue chose for a job
  NeedsProcess = 1U << 10U,       // two runs that use the policy must not share a process
  PreemptsGangs = 1U << 11U,      // evicts other pods to make room for whole gangs
  ScalesPools = 1U << 12U,        // a controller that adds and removes nodes
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
