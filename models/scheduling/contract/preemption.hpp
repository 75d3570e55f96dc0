// models/scheduling/contract/preemption.hpp -- queries for preemption; the commands are in
// handle.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/hardware/node_set.hpp"
#include "models/scheduling/contract/cycle_state.hpp"
#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

struct PlacedPod {  // a pod that is bound or has a reserved node
  PodId id;
  int32_t priority = 0;
  Time since;               // when the pod got its node
  bool is_leaving = false;  // evicted and still terminating
};

// The cluster as it would be without the pods passed to evict(). The destructor undoes all
// evictions. What-ifs may be nested: the inner one must end before the outer one.
class ORRERY_API WhatIf {
 public:
  virtual ~WhatIf() = default;
  virtual void evict(PodId pod) = 0;
  virtual void restore(PodId pod) = 0;  // undoes one eviction
  // The subset of `nodes` on which the pod would pass all Filters. Nominated pods of equal or
  // higher priority count as placed.
  virtual NodeSet feasible(const NodeSet& nodes) = 0;
  // True if evictions on one node never change whether other nodes are feasible, so several nodes
  // may be tried together.
  virtual bool is_node_local() const = 0;
};

struct MemberOnNode {
  PodId pod;
  NodeId node;
};

// The gang of the running cycle, in the cluster as it would be without the pods passed to evict().
// The destructor undoes all evictions. Commands that policies give during fits() are dropped.
class ORRERY_API GangWhatIf {
 public:
  virtual ~GangWhatIf() = default;
  virtual void evict(PodId pod) = 0;
  virtual void restore(PodId pod) = 0;  // undoes one eviction
  // Whether an attempt to place the whole gang would succeed. fits() tries the gang's domains. It
  // calls all extension points up to and including Permit, but not Reserve.
  virtual bool fits() = 0;
  // The members with their nodes, from the latest fits() that returned true.
  virtual std::span<const MemberOnNode> placed() const = 0;
  // Scheduler time that all calls of fits() have taken so far.
  virtual Duration spent() const = 0;
};

class ORRERY_API Preemption {
 public:
  virtual ~Preemption() = default;
  // Whether any placed pod has a priority below `priority`.
  virtual bool is_above_any(int32_t priority) const = 0;
  // Whether any pod placed on the node has a priority below `priority`.
  virtual bool is_above_any_on(NodeId node, int32_t priority) const = 0;
  // Appends the pods placed on the node, in descending order of priority. Pods of equal priority
  // are in the order in which they got the node.
  virtual void placed_on(NodeId node, std::vector<PlacedPod>& pods) const = 0;
  // A what-if for the pod of the running cycle. Must be called after the cycle's PreFilters.
  virtual std::unique_ptr<WhatIf> what_if(const Cycle& cycle) const = 0;
  // A what-if for the gang of the running cycle. May be called by PostFilter only, and only with
  // the per_gang driver. A pod without a gang is a gang of one. At most one GangWhatIf exists at a
  // time. Returns null in two cases: the gang's quorum has nodes and only further members lack
  // nodes, or the attempt failed because other pods of the gang are still being evicted.
  virtual std::unique_ptr<GangWhatIf> gang_what_if(const Cycle& cycle) const = 0;
  // The compute that each GPU of the pod's gang (or of the pod, if it has no gang) would lose by
  // stopping now: all compute since the last checkpoint or, without a checkpoint, since the start.
  // Zero if the gang or pod does not compute.
  virtual Duration unsaved(PodId pod) const = 0;

  // The node for which the pod is nominated; invalid: none.
  virtual NodeId nominated_node(PodId pod) const = 0;
  virtual void nominated_on(NodeId node, std::vector<PodId>& pods) const = 0;
};

}  // namespace orrery
