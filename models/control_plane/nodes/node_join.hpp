// models/control_plane/nodes/node_join.hpp -- nodes that join at once, and a gate that spreads
// them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "models/control_plane/base/token_bucket.hpp"
#include "models/control_plane/nodes/node_join_params.hpp"
#include "sim/core/callback.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// What one node asks for when it joins, by what it costs.
struct JoinLoad {
  int32_t writes = 0;         // small objects: certificates, Node, Lease, status, Events
  int32_t reads = 0;          // single objects
  int32_t lists = 0;          // of few objects that concern the node
  int32_t watches = 0;        // one after each list
  int32_t service_lists = 0;  // of all services
  int32_t address_lists = 0;  // of the addresses of all services
  Bytes listed = {};          // by lists of all services and addresses
  int32_t requests() const {
    return writes + reads + lists + watches + service_lists + address_lists;
  }
};
// In a cluster whose services have `services` objects and addresses of that size, all together.
struct ServiceSizes {
  int64_t services = 0;
  Bytes addresses = {};
};
JoinLoad join_load(const NodeJoinParams& params, const ServiceSizes& sizes);

// Nodes come in the order in which they ask, at the rate the gate allows; one event is pending for
// all that wait.
class JoinGate {
 public:
  JoinGate(Engine& engine, const NodeJoinParams& params);
  JoinGate(const JoinGate&) = delete;
  JoinGate& operator=(const JoinGate&) = delete;
  ~JoinGate() { engine_.cancel(next_); }

  // Calls `enter` when the node may join: at once, if it needs not wait.
  void ask(Callback enter);
  size_t waiting() const { return waiting_.size(); }

 private:
  void plan();

  Engine& engine_;
  std::optional<TokenBucket> tokens_;  // none: nothing holds nodes back
  std::deque<Callback> waiting_;
  EventId next_;
};

}  // namespace orrery
