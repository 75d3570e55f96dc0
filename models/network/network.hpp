// models/network/network.hpp -- the compute network of a run: fabric, state, routes and flows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "models/network/collectives/collective_links.hpp"
#include "models/network/fabric/fabric.hpp"
#include "models/network/fabric/link_state.hpp"
#include "models/network/network_params.hpp"
#include "models/network/routing/routing.hpp"
#include "models/network/sharing/flow_network.hpp"
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
  FlowNetwork& flows() { return flows_; }
  const FlowNetwork& flows() const { return flows_; }
  const Router& router() const { return router_; }

  // Finds routes as they are at this moment, for one activity. The routes it found count as load
  // for adaptive routing as long as it lives, so that an activity's own flows keep apart; what it
  // holds and they are to replace does not. It is what a RouteFinder refers to.
  class Routes {
   public:
    explicit Routes(Network& network, std::span<const LinkUse> replaced = {});
    Routes(const Routes&) = delete;
    Routes& operator=(const Routes&) = delete;
    ~Routes();
    std::span<const LinkId> operator()(NicId from, NicId to, uint32_t flow);
    bool has_detour() const { return has_detour_; }  // which Route::is_detour tells of
    std::vector<LinkUse> load() const;               // routes over each link, to hold

   private:
    Network& network_;
    std::span<const LinkUse> replaced_;
    bool has_detour_ = false;
    Route route_;
    std::vector<LinkId> used_;
  };
  // Somebody's traffic takes these links until it releases the same ones: adaptive routing sees so
  // many more routes over them, whatever moves at the time. No links: nothing.
  void hold(std::span<const LinkUse> uses);
  void release(std::span<const LinkUse> uses);
  // All routes are found by it from now on; cursed cables are as fast as it lets them be.
  void set_engine(RoutingEngine engine);

  // NICs of the node whose cable, or the leaf behind it, is dead.
  uint32_t ports_down(NodeId node) const;

  int32_t queue_pairs() const { return queue_pairs_; }
  // How long what cannot move at all is retried.
  Duration gives_up_after() const { return gives_up_after_; }
  // Bytes that left NICs, or went up from leaves or from spines, until now.
  double sent_by(SwitchTier to) const { return flows_.carried_by(1 + static_cast<uint32_t>(to)); }

  // Cables or switches went up or down, or routing chooses anew: whose routes may be others should
  // ask for them again. Emitted once per instant, before rates are settled.
  struct RouteNews {
    bool is_for_all = false;      // the engine is another, or chooses anew
    bool ends_detours = false;    // something is up again
    std::vector<bool> went_down;  // by cable; empty: none
    // Whether these links may not be what the engine would choose: one of them is down, or one that
    // was is up again. An adaptive engine does not look at loads anew for that.
    bool concerns(std::span<const LinkUse> uses, bool has_detour) const;
  };
  Signal<const RouteNews&> routes_changed;

 private:
  void add_load(std::span<const LinkUse> uses, double sign);
  void link_changed(LinkId link);
  void tell_routes_changed();
  void choose_later();

  Sim sim_;
  Fabric fabric_;
  LinkState state_;
  Router router_;
  FlowNetwork flows_;
  int32_t queue_pairs_;
  Duration gives_up_after_;
  std::optional<Duration> choose_every_;
  EventId choose_event_;
  std::vector<double> loads_;  // by link: routes that are held, or being found
  uint32_t holders_ = 0;
  uint64_t routes_version_ = 0;
  RouteNews news_;
  bool is_telling_ = false;  // an event is about to emit them
};

}  // namespace orrery
