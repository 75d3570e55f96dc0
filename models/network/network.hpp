// models/network/network.hpp -- the compute network of a run: fabric, state, routes and flows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/network/collective_links.hpp"
#include "models/network/fabric.hpp"
#include "models/network/fabric_params.hpp"
#include "models/network/flow_network.hpp"
#include "models/network/link_state.hpp"
#include "models/network/routing.hpp"
#include "sim/core/id.hpp"
#include "sim/engine/signal.hpp"
#include "sim/runtime/sim.hpp"

namespace orrery {

// With level: flow. Links of the fabric and of its flows have the same ids.
class Network {
 public:
  Network(Sim sim, const NetworkParams& params, Fabric fabric);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  const Fabric& fabric() const { return fabric_; }
  LinkState& state() { return state_; }
  const LinkState& state() const { return state_; }
  const FlowNetwork& flows() const { return flows_; }
  const Router& router() const { return router_; }

  // Finds routes as they are at this moment, for one activity. The routes it found count as load
  // for adaptive routing as long as it lives, so that an activity's own flows keep apart; those of
  // an open flow that they are to replace do not. It is what a RouteFinder refers to.
  class Routes {
   public:
    explicit Routes(Network& network, FlowId replaced = {});
    Routes(const Routes&) = delete;
    Routes& operator=(const Routes&) = delete;
    ~Routes();
    std::span<const LinkId> operator()(NicId from, NicId to, uint32_t flow);

   private:
    Network& network_;
    FlowId replaced_;
    Route route_;
    std::vector<LinkId> used_;
  };
  // A flow without end, which counts as load.
  FlowId open(std::span<const LinkUse> uses, double rate_max);
  // A transfer; `done` is called once it is over.
  FlowId start(const FlowNetwork::Transfer& transfer, Callback done);
  void close(FlowId flow);  // of either kind
  void set_uses(FlowId flow, std::span<const LinkUse> uses, double rate_max);
  void set_duty(FlowId flow, double part) { flows_.set_duty(flow, part); }
  // All routes are found by it from now on; cursed cables are as fast as it lets them be.
  void set_engine(RoutingEngine engine);

  // How long what cannot move at all is retried.
  Duration gives_up_after() const { return gives_up_after_; }
  // Bytes that left NICs, or went up from leaves or from spines, until now.
  double sent_by(SwitchTier to) const { return flows_.carried_by(1 + static_cast<uint32_t>(to)); }

  Signal<FlowId>& rate_changed() { return flows_.rate_changed; }
  // A cable or switch went up or down, or routing chooses anew: what has routes should ask for them
  // again. Emitted once per instant, before rates are settled.
  Signal<> routes_changed;

 private:
  void add_load(std::span<const MaxMin::Use> uses, double sign);
  void link_changed(LinkId link);
  void tell_routes_changed();
  void choose_later();

  Sim sim_;
  Fabric fabric_;
  LinkState state_;
  Router router_;
  FlowNetwork flows_;
  Duration gives_up_after_;
  std::optional<Duration> choose_every_;
  EventId choose_event_;
  std::vector<double> loads_;  // by link, of open flows
  uint64_t routes_version_ = 0;
  bool is_telling_ = false;  // an event is about to emit routes_changed
};

}  // namespace orrery
