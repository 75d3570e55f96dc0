// models/control_plane/nodes/node_lifecycle.hpp -- taints nodes whose heartbeats stop, and evicts
// the pods on these nodes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <queue>
#include <span>
#include <string_view>
#include <vector>

#include "models/control_plane/nodes/node_lifecycle_params.hpp"
#include "sim/core/id.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/signal.hpp"

namespace orrery {

enum class ZoneState : uint8_t { Normal, PartialDisruption, FullDisruption };
constexpr std::array<std::string_view, 3> enum_names(ZoneState) {
  return {"normal", "partial_disruption", "full_disruption"};
}

// The controller checks all nodes once in a monitor period. Only checks that may find a change are
// simulated. A node that was silent for longer than the grace period becomes NotReady and joins the
// taint queue of its zone. A token bucket limits the rate of taints in the zone. This rate depends
// on how many nodes of the zone are NotReady. Pods leave a tainted node when their toleration of
// the taint ends. If no node of the cluster is Ready, the controller assumes a network partition:
// it removes all taints, and sets none until a node is Ready again.
//
// Example: the grace period is 40 s, and checks are every 5 s. The last heartbeat of a node was at
// 101 s, so the check at 145 s finds the node NotReady. Then the node is tainted, and pods with the
// usual toleration leave 300 s later.
class NodeLifecycle {
 public:
  struct Counters {
    uint64_t not_ready = 0, ready = 0, tainted = 0, evicted = 0;
    uint64_t full_disruptions = 0;
  };

  // `zone_of_node` has the zone of each node. Zones are numbered from 0, without gaps.
  NodeLifecycle(Engine& engine, const NodeLifecycleParams& params,
                std::span<const uint32_t> zone_of_node);
  NodeLifecycle(const NodeLifecycle&) = delete;
  NodeLifecycle& operator=(const NodeLifecycle&) = delete;

  // No heartbeat has arrived since `last_heartbeat`, and none will until node_alive() is called.
  void node_silent(NodeId node, Time last_heartbeat);
  void node_alive(NodeId node);
  // At first all nodes are registered. A deleted node is ignored until it registers again.
  void node_deleted(NodeId node);
  void node_registered(NodeId node);
  // If the node is tainted and no eviction is pending, plans an eviction after params.toleration,
  // for pods that were bound to the node since the last eviction.
  void restart_toleration(NodeId node);

  bool is_ready(NodeId node) const { return nodes_[node].state != State::NotReady; }
  bool is_tainted(NodeId node) const { return nodes_[node].taint == Taint::Set; }
  ZoneState zone_state(uint32_t zone) const { return zones_[zone].state; }
  uint32_t not_ready() const { return not_ready_; }
  const Counters& counters() const { return counters_; }

  Signal<NodeId> became_not_ready, became_ready;
  Signal<NodeId> tainted, untainted;  // the taint has effect NoExecute
  Signal<NodeId> evicted;  // pods that tolerate the taint for params.toleration leave now

 private:
  enum class State : uint8_t { Alive, Silent, NotReady };
  enum class Taint : uint8_t { None, Queued, Set };
  struct Node {
    uint32_t zone = 0;
    State state = State::Alive;
    bool is_registered = true;
    bool is_alive_again = false;  // alive again, but not yet checked
    Taint taint = Taint::None;
    uint32_t silence = 0;  // how often it fell silent
    EventId eviction = {};
  };
  struct Zone {
    uint32_t nodes = 0, not_ready = 0;
    ZoneState state = ZoneState::Normal;
    std::deque<NodeId> queue;  // nodes to taint; some may be alive again, but not yet checked
    double rate = 0;
    Time next_taint;
    EventId taint;
  };
  struct Deadline {  // a check that finds a node silent for too long
    Time look;
    NodeId node;
    uint32_t silence;
    bool operator>(const Deadline& o) const {
      return look != o.look ? look > o.look : node > o.node;
    }
  };
  Time look_after(Time t) const;  // the first check after that time
  void plan_look(Time when);
  void look();
  void mark_not_ready(NodeId node);
  void mark_ready(NodeId node);
  void update_zones();
  ZoneState state_of(const Zone& zone) const;
  void set_pace(Zone& zone);
  void enter_full_disruption();
  void leave_full_disruption();
  void queue_taint(NodeId node);
  void lift_taint(NodeId node);
  void plan_taint(uint32_t zone);
  void hand_out_taint(uint32_t zone);
  void plan_eviction(NodeId node, Duration delay);
  void evict(NodeId node);

  Engine& engine_;
  NodeLifecycleParams params_;
  IdVector<NodeId, Node> nodes_;
  std::vector<Zone> zones_;
  std::priority_queue<Deadline, std::vector<Deadline>, std::greater<>> deadlines_;
  std::vector<NodeId> alive_again_;  // to be handled at the next check
  Time planned_look_ = Time::max();
  EventId look_;
  size_t registered_ = 0;
  uint32_t not_ready_ = 0;
  bool is_cut_off_ = false;  // full disruption of all zones
  Counters counters_;
};

}  // namespace orrery
