// models/scheduling/contract/scheduler_view.hpp -- the scheduler's state as policies see it.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "models/hardware/cluster_state.hpp"
#include "models/hardware/nic_errors.hpp"
#include "models/scheduling/contract/placements.hpp"
#include "models/scheduling/contract/policy_types.hpp"
#include "models/scheduling/contract/preemption.hpp"
#include "models/workload/job/pod_spec.hpp"
#include "sim/core/rng.hpp"

namespace orrery {

class Fragmentation;

// Read-only. Policies use it through their Handle.
class ORRERY_API SchedulerView {
 public:
  virtual ~SchedulerView() = default;
  virtual Time now() const = 0;
  virtual const ClusterState& cluster() const = 0;
  virtual const SpecTable& specs() const = 0;
  virtual const Placements& placements() const = 0;
  virtual PodView pod(PodId pod) const = 0;
  virtual GangView gang(GangId gang) const = 0;
  virtual std::span<const PodId> waiting_pods(GangId gang) const = 0;
  virtual const RngStreams& streams() const = 0;
  virtual const Fragmentation* fragmentation() const { return nullptr; }
  virtual std::vector<NicErrors> nic_errors() const { return {}; }
  virtual const Preemption* preemption() const { return nullptr; }
};

}  // namespace orrery
