// models/scheduling/contract/preemption.hpp -- what a policy may ask to make room for a pod at the
// cost of others; the commands for it are those of the Handle.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/hardware/node_set.hpp"
#include "models/scheduling/contract/cycle_state.hpp"
#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

struct PlacedPod {  // bound to a node, or with a reservation there
  PodId id;
  int32_t priority = 0;
  Time since;               // when it got its node
  bool is_leaving = false;  // it was evicted and is still terminating
};

// The cluster as it would be without some pods. At the end of the object all is undone.
// What-ifs nest: an inner one must end before the outer one.
class ORRERY_API WhatIf {
 public:
  virtual ~WhatIf() = default;
  virtual void evict(PodId pod) = 0;
  virtual void restore(PodId pod) = 0;  // one that was evicted
  // Of `nodes`, those on which the pod would pass all Filters, beside nominated pods of no lower
  // priority.
  virtual NodeSet feasible(const NodeSet& nodes) = 0;
  // True if evictions on one node do not change whether other nodes are feasible, so that several
  // nodes may be tried together.
  virtual bool is_node_local() const = 0;
};

struct MemberOnNode {
  PodId pod;
  NodeId node;
};

// The gang of the running cycle in a cluster without some pods. At the end of the object all is
// undone. Commands that policies give meanwhile are dropped.
class ORRERY_API GangWhatIf {
 public:
  virtual ~GangWhatIf() = default;
  virtual void evict(PodId pod) = 0;
  virtual void restore(PodId pod) = 0;  // one that was evicted
  // Whether an attempt of the whole gang would succeed: its domains, all points up to Permit.
  virtual bool fits() = 0;
  // Members and their nodes, of the latest fits() that was true.
  virtual std::span<const MemberOnNode> placed() const = 0;
  // Scheduler time of all fits() so far.
  virtual Duration spent() const = 0;
};

class ORRERY_API Preemption {
 public:
  virtual ~Preemption() = default;
  // Some placed pod has a lower priority than this.
  virtual bool is_above_any(int32_t priority) const = 0;
  virtual bool is_above_any_on(NodeId node, int32_t priority) const = 0;  // placed there
  // Appends the pods of the node, more important ones first: by priority, then the longest there.
  virtual void placed_on(NodeId node, std::vector<PlacedPod>& pods) const = 0;
  // For the pod of the running cycle, once its PreFilters have run.
  virtual std::unique_ptr<WhatIf> what_if(const Cycle& cycle) const = 0;
  // For the gang of the running cycle, within its PostFilter (driver: per_gang). A pod without a
  // gang is a gang of one. One at a time. Null: the gang has its quorum and lacks other members.
  virtual std::unique_ptr<GangWhatIf> gang_what_if(const Cycle& cycle) const = 0;
  // The compute that one GPU of the pod's gang, or of the lone pod, would lose if it stopped now:
  // since its last checkpoint, or since it began to compute. Zero if it does not compute.
  virtual Duration unsaved(PodId pod) const = 0;

  // Where the pod is to go once there is room; invalid: nowhere.
  virtual NodeId nominated_node(PodId pod) const = 0;
  virtual void nominated_on(NodeId node, std::vector<PodId>& pods) const = 0;
};

}  // namespace orrery
