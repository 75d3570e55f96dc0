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

// A run has a Network only with `network.level: flow`. A LinkId means the same link in fabric(),
// state() and flows().
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

  // Finds the routes of one FabricActivity at this moment; serves as a RouteFinder. For adaptive
  // routing, the routes found so far count as load while this object lives, so the flows of one
  // activity avoid each other. The routes that the activity holds and will replace (`replaced`) do
  // not count.
  class Routes {
   public:
    explicit Routes(Network& network, std::span<const LinkUse> replaced = {});
    Routes(const Routes&) = delete;
    Routes& operator=(const Routes&) = delete;
    ~Routes();
    std::span<const LinkId> operator()(NicId from, NicId to, uint32_t flow);
    // Whether any route found so far is a detour, see Route::is_detour.
    bool has_detour() const { return has_detour_; }
    std::vector<LinkUse> load() const;  // number of found routes over each link, for hold()

   private:
    Network& network_;
    std::span<const LinkUse> replaced_;
    bool has_detour_ = false;
    Route route_;
    std::vector<LinkId> used_;
  };
  // hold() adds these uses to the loads that adaptive routing sees, even while no bytes move.
  // release(), called with the same uses, removes them. An empty list has no effect.
  void hold(std::span<const LinkUse> uses);
  void release(std::span<const LinkUse> uses);
  // Sets the routing engine, which finds all routes from now on. Slowdowns set by
  // LinkState::curse() apply only while the engine is adaptive.
  void set_engine(RoutingEngine engine);

  // Number of the node's NICs whose cable or leaf is dead.
  uint32_t ports_down(NodeId node) const;

  int32_t queue_pairs() const { return queue_pairs_; }
  // How long NCCL retries an exchange that has no route.
  Duration gives_up_after() const { return gives_up_after_; }
  // Bytes that have gone up to switches of tier `to` so far: from NICs to leaves, from leaves to
  // spines, or from spines to cores.
  double sent_by(SwitchTier to) const { return flows_.carried_by(1 + static_cast<uint32_t>(to)); }

  // Reasons to find routes again: cables or switches went up or down, or the routing engine
  // rerouted. Changed loads alone are no reason, even if the engine is adaptive. routes_changed
  // emits the reasons of an instant together, before rates are computed.
  struct RouteNews {
    bool is_for_all = false;      // the routing engine changed or rerouted everything
    bool ends_detours = false;    // a cable is up again
    std::vector<bool> went_down;  // by cable; empty if no cable went down
    // Whether an activity that uses these links should find its routes again: one of the links went
    // down, a detour may end, or is_for_all is set.
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
  std::vector<double> loads_;  // by link: number of routes that are held or being found
  uint32_t holders_ = 0;
  uint64_t routes_version_ = 0;
  RouteNews news_;
  bool is_telling_ = false;  // an event that emits the news is scheduled
};

}  // namespace orrery
