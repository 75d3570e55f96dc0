// models/scheduling/contract/preemption.hpp -- queries for preemption; its commands are in the
// Handle.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/hardware/node_set.hpp"
#include "models/scheduling/contract/cycle_state.hpp"
#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

struct PlacedPod {  // bound, or with a reserved node
  PodId id;
  int32_t priority = 0;
  Time since;               // when it got its node
  bool is_leaving = false;  // evicted and still terminating
};

// The cluster without some pods. The destructor undoes all evictions. What-ifs nest: an inner one
// must end before the outer one.
class ORRERY_API WhatIf {
 public:
  virtual ~WhatIf() = default;
  virtual void evict(PodId pod) = 0;
  virtual void restore(PodId pod) = 0;  // undoes one eviction
  // The subset of `nodes` on which the pod would pass all Filters, beside nominated pods of no
  // lower priority.
  virtual NodeSet feasible(const NodeSet& nodes) = 0;
  // True if evictions on one node never change whether other nodes are feasible, so several nodes
  // may be tried together.
  virtual bool is_node_local() const = 0;
};

struct MemberOnNode {
  PodId pod;
  NodeId node;
};

// The gang of the running cycle in a cluster without some pods. The destructor undoes all
// evictions. Commands that policies give within fits() are dropped.
class ORRERY_API GangWhatIf {
 public:
  virtual ~GangWhatIf() = default;
  virtual void evict(PodId pod) = 0;
  virtual void restore(PodId pod) = 0;  // undoes one eviction
  // Whether an attempt of the whole gang would succeed: its domains, all points up to Permit.
  virtual bool fits() = 0;
  // Members and their nodes, of the latest fits() that returned true.
  virtual std::span<const MemberOnNode> placed() const = 0;
  // Scheduler time of all fits() so far.
  virtual Duration spent() const = 0;
};

class ORRERY_API Preemption {
 public:
  virtual ~Preemption() = default;
  // Whether any placed pod has a lower priority than this.
  virtual bool is_above_any(int32_t priority) const = 0;
  // Among the pods of that node.
  virtual bool is_above_any_on(NodeId node, int32_t priority) const = 0;
  // Appends the pods of the node, more important ones first: by priority, then by time on the node.
  virtual void placed_on(NodeId node, std::vector<PlacedPod>& pods) const = 0;
  // For the pod of the running cycle, once its PreFilters have run.
  virtual std::unique_ptr<WhatIf> what_if(const Cycle& cycle) const = 0;
  // For the gang of the running cycle, within its PostFilter (driver: per_gang). A pod without a
  // gang is a gang of one. At most one GangWhatIf exists at a time. Null: the gang has its quorum
  // and lacks other members.
  virtual std::unique_ptr<GangWhatIf> gang_what_if(const Cycle& cycle) const = 0;
  // The compute that each GPU of the pod's gang, or of the lone pod, would lose if it stopped now:
  // since its last checkpoint, or since its start. Zero if it does not compute.
  virtual Duration unsaved(PodId pod) const = 0;

  // The nominated node; invalid: none.
  virtual NodeId nominated_node(PodId pod) const = 0;
  virtual void nominated_on(NodeId node, std::vector<PodId>& pods) const = 0;
};

}  // namespace orrery
