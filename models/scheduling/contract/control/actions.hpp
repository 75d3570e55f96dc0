// models/scheduling/contract/control/actions.hpp -- the actions of a controller, as plain values.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "models/hardware/node_labels.hpp"
#include "models/scheduling/contract/status.hpp"
#include "sim/core/enum_names.hpp"
#include "sim/core/id.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct CordonNode {  // sets spec.unschedulable
  NodeId node;
};
struct UncordonNode {
  NodeId node;
};
// A NoExecute taint also deletes the node's pods, except pods that tolerate the taint. As in
// Kubernetes, disruption budgets do not apply to these deletions.
struct TaintNode {
  NodeId node;
  Taint taint;
  bool is_there = true;  // false: the taint is removed
};
// An eviction through the Eviction API. While a disruption budget forbids it, the API answers 429
// and the executor retries every 5 s for `retry_for`.
struct EvictPod {
  PodId pod;
  Duration retry_for = {};
};
// Cordons the node and evicts its pods. From `force_after` on, pods are deleted without regard to
// budgets. The drain fails at `deadline`, or when an eviction is still forbidden after `evict_for`;
// the node then stays cordoned. All three durations are counted from the execution of the action.
struct DrainNode {
  NodeId node;
  Duration deadline = Duration::max();
  Duration force_after = Duration::max();
  Duration evict_for = Duration::max();
};
// A running gang writes a checkpoint or, if JobView::has_checkpoints is false, loses its unsaved
// work. Then it returns its nodes. Without a job queue, the gang waits until ResumeJob. With a job
// queue, the queue decides when the gang starts again.
struct SuspendJob {
  JobId job;
};
struct ResumeJob {
  JobId job;
};
struct ResizeService {
  JobId job;
  int32_t replicas = 0;
};
// Requests these absent nodes from the provider of the pool. The action is done once all nodes are
// ready. It fails if nodes do not come in time.
struct AddNodes {
  uint32_t pool = 0;          // index in ControlBoard::pools()
  std::vector<NodeId> nodes;  // absent nodes of that pool
  uint64_t pods = 0;  // pods that need the nodes; for the log only, like waited_mean and waited_max
  Duration waited_mean = {}, waited_max = {};
};
// Removes nodes of one pool, but leaves at least PoolView::size_min nodes in the pool. A node with
// pods stays: drain it first. Pods of a priority below `lost_below` are no obstacle and are lost
// with their node.
struct RemoveNodes {
  uint32_t pool = 0;
  std::vector<NodeId> nodes;
  int32_t lost_below = std::numeric_limits<int32_t>::min();
};

using ControlAction = std::variant<CordonNode, UncordonNode, TaintNode, EvictPod, DrainNode,
                                   SuspendJob, ResumeJob, ResizeService, AddNodes, RemoveNodes>;
constexpr std::array<std::string_view, std::variant_size_v<ControlAction>> kActionNames = {
    "cordon",  "uncordon", "taint",  "evict",     "drain",
    "suspend", "resume",   "resize", "add_nodes", "remove_nodes"};

// The actions of one tick. The executor executes them after the tick, in the order in which they
// were given.
class ORRERY_API Actions {
 public:
  struct Ordered {
    ControlAction action;
    std::string why;
  };
  // `why` is written to /events/actions.
  void give(ControlAction action, std::string why) {
    ordered_.push_back({std::move(action), std::move(why)});
  }
  // Requests an additional tick at `when`. No effect if the next regular tick is not later.
  void wake_at(Time when) { wakes_at_ = wakes_at_ < when ? wakes_at_ : when; }
  // Skips the regular ticks before `when`. News ends the idling earlier: a job begins to wait, a
  // gang fails, or a node goes down or comes back. Idling does not shift the regular ticks.
  // Example: with regular ticks at 30, 40 and 50 s, news at 34 s leads to a tick at 40 s.
  void idle_until(Time when = Time::max()) { idles_until_ = when; }

  const std::vector<Ordered>& ordered() const { return ordered_; }
  Time wakes_at() const { return wakes_at_; }
  Time idles_until() const { return idles_until_; }

 private:
  std::vector<Ordered> ordered_;
  Time wakes_at_ = Time::max();
  Time idles_until_;  // by default no tick is skipped
};

}  // namespace orrery
