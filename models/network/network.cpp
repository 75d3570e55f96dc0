#include "models/network/network.hpp"

#include <algorithm>
#include <utility>

namespace orrery {

Network::Network(Sim sim, const NetworkParams& params, Fabric fabric)
    : sim_{sim},
      fabric_{std::move(fabric)},
      state_{fabric_, params.links, is_adaptive(params.routing.engine)},
      router_{fabric_, state_, params.routing, sim.rng.stream("network.routing").next()},
      flows_{sim.engine},
      gives_up_after_{params.links.gives_up_after()},
      choose_every_{params.routing.choose_every},
      loads_(fabric_.links(), 0.0) {
  for (uint32_t l = 0; l < fabric_.links(); ++l) {
    const auto upper = static_cast<uint32_t>(fabric_.tier(fabric_.ends(cable_of({l})).upper));
    flows_.add_link(state_.capacity({l}), leads_up({l}) ? 1 + upper : 0);
  }
  router_.watch_loads(loads_);
  state_.capacity_changed().connect([this](LinkId link) { link_changed(link); });
}

void Network::link_changed(LinkId link) {
  flows_.set_capacity(link, state_.capacity(link));
  if (state_.routes_version() != routes_version_) tell_routes_changed();
}

void Network::tell_routes_changed() {
  if (is_telling_) return;
  is_telling_ = true;
  const auto tell = [this] {
    is_telling_ = false;
    routes_version_ = state_.routes_version();
    routes_changed.emit();
  };
  sim_.engine.after(Duration{}, Label{"network.routes_changed"}, tell, Phase::Model);
}

void Network::set_engine(RoutingEngine engine) {
  if (engine == router_.engine()) return;
  router_.set_engine(engine);
  state_.set_adaptive(is_adaptive(engine));
  tell_routes_changed();
  choose_later();
}

// Only while there are flows, so that it keeps no run alive.
void Network::choose_later() {
  if (!choose_every_ || !is_adaptive(router_.engine())) return;
  if (flows_.active() == 0 || sim_.engine.is_pending(choose_event_)) return;
  const auto choose = [this] {
    if (!is_adaptive(router_.engine())) return;
    router_.shuffle();
    if (flows_.active() > 0) tell_routes_changed();
    choose_later();
  };
  choose_event_ =
      sim_.engine.after(*choose_every_, Label{"network.routes_chosen"}, choose, Phase::Fault);
}

std::span<const LinkId> Network::Routes::operator()(NicId from, NicId to, uint32_t flow) {
  if (!from.is_valid() || !to.is_valid()) return {};
  route_ = network_.router_.route(from, to, flow);
  for (const LinkId link : route_) {
    network_.loads_[link.index] += 1;
    used_.push_back(link);
  }
  return {route_.begin(), route_.size()};
}

Network::Routes::Routes(Network& network, FlowId replaced)
    : network_{network}, replaced_{replaced} {
  if (network_.flows_.is_active(replaced_)) network_.add_load(network_.flows_.uses(replaced_), -1);
}

Network::Routes::~Routes() {
  if (network_.flows_.is_active(replaced_)) network_.add_load(network_.flows_.uses(replaced_), 1);
  for (const LinkId link : used_) network_.loads_[link.index] -= 1;
}

void Network::add_load(std::span<const MaxMin::Use> uses, double sign) {
  for (const MaxMin::Use& use : uses) {
    double& load = loads_[use.link.index];
    load = std::max(load + sign * use.weight, 0.0);
  }
}

FlowId Network::open(std::span<const LinkUse> uses, double rate_max) {
  const FlowId flow = flows_.open(uses, rate_max);
  add_load(flows_.uses(flow), 1);
  choose_later();
  return flow;
}

FlowId Network::start(const FlowNetwork::Transfer& transfer, Callback done) {
  const FlowId flow = flows_.start(transfer, std::move(done));
  choose_later();
  return flow;
}

void Network::close(FlowId flow) {
  if (!flows_.is_active(flow)) return;
  if (flows_.is_standing(flow)) add_load(flows_.uses(flow), -1);
  flows_.end(flow);
}

void Network::set_uses(FlowId flow, std::span<const LinkUse> uses, double rate_max) {
  const bool is_load = flows_.is_standing(flow);
  if (is_load) add_load(flows_.uses(flow), -1);
  flows_.set_uses(flow, uses);
  flows_.set_rate_max(flow, rate_max);
  if (is_load) add_load(flows_.uses(flow), 1);
}

}  // namespace orrery
