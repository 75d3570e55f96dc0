// models/scheduling/contract/policy_api.hpp -- the extension points up to the choice of a node;
// later points are in binding_api.hpp.
//
// A policy inherits Policy and each extension point that it implements. Names and status codes are
// those of the Kubernetes scheduling framework (v1.36):
//   PreEnqueue, QueueSort -> PreFilter -> Filter -> [PostFilter if nothing fits] -> PreScore ->
//   Score -> Reserve -> Permit -> PreBind -> Bind -> PostBind;  Unreserve, in reverse, on failure.
// Unlike in Kubernetes, Filter and Score are called once per cycle, not once per node: Filter
// narrows a set of nodes, and Score fills a vector. Policies decide; they never change the cluster.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/scheduling/contract/binding_api.hpp"
#include "models/scheduling/contract/candidates.hpp"
#include "models/scheduling/contract/cycle_state.hpp"
#include "models/scheduling/contract/gang_map.hpp"
#include "models/scheduling/contract/handle.hpp"
#include "models/scheduling/contract/policy.hpp"
#include "models/scheduling/contract/policy_types.hpp"

namespace orrery {

class ORRERY_API QueueSort : public Point {
 public:
  static constexpr PointName kPoint{"QueueSort",
                                    "which of two queued pods or gangs is scheduled first"};
  // True if `a` is to be scheduled before `b`; a strict weak order. If neither of two units comes
  // first, the one that was queued earlier is scheduled first.
  virtual bool less(const QueuedUnit& a, const QueuedUnit& b) const = 0;
};
class ORRERY_API NextPod : public Point {  // per_pod driver only, at most one in a profile
 public:
  static constexpr PointName kPoint{
      "NextPod", "which pod is tried next, whatever the queue's order (policy.driver: per_pod)"};
  // The pod to try next, regardless of the order of the queue. If the returned id is invalid, the
  // queue decides. If the pod cannot be tried, next() is called again. A pod cannot be tried if it
  // is not in the queue, is gated, or waits for the evictions of its victims.
  virtual PodId next() = 0;
};
class ORRERY_API PreEnqueue : public Point {  // a result other than Success gates the pod
 public:
  static constexpr PointName kPoint{"PreEnqueue",
                                    "whether a pod may enter the queue; else it is gated"};
  virtual Status pre_enqueue(const PodView& pod) = 0;
};
class ORRERY_API PreFilter : public Point {
 public:
  static constexpr PointName kPoint{"PreFilter",
                                    "checks the pod before nodes are filtered; may exclude nodes"};
  // May remove nodes from `nodes`; a Diagnosis lists the removed nodes as unresolvable. Skip: the
  // policy's own Filter is not called in this cycle. Any result other than Success, Skip and
  // Unschedulable: a policy whose PreFilter comes later gets no call of PreFilter, Filter or
  // Charges. Exception: a node-local Filter may be called after any result, so it must not use
  // results of pre_filter(). An attempt of a gang may call pre_filter() several times per member.
  virtual Status pre_filter(const Cycle& cycle, NodeSet& nodes) const = 0;
};
class ORRERY_API Filter : public Point {
 public:
  static constexpr PointName kPoint{"Filter", "which nodes are feasible for the pod"};
  virtual void filter(const Cycle& cycle, Candidates& nodes) const = 0;
  // True if the verdict depends only on the node and the pod's spec. The framework may then cache
  // the verdict until the node changes.
  virtual bool is_node_local() const { return false; }
};
class ORRERY_API PostFilter : public Point {  // runs when no node is feasible
 public:
  static constexpr PointName kPoint{"PostFilter",
                                    "called when no node is feasible, for example to preempt"};
  virtual Status post_filter(const Cycle& cycle, const Diagnosis& diagnosis) = 0;
  // False: the policy does not read `diagnosis.candidates`, so the framework need not compute them.
  virtual bool reads_candidates(const PodView& /*pod*/) const { return true; }
  // Scheduler time charged for the latest post_filter() of this attempt.
  virtual Duration charge(const CycleState& /*state*/) const { return {}; }
};
class ORRERY_API PreScore : public Point {  // Skip: the policy's Score is not called
 public:
  static constexpr PointName kPoint{"PreScore", "sees the feasible nodes before they are scored"};
  virtual Status pre_score(const Cycle& cycle, std::span<const NodeId> feasible) const = 0;
};
class ORRERY_API Score : public Point {
 public:
  static constexpr PointName kPoint{"Score", "how good each feasible node is, 0 to 100"};
  // Writes one score per node, aligned with `nodes`. After normalize() all scores are in 0..100.
  virtual void score(const Cycle& cycle, std::span<const NodeId> nodes,
                     std::span<int64_t> scores) const = 0;
  virtual void normalize(std::span<int64_t> /*scores*/) const {}
  // True if the score() of a node depends only on that node and the pod's spec (see Filter).
  virtual bool is_node_local() const { return false; }
  // True if normalize() computes each new score from the old one and the minimum and maximum of all
  // scores, and pre_score() ignores `feasible`. The framework may then pass normalize() one score
  // for all nodes with equal scores, and call pre_score() with an empty `feasible`.
  virtual bool is_by_extremes() const { return false; }
};
// The domains in which to try a whole gang, in order of preference (per_gang driver).
class ORRERY_API Domains : public Point {
 public:
  static constexpr PointName kPoint{
      "Domains", "domains in which a whole gang is tried, best first (policy.driver: per_gang)"};
  // A what-if of an attempt calls domains() again with the same CycleState. The cluster then lacks
  // the pods that the what-if evicts.
  virtual void domains(const Cycle& cycle, const GangView& gang, std::vector<GangDomain>& out) = 0;
  // True: domains() is also called for pods without a gang. `gang` then describes a gang of this
  // one pod, and gang.id is invalid.
  virtual bool places_lone_pods() const { return false; }
};
// Quality of a whole placement, 0..100. If a policy of the profile implements ScorePlacement, all
// domains are tried and the best one is used. Otherwise the first domain in which the gang fits is
// used.
class ORRERY_API ScorePlacement : public Point {
 public:
  static constexpr PointName kPoint{
      "ScorePlacement",
      "how good a whole placement of a gang is, 0 to 100 (policy.driver: per_gang)"};
  virtual int64_t score_placement(const Cycle& cycle, const GangView& gang,
                                  std::span<const NodeId> nodes) const = 0;
};
// Chooses GPUs within the node. Must return as many GPUs as the spec requests. If several policies
// implement PickDevices, the last one in the profile is called.
class ORRERY_API PickDevices : public Point {
 public:
  static constexpr PointName kPoint{"PickDevices", "which GPUs of the chosen node the pod gets"};
  virtual GpuMask pick(const Cycle& cycle, NodeId node) const = 0;
};
// Which events may help a pod that this policy rejected. If a policy has no hints, every event
// causes a retry.
class ORRERY_API EventHints : public Point {
 public:
  static constexpr PointName kPoint{"EventHints",
                                    "which events may make a rejected pod schedulable"};
  virtual ClusterEvents events() const = 0;
  virtual QueueHint hint(const PodView& /*pod*/, const ClusterEvent& /*event*/) const {
    return QueueHint::Queue;
  }
};
// Scheduler time that the policy takes beyond the cost of a cycle. Called after the PreFilters.
class ORRERY_API Charges : public Point {
 public:
  static constexpr PointName kPoint{"Charges",
                                    "scheduler time that the policy adds to a scheduling cycle"};
  virtual Duration charge(const Cycle& cycle) const = 0;
};
}  // namespace orrery
