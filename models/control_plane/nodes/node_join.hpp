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
