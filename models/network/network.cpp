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
      queue_pairs_{params.routing.queue_pairs},
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
  const bool was_up = flows_.capacity(link) > 0;
  flows_.set_capacity(link, state_.capacity(link));
  const bool is_up = flows_.capacity(link) > 0;
  if (was_up && !is_up) {
    if (news_.went_down.empty()) news_.went_down.resize(fabric_.cables());
    news_.went_down[cable_of(link).index] = true;
  }
  news_.ends_detours = news_.ends_detours || (!was_up && is_up);
  if (state_.routes_version() != routes_version_) tell_routes_changed();
}

bool Network::RouteNews::concerns(std::span<const LinkUse> uses, bool has_detour) const {
  if (is_for_all || (ends_detours && has_detour)) return true;
  return !went_down.empty() && std::ranges::any_of(uses, [this](const LinkUse& use) {
    return went_down[cable_of(use.link).index];
  });
}

void Network::tell_routes_changed() {
  if (is_telling_) return;
  is_telling_ = true;
  const auto tell = [this] {
    is_telling_ = false;
    routes_version_ = state_.routes_version();
    const RouteNews news = std::exchange(news_, {});
    routes_changed.emit(news);
  };
  sim_.engine.after(Duration{}, Label{"network.routes_changed"}, tell, Phase::Model);
}

uint32_t Network::ports_down(NodeId node) const {
  uint32_t down = 0;
  for (uint32_t i = 0; i < fabric_.nics_of(node); ++i) {
    if (!state_.is_up(fabric_.nic_cable(fabric_.nic(node, i)))) ++down;
  }
  return down;
}

void Network::set_engine(RoutingEngine engine) {
  if (engine == router_.engine()) return;
  router_.set_engine(engine);
  state_.set_adaptive(is_adaptive(engine));
  news_.is_for_all = true;
  tell_routes_changed();
  choose_later();
}

// Schedules the next rerouting only while activities hold routes. Otherwise the event would keep
// the run from ending.
void Network::choose_later() {
  if (!choose_every_ || !is_adaptive(router_.engine())) return;
  if (holders_ == 0 || sim_.engine.is_pending(choose_event_)) return;
  const auto choose = [this] {
    if (!is_adaptive(router_.engine())) return;
    router_.shuffle();
    if (holders_ > 0) {
      news_.is_for_all = true;
      tell_routes_changed();
    }
    choose_later();
  };
  choose_event_ =
      sim_.engine.after(*choose_every_, Label{"network.routes_chosen"}, choose, Phase::Fault);
}

std::span<const LinkId> Network::Routes::operator()(NicId from, NicId to, uint32_t flow) {
  if (!from.is_valid() || !to.is_valid()) return {};
  route_ = network_.router_.route(from, to, flow);
  has_detour_ = has_detour_ || route_.is_detour();
  for (const LinkId link : route_) {
    network_.loads_[link.index] += 1;
    used_.push_back(link);
  }
  return {route_.begin(), route_.size()};
}

Network::Routes::Routes(Network& network, std::span<const LinkUse> replaced)
    : network_{network}, replaced_{replaced} {
  network_.add_load(replaced_, -1);
}

Network::Routes::~Routes() {
  network_.add_load(replaced_, 1);
  for (const LinkId link : used_) network_.loads_[link.index] -= 1;
}

std::vector<LinkUse> Network::Routes::load() const {
  std::vector<LinkId> links = used_;
  std::ranges::sort(links);
  std::vector<LinkUse> load;
  for (const LinkId link : links) {
    if (load.empty() || load.back().link != link) load.push_back({link, 0});
    load.back().weight += 1;
  }
  return load;
}

void Network::add_load(std::span<const LinkUse> uses, double sign) {
  for (const LinkUse& use : uses) {
    loads_[use.link.index] += sign * use.weight;
  }
}

void Network::hold(std::span<const LinkUse> uses) {
  if (uses.empty()) return;
  ++holders_;
  add_load(uses, 1);
  choose_later();
}

void Network::release(std::span<const LinkUse> uses) {
  if (uses.empty()) return;
  --holders_;
  add_load(uses, -1);
}

}  // namespace orrery
