// models/scheduling/contract/traits.hpp -- properties that a policy declares.
#pragma once

#include <cstdint>

namespace orrery {

// A policy declares `static constexpr Traits kTraits = Trait::... | Trait::...;`. Other code checks
// traits, never the name of a policy. A loaded policy has only the traits that it declares.
// Exception: models/scenario/facts.cpp infers some traits of a loaded policy from its extension
// points. Example: it assumes WaitsInPermit if the policy implements Permit. See is_loaded_for().
enum class Trait : uint16_t {
  None = 0,
  ChecksRoom = 1U << 0U,        // has a Filter that rejects nodes on which the pod does not fit
  Preempts = 1U << 1U,          // evicts other pods so that one pod fits
  HeedsPodAffinity = 1U << 2U,  // uses affinity and anti_affinity of pods
  HeedsSpread = 1U << 3U,       // uses topology_spread of pods
  HeedsImages = 1U << 4U,       // uses images of pods
  WaitsInPermit = 1U << 5U,     // uses the schedule timeout of gangs: members wait in Permit
  // Places the members of a gang one by one. If fewer than the quorum get a node, the members that
  // wait in Permit lose their nodes, at once or later. Then the gang is tried again.
  RetriesInPermit = 1U << 6U,
  NeedsFragmentation = 1U << 7U,  // uses Handle::fragmentation()
  StopsJobs = 1U << 8U,           // a policy of the job queue that may stop a running job
  HeedsQueueNodes = 1U << 9U,  // restricts pods to the nodes that the job queue chose for their job
  NeedsProcess = 1U << 10U,    // two runs that use the policy must not share a process
  PreemptsGangs = 1U << 11U,   // evicts other pods so that a whole gang fits
  ScalesPools = 1U << 12U,     // a controller that adds and removes nodes
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
