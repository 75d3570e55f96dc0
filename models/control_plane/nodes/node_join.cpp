#include "models/control_plane/nodes/node_join.hpp"

#include <utility>

namespace orrery {

JoinGate::JoinGate(Engine& engine, const NodeJoinParams& params) : engine_{engine} {
  if (params.rate_max > 0) tokens_.emplace(params.rate_max, params.burst);
}

void JoinGate::ask(Callback enter) {
  if (!tokens_) return enter();
  const Time now = engine_.now();
  if (waiting_.empty() && tokens_->earliest(now) == now) {
    tokens_->reserve(now);
    return enter();
  }
  waiting_.push_back(std::move(enter));
  if (waiting_.size() == 1) plan();
}

void JoinGate::plan() {
  next_ = engine_.at(tokens_->earliest(engine_.now()), Label{"node_join.let_in"}, [this] {
    Callback enter = std::move(waiting_.front());
    waiting_.pop_front();
    tokens_->reserve(engine_.now());
    if (!waiting_.empty()) plan();
    enter();
  });
}

}  // namespace orrery
