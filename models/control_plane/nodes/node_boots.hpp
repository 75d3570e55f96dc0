// models/control_plane/nodes/node_boots.hpp -- nodes booting into the cluster.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/control_plane/nodes/boot_script.hpp"
#include "models/control_plane/nodes/node_api.hpp"
#include "models/control_plane/nodes/node_join.hpp"
#include "models/control_plane/nodes/node_rows.hpp"
#include "sim/core/rng.hpp"
#include "sim/engine/signal.hpp"
#include "sim/record/channel.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// A joining node waits at the JoinGate, then sends its requests; a returning node skips the gate. A
// request that NodeApi reports as failed is sent again after a growing backoff. LISTs and WATCHes
// have the backoff of reflectors; other requests have the backoff of a kubelet's registration.
class NodeBoots {
 public:
  struct Counters {
    uint64_t joined = 0, came_back = 0, broken = 0;
    uint64_t requests = 0, again = 0;  // all requests, and the retried ones among them
  };

  NodeBoots(Sim sim, const BootParams& params, NodeApi& api, uint32_t nodes);
  NodeBoots(const NodeBoots&) = delete;
  NodeBoots& operator=(const NodeBoots&) = delete;

  void absent(NodeId node) { boots_[node].joins = true; }  // the node joins later
  void boot(NodeId node);
  void died(NodeId node);  // responses to its open requests are ignored
  void finish();           // writes rows of boots in progress

  Signal<NodeId> registered;  // a joining node's Node is stored
  Signal<NodeId> ready;

  size_t waiting() const { return gate_.waiting(); }
  uint32_t booting() const { return booting_; }  // waiting at the gate included
  const Counters& counters() const { return counters_; }
  // Time from the start of the boot until Ready, of each node that joined.
  const std::vector<Duration>& join_times() const { return join_times_; }

 private:
  struct Boot {
    uint32_t generation = 0;
    bool joins = false;  // this boot registers the node; the boot of a repaired node does not
    bool is_open = false, is_ready = false;
    std::array<uint32_t, kBootStages> left{};  // running threads of each stage
    BootRow row;
  };
  struct Ticket {  // a thread of a boot, and its open or next request
    NodeId node;
    uint32_t generation = 0;
    BootStage stage = BootStage::Certificate;
    uint16_t thread = 0, request = 0, failures = 0;
  };
  const BootScript& script(NodeId node) const { return boots_[node].row.joins ? join_ : reboot_; }
  void enter(NodeId node, uint32_t generation);
  void begin(NodeId node, BootStage stage);
  void ask(Ticket ticket);
  void answered(Ticket ticket, bool is_done);
  void end(NodeId node, BootStage stage);
  void settle(NodeId node);
  Duration pause(const Ticket& ticket, Verb verb);

  Sim sim_;
  NodeApi& api_;
  Rng rng_;
  JoinGate gate_;
  BootScript join_, reboot_;
  IdVector<NodeId, Boot> boots_;
  uint32_t booting_ = 0;
  std::vector<Duration> join_times_;
  Counters counters_;
  Channel<BootRow> rows_;
};

}  // namespace orrery
