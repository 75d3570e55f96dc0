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

  // Finds routes of one activity at this moment; a RouteFinder refers to it. The routes found so
  // far count as load for adaptive routing while this object lives, so the flows of one activity
  // avoid each other. Routes that the activity holds and is about to replace do not count.
  class Routes {
   public:
    explicit Routes(Network& network, std::span<const LinkUse> replaced = {});
    Routes(const Routes&) = delete;
    Routes& operator=(const Routes&) = delete;
    ~Routes();
    std::span<const LinkId> operator()(NicId from, NicId to, uint32_t flow);
    // Whether a route is a detour, see Route::is_detour.
    bool has_detour() const { return has_detour_; }
    std::vector<LinkUse> load() const;  // routes over each link, for hold()

   private:
    Network& network_;
    std::span<const LinkUse> replaced_;
    bool has_detour_ = false;
    Route route_;
    std::vector<LinkId> used_;
  };
  // Adds these links to the loads that adaptive routing sees, whether or not bytes move, until
  // release() of the same links. No links: no effect.
  void hold(std::span<const LinkUse> uses);
  void release(std::span<const LinkUse> uses);
  // The engine finds all routes from now on; cursed cables get the rate that they have with this
  // engine.
  void set_engine(RoutingEngine engine);

  // NICs of the node with a dead cable or a dead leaf.
  uint32_t ports_down(NodeId node) const;

  int32_t queue_pairs() const { return queue_pairs_; }
  // How long a flow without any route is retried.
  Duration gives_up_after() const { return gives_up_after_; }
  // Bytes that left NICs, or that went up from leaves or spines, until now.
  double sent_by(SwitchTier to) const { return flows_.carried_by(1 + static_cast<uint32_t>(to)); }

  // Cables or switches went up or down, or the engine rerouted: affected activities should ask for
  // routes again. Emitted once per instant, before rates are settled.
  struct RouteNews {
    bool is_for_all = false;      // the engine changed or rerouted everything
    bool ends_detours = false;    // something is up again
    std::vector<bool> went_down;  // by cable; empty: none
    // Whether these routes may differ from the engine's present choice: one of the links is down,
    // or a detour may end. An adaptive engine does not reroute for changed loads alone.
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
  std::vector<double> loads_;  // by link: routes that are held or being found
  uint32_t holders_ = 0;
  uint64_t routes_version_ = 0;
  RouteNews news_;
  bool is_telling_ = false;  // an event that emits the news is scheduled
};

}  // namespace orrery
