#include "models/network/network.hpp"

#include <algorithm>
#include <utility>

namespace orrery {

Network::Network(Sim sim, const NetworkParams& params, Fabric fabric)
    : sim_{sim},
      fabric_{std::move(fabric)},
      state_{fabric_, params.links, is_adaptive(params.routing.engine)},
      router_{fabric_, state_, params.routing, sim.rng.stream("network.routing").next()},
      flows_{sim.engine} {
  for (uint32_t l = 0; l < fabric_.links(); ++l) flows_.add_link(state_.capacity({l}));
  if (is_adaptive(params.routing.engine)) {
    loads_.resize(fabric_.links());
    router_.watch_loads(loads_);
  }
  state_.capacity_changed().connect([this](LinkId link) { link_changed(link); });
}

void Network::link_changed(LinkId link) {
  flows_.set_capacity(link, state_.capacity(link));
  if (state_.routes_version() == routes_version_ || is_telling_) return;
  is_telling_ = true;
  const auto tell = [this] {
    is_telling_ = false;
    routes_version_ = state_.routes_version();
    routes_changed.emit();
  };
  sim_.engine.after(Duration{}, Label{"network.routes_changed"}, tell, Phase::Model);
}

std::span<const LinkId> Network::Routes::operator()(NicId from, NicId to, uint32_t flow) {
  if (!from.is_valid() || !to.is_valid()) return {};
  route_ = network_.router_.route(from, to, flow);
  if (!network_.loads_.empty()) {
    for (const LinkId link : route_) {
      network_.loads_[link.index] += 1;
      used_.push_back(link);
    }
  }
  return {route_.begin(), route_.size()};
}

Network::Routes::~Routes() {
  for (const LinkId link : used_) network_.loads_[link.index] -= 1;
}

void Network::add_load(std::span<const MaxMin::Use> uses, double sign) {
  if (loads_.empty()) return;
  for (const MaxMin::Use& use : uses) {
    double& load = loads_[use.link.index];
    load = std::max(load + sign * use.weight, 0.0);
  }
}

FlowId Network::open(std::span<const LinkUse> uses, double rate_max) {
  const FlowId flow = flows_.open(uses, rate_max);
  add_load(flows_.uses(flow), 1);
  return flow;
}

FlowId Network::start(const FlowNetwork::Transfer& transfer, Callback done) {
  return flows_.start(transfer, std::move(done));
}

void Network::close(FlowId flow) {
  if (!flows_.is_active(flow)) return;
  if (flows_.is_standing(flow)) add_load(flows_.uses(flow), -1);
  flows_.end(flow);
}

void Network::set_uses(FlowId flow, std::span<const LinkUse> uses) {
  add_load(flows_.uses(flow), -1);
  flows_.set_uses(flow, uses);
  add_load(flows_.uses(flow), 1);
}

}  // namespace orrery
