// models/scheduling/contract/handle.hpp -- what a policy may ask of the framework, and do through
// it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/hardware/nic_errors.hpp"
#include "models/scheduling/contract/policy_types.hpp"
#include "models/scheduling/contract/preemption.hpp"
#include "models/workload/job/pod_spec.hpp"
#include "sim/core/rng.hpp"
#include "sim/core/time.hpp"

namespace orrery {

class Fragmentation;

// What the framework lends a policy. Everything else is out of reach on purpose.
class ORRERY_API Handle {
 public:
  virtual ~Handle() = default;
  virtual Time now() const = 0;
  virtual const ClusterState& cluster() const = 0;
  virtual const SpecTable& specs() const = 0;
  virtual PodView pod(PodId pod) const = 0;
  virtual GangView gang(GangId gang) const = 0;
  virtual Rng rng(std::string_view stream) const = 0;
  // Permit: lets a waiting pod go on to be bound, or sends it back to the queue.
  virtual void allow_waiting(PodId pod) = 0;
  virtual void reject_waiting(PodId pod, std::string_view reason) = 0;
  // Pods of the gang that wait in Permit, in the order in which they began to.
  virtual std::span<const PodId> waiting_pods(GangId gang) const = 0;
  // Moves every unscheduled sibling straight to the active queue.
  virtual void activate_siblings(PodId pod) = 0;
  // Remembered with the gang and shown in GangView until the gang is gone.
  virtual void set_gang_failure(GangId gang, Time failed_at, Time backoff_until) = 0;
  // By the typical pods of the workload; null if it names none.
  virtual const Fragmentation* fragmentation() const { return nullptr; }
  // Of nodes whose NICs counted symbol errors, in order of nodes. None without network.level: flow.
  virtual std::vector<NicErrors> nic_errors() const { return {}; }
  // Who is where, and may have to go; null where pods are not placed one by one.
  virtual Preemption* preemption() { return nullptr; }
};

}  // namespace orrery
