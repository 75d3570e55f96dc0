// models/network/routing/routing.hpp -- the path from NIC to NIC, computed on demand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "models/network/fabric/fabric.hpp"
#include "models/network/fabric/link_state.hpp"
#include "models/network/routing/routing_params.hpp"

namespace orrery {

// The links from one NIC to another: up to a switch above both, then down. A route is empty if no
// path is left, or if both NICs are the same.
class Route {
 public:
  static constexpr size_t kLinksMax = 6;
  void push(LinkId link) { links_[size_++] = link; }
  const LinkId* begin() const { return links_.data(); }
  const LinkId* end() const { return links_.data() + size_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  LinkId operator[](size_t i) const { return links_[i]; }
  friend bool operator==(const Route& a, const Route& b) = default;
  // Whether the router skipped a dead port or link when it chose this route.
  bool is_detour() const { return is_detour_; }
  void set_detour() { is_detour_ = true; }

 private:
  std::array<LinkId, kLinksMax> links_{};
  uint8_t size_ = 0;
  bool is_detour_ = false;
};

// Computes each route on demand; no forwarding tables are stored. With Dmodk, Updn and Minhop, the
// preferred port depends only on the destination, as in forwarding tables. With Ecmp, it also
// depends on the source and the flow. If the preferred port is dead, the router tries the other
// ports in turn. Adaptive engines compare the loads of live links instead.
class Router {
 public:
  // `salt` seeds the hashes of minhop, ecmp and the adaptive engines. Fabric and state must outlive
  // the router.
  Router(const Fabric& fabric, const LinkState& state, const RoutingParams& params, uint64_t salt);

  // `flow` numbers the flows (queue pairs) between two NICs: ecmp hashes it, and adaptive engines
  // break ties by it.
  Route route(NicId from, NicId to, uint32_t flow = 0) const;

  RoutingEngine engine() const { return engine_; }
  void set_engine(RoutingEngine engine) { engine_ = engine; }
  // Changes how adaptive engines break ties between equal loads.
  void shuffle() { ++shuffles_; }
  // Loads that the adaptive engines compare, by LinkId; less is better. `loads` must stay valid.
  // Without loads all links look idle.
  void watch_loads(std::span<const double> loads) { loads_ = loads; }

 private:
  struct Ask;     // arguments of a search: both NICs, their leaves and blocks, and a key
  struct Bundle;  // parallel cables between two switches
  Bundle to_spine(SwitchId leaf, uint32_t j) const;
  Bundle to_core(uint32_t block, uint32_t j, uint32_t core) const;
  CableId first_alive(const Bundle& bundle, uint32_t wish, Route& route) const;
  CableId least_loaded(const Bundle& bundle, bool up, bool& saw_dead) const;
  double load(LinkId link) const { return loads_.empty() ? 0.0 : loads_[link.index]; }

  uint64_t key_of(NicId from, NicId to, uint32_t flow) const;
  Route by_key(const Ask& ask) const;
  bool over_cores(const Ask& ask, uint32_t j, Route& route) const;
  Route by_load(const Ask& ask) const;
  double best_core(const Ask& ask, uint32_t j, CableId& up, CableId& down, bool& saw_dead) const;

  const Fabric& fabric_;
  const LinkState& state_;
  RoutingEngine engine_;
  uint64_t salt_, shuffles_ = 0;
  std::span<const double> loads_;
};

}  // namespace orrery
