// models/control_plane/autoscaling/cluster_autoscaler.hpp -- nodes that come when pods wait, and go
// when idle.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "models/control_plane/autoscaling/cluster_autoscaler_params.hpp"
#include "models/control_plane/autoscaling/cluster_autoscaler_rows.hpp"
#include "models/control_plane/nodes/node_lifecycle.hpp"
#include "models/hardware/node_presence.hpp"
#include "models/scheduling/cycle/scheduler.hpp"
#include "models/scheduling/feasibility/room_table.hpp"
#include "models/workload/job/job_table.hpp"
#include "sim/core/rng.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// As cluster-autoscaler: one loop after the other, each of which adds nodes to one group or takes
// idle ones away. Pods are packed onto the very nodes that would come, in the order of their size.
// Requests of its own to the API servers are not modelled: a few for each node.
class ClusterAutoscaler {
 public:
  struct Group {  // the nodes of a pool, in order
    NodeGroupParams params;
    std::vector<NodeId> nodes;
  };
  struct Context {
    Sim sim;
    const ClusterState& cluster;
    const JobTable& jobs;
    const Scheduler& scheduler;
    const NodeLifecycle& lifecycle;
    NodePresence& presence;  // Absent comes with a node taken away, and goes with one provided
  };
  ClusterAutoscaler(Context context, const ClusterAutoscalerParams& params,
                    std::vector<Group> groups);
  ClusterAutoscaler(const ClusterAutoscaler&) = delete;
  ClusterAutoscaler& operator=(const ClusterAutoscaler&) = delete;

  void start();

  void connect(PodNews& pods, NodeNews& nodes);

  // Nodes are on their way, or will be asked for without further news. A group whose backoff has
  // reached its maximum counts as adding none.
  bool is_adding() const;

  void sample(Time now);
  void add_summary(Recorder& recorder) const;

 private:
  struct Counters {
    uint64_t loops = 0, halted = 0;
    uint64_t scale_ups = 0, asked = 0, taken_away = 0, timed_out = 0;
  };
  enum class State : uint8_t { Foreign, Absent, Asked, Joined, Member };
  struct Node {
    State state = State::Foreign;  // Joined: it registered; Member: it was ready since
    uint32_t group = 0;
    Time asked;
    EventId provisioned;
    int32_t pods = 0;        // that count, reserved ones included
    Time unneeded{-1};       // since the loop that saw it so
    bool was_ready = false;  // in that loop
  };
  struct Scaled {
    Group group;
    Rng rng;
    uint32_t size = 0, asked = 0;  // asked: and not ready since
    Duration backoff = {};         // of the last time that nodes did not come
    Time backs_off_until = {};
  };
  struct Plan {  // of one loop
    std::vector<NodeId> up = {}, down = {};
    uint64_t pods = 0;
    Time begun = {};
    Duration waited_mean = {}, waited_max = {};  // until then
    bool helps_pods = false;                     // some fit on what is there or on its way
  };
  struct Waiting {  // alike pods
    SpecId spec = {};
    int64_t pods = 0, seated = 0;  // seated: on what is there or on its way
    std::vector<Time> since = {};  // of each pod, in order
  };

  // A unit is a pod, or the first of a gang placed as a whole.
  void no_node_found(PodId unit) { waiting_.try_emplace(unit, now()); }
  void pod_assigned(PodId pod, NodeId node);
  void pod_unassigned(PodId pod, NodeId node);
  void pod_removed(PodId pod) { waiting_.erase(pod); }
  void node_registered(NodeId node);
  void node_ready(NodeId node);

  Time now() const { return sim_.engine.now(); }
  bool counts(PodId pod) const;
  int64_t nodes_there() const;
  void loop();
  void act(const Plan& plan);
  void give_up_late();
  std::vector<Waiting> collect_waiting();  // largest first
  uint32_t room_to_grow(const Scaled& scaled) const;
  void plan_up(Plan& plan);
  bool grow(const Scaled& scaled, const std::vector<Waiting>& waiting, RoomTable& rooms,
            Plan& plan) const;
  void plan_down(Plan& plan);
  void note_unneeded();
  void ask(const Plan& plan);
  void take_away(const Plan& plan);
  void remove(NodeId node);
  void emit_removed(ScalingKind kind, const std::vector<uint32_t>& by_group);

  Sim sim_;
  const ClusterState& cluster_;
  const JobTable& jobs_;
  const Scheduler& scheduler_;
  const NodeLifecycle& lifecycle_;
  NodePresence& presence_;
  ClusterAutoscalerParams params_;
  std::vector<Scaled> groups_;
  IdVector<NodeId, Node> nodes_;
  NodeSet idle_;                         // members without pods that count
  int64_t not_registered_ = 0;           // absent or on their way
  std::map<PodId, Time> waiting_;        // units that found no node, and are not bound; since when
  Time scaled_up_{-1}, taken_away_{-1};  // last
  Counters counters_;
  Channel<ScalingRow> rows_;
  Channel<AutoscalerSample> samples_;
};

}  // namespace orrery
