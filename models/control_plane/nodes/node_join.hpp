// models/control_plane/nodes/node_join.hpp -- a gate that limits the rate at which nodes join.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "models/control_plane/base/token_bucket.hpp"
#include "models/control_plane/nodes/node_join_params.hpp"
#include "sim/core/callback.hpp"
#include "sim/engine/engine.hpp"

namespace orrery {

// Nodes pass in the order of their requests, at the gate's rate. Only the first waiting node has a
// pending event. Example: the rate is 10/s and the burst 20. Of 100 nodes that ask together, 20
// pass without delay, and the last one passes after 8 s.
class JoinGate {
 public:
  JoinGate(Engine& engine, const NodeJoinParams& params);
  JoinGate(const JoinGate&) = delete;
  JoinGate& operator=(const JoinGate&) = delete;
  ~JoinGate() { engine_.cancel(next_); }

  // Calls `enter` when the node may join: at once if it need not wait.
  void ask(Callback enter);
  size_t waiting() const { return waiting_.size(); }

 private:
  void plan();

  Engine& engine_;
  std::optional<TokenBucket> tokens_;  // empty if rate_max is 0: nodes pass at once
  std::deque<Callback> waiting_;
  EventId next_;
};

}  // namespace orrery
