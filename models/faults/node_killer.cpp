#include "models/faults/node_killer.hpp"

#include <cmath>
#include <utility>

namespace orrery {

NodeKiller::NodeKiller(Engine& engine, const NodeKillerParams& params, uint32_t nodes, Rng rng)
    : engine_{engine}, params_{params}, rng_{rng} {
  for (uint32_t i = 0; i < nodes; ++i) left_.push_back({i});
}

void NodeKiller::start() { plan_round(); }

void NodeKiller::plan_round() {
  const double base = params_.interval.seconds();
  const Duration wait = nearest_ns(base + rng_.uniform() * params_.jitter * base);
  engine_.after(
      wait, Label{"node_killer.round_began"}, [this] { begin_round(); }, Phase::Fault);
}

void NodeKiller::begin_round() {
  const double share = params_.failure_rate * static_cast<double>(left_.size());
  const auto count = static_cast<size_t>(std::ceil(share));
  if (count == 0) return;
  for (size_t i = 0; i < count; ++i) {
    std::swap(left_[rng_.below(left_.size())], left_.back());
    down_.push_back(left_.back());
    left_.pop_back();
  }
  engine_.after(
      params_.downtime, Label{"node_killer.round_ended"}, [this] { end_round(); }, Phase::Fault);
  for (const NodeId node : down_) killed.emit(node);
}

void NodeKiller::end_round() {
  for (const NodeId node : std::exchange(down_, {})) revived.emit(node);
  plan_round();
}

}  // namespace orrery
