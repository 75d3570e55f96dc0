#include "models/network/routing/routing.hpp"

#include <algorithm>
#include <limits>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

// The finaliser of SplitMix64: every bit of the input reaches every bit of the output.
constexpr uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

Route no_way() {
  Route none;
  none.set_detour();
  return none;
}

}  // namespace

struct Router::Ask {
  NicId from, to;
  SwitchId from_leaf, to_leaf;
  uint32_t from_block, to_block;
  uint64_t key;
};

struct Router::Bundle {
  uint32_t first, stride, count;
  CableId operator[](uint32_t i) const { return {first + i * stride}; }
};

Router::Router(const Fabric& fabric, const LinkState& state, const RoutingParams& params,
               uint64_t salt)
    : fabric_{fabric}, state_{state}, engine_{params.engine}, salt_{salt} {}

// Up-port p of a leaf leads to spine p mod spines_per_block. So the ports to one spine are
// spines_per_block apart.
Router::Bundle Router::to_spine(SwitchId leaf, uint32_t j) const {
  const FatTree& tree = fabric_.tree();
  return {.first = fabric_.leaf_cable(leaf, j).index,
          .stride = tree.spines_per_block,
          .count = tree.leaf_up / tree.spines_per_block};
}

Router::Bundle Router::to_core(uint32_t block, uint32_t j, uint32_t core) const {
  const FatTree& tree = fabric_.tree();
  return {.first = fabric_.spine_cable(block, j, core).index,
          .stride = tree.cores_per_group,
          .count = tree.spine_up / tree.cores_per_group};
}

CableId Router::first_alive(const Bundle& bundle, uint32_t wish, Route& route) const {
  for (uint32_t i = 0; i < bundle.count; ++i) {
    const CableId cable = bundle[(wish + i) % bundle.count];
    if (state_.is_up(cable)) return cable;
    route.set_detour();
  }
  return {};
}

CableId Router::least_loaded(const Bundle& bundle, bool up, bool& saw_dead) const {
  CableId best;
  double least = std::numeric_limits<double>::infinity();
  for (uint32_t i = 0; i < bundle.count; ++i) {
    const CableId cable = bundle[i];
    if (!state_.is_up(cable)) {
      saw_dead = true;
      continue;
    }
    const double now = load(up ? up_link(cable) : down_link(cable));
    if (now >= least) continue;
    least = now;
    best = cable;
  }
  return best;
}

// D-mod-K (Zahavi 2012) derives the ports from the destination's rank (Fabric::rank_of). Traffic
// goes up through port (rank mod leaf_up) of the source's leaf, then through port
// ((rank / spines_per_block) mod spine_up) of the spine. On the destination's side, it comes
// down through the spine port and the leaf port with the same numbers. Example with 4 NICs and 4
// up-ports for each leaf: ranks 4, 5, 6 and 7 are on one leaf; traffic to them uses the up-ports 0,
// 1, 2 and 3. So, without oversubscription and without dead cables, two destinations of one leaf
// never share a link down to that leaf. If each rank r sends to rank r + k, two flows never share a
// link up from a leaf. `updn` uses the rank, too. The other engines use a hash instead.
uint64_t Router::key_of(NicId from, NicId to, uint32_t flow) const {
  switch (engine_) {
    case RoutingEngine::Dmodk:
    case RoutingEngine::Updn:
      return fabric_.rank_of(to);
    case RoutingEngine::Minhop:
      return mixed(salt_ ^ mixed(to.index)) >> 1;
    case RoutingEngine::Ecmp:
    case RoutingEngine::AdaptiveLocal:
    case RoutingEngine::AdaptiveGlobal:
      break;
  }
  const uint64_t pair = (uint64_t{from.index} << 32) | to.index;
  const uint64_t shuffles = is_adaptive(engine_) ? shuffles_ << 32 : 0;
  return mixed(mixed(salt_ ^ mixed(pair)) + flow + shuffles) >> 1;
}

Route Router::route(NicId from, NicId to, uint32_t flow) const {
  ORRERY_CHECK(from.index < fabric_.nics() && to.index < fabric_.nics(), "NICs of the fabric");
  const CableId first = fabric_.nic_cable(from), last = fabric_.nic_cable(to);
  if (from == to) return {};
  if (!state_.is_up(first) || !state_.is_up(last)) return no_way();
  Ask ask{.from = from,
          .to = to,
          .from_leaf = fabric_.leaf_of(from),
          .to_leaf = fabric_.leaf_of(to),
          .from_block = 0,
          .to_block = 0,
          .key = 0};
  if (ask.from_leaf == ask.to_leaf) {
    Route route;
    route.push(up_link(first));
    route.push(down_link(last));
    return route;
  }
  ask.from_block = fabric_.block_of_leaf(ask.from_leaf);
  ask.to_block = fabric_.block_of_leaf(ask.to_leaf);
  ask.key = key_of(from, to, flow);
  return is_adaptive(engine_) ? by_load(ask) : by_key(ask);
}

namespace {

// The i-th port to try. The first is the preferred port `wish`. If `deals` is false, the other
// ports follow in order. If `deals` is true (updn), `deal` decides which port is the second. So the
// destinations of a dead port are spread over all other ports and do not double the load of one.
uint32_t nth_try(uint64_t wish, uint32_t i, uint32_t ports, bool deals, uint64_t deal) {
  if (!deals || i == 0) return static_cast<uint32_t>((wish + i) % ports);
  return static_cast<uint32_t>((wish + 1 + (deal + i - 1) % (ports - 1)) % ports);
}

}  // namespace

Route Router::by_key(const Ask& ask) const {
  const FatTree& tree = fabric_.tree();
  const bool deals = engine_ == RoutingEngine::Updn;
  const uint64_t deal = ask.key / tree.leaf_up;
  for (uint32_t i = 0; i < tree.leaf_up; ++i) {
    const uint32_t own = nth_try(ask.key % tree.leaf_up, i, tree.leaf_up, deals, deal);
    const uint32_t j = fabric_.spine_behind(own);
    const uint32_t wish = own / tree.spines_per_block;
    if (i == 1) ORRERY_MARK("network.rerouted");
    Route route;
    if (i > 0) route.set_detour();
    const CableId up = first_alive(to_spine(ask.from_leaf, j), wish, route);
    const CableId down = first_alive(to_spine(ask.to_leaf, j), wish, route);
    if (!up.is_valid() || !down.is_valid()) continue;
    route.push(up_link(fabric_.nic_cable(ask.from)));
    route.push(up_link(up));
    if (ask.from_block != ask.to_block && !over_cores(ask, j, route)) continue;
    route.push(down_link(down));
    route.push(down_link(fabric_.nic_cable(ask.to)));
    return route;
  }
  ORRERY_MARK("network.no_route");
  return no_way();
}

bool Router::over_cores(const Ask& ask, uint32_t j, Route& route) const {
  const FatTree& tree = fabric_.tree();
  const bool deals = engine_ == RoutingEngine::Updn;
  const bool is_by_rank = deals || engine_ == RoutingEngine::Dmodk;
  const uint64_t key = ask.key / (is_by_rank ? tree.spines_per_block : tree.leaf_up);
  for (uint32_t i = 0; i < tree.spine_up; ++i) {
    const uint32_t own = nth_try(key % tree.spine_up, i, tree.spine_up, deals, key / tree.spine_up);
    const uint32_t core = fabric_.core_behind(own);
    const uint32_t wish = own / tree.cores_per_group;
    if (i > 0) route.set_detour();
    const CableId up = first_alive(to_core(ask.from_block, j, core), wish, route);
    const CableId down = first_alive(to_core(ask.to_block, j, core), wish, route);
    if (!up.is_valid() || !down.is_valid()) continue;
    route.push(up_link(up));
    route.push(down_link(down));
    return true;
  }
  return false;
}

// The comparison starts at a spine that the key selects. The first of the least loaded spines wins,
// so the key breaks ties.
Route Router::by_load(const Ask& ask) const {
  const FatTree& tree = fabric_.tree();
  const bool sees_all = engine_ == RoutingEngine::AdaptiveGlobal;
  double least = std::numeric_limits<double>::infinity();
  Route best;
  bool saw_dead = false;
  for (uint32_t i = 0; i < tree.spines_per_block; ++i) {
    const auto j = static_cast<uint32_t>((ask.key + i) % tree.spines_per_block);
    const CableId up = least_loaded(to_spine(ask.from_leaf, j), true, saw_dead);
    const CableId down = least_loaded(to_spine(ask.to_leaf, j), false, saw_dead);
    if (!up.is_valid() || !down.is_valid()) continue;
    double cost = load(up_link(up));
    if (sees_all) cost = std::max(cost, load(down_link(down)));
    if (cost >= least) continue;
    CableId core_up, core_down;
    if (ask.from_block != ask.to_block) {
      const double on_top = best_core(ask, j, core_up, core_down, saw_dead);
      if (!core_up.is_valid()) continue;
      if (sees_all) cost = std::max(cost, on_top);
      if (cost >= least) continue;
    }
    least = cost;
    best = {};
    best.push(up_link(fabric_.nic_cable(ask.from)));
    best.push(up_link(up));
    if (core_up.is_valid()) {
      best.push(up_link(core_up));
      best.push(down_link(core_down));
    }
    best.push(down_link(down));
    best.push(down_link(fabric_.nic_cable(ask.to)));
  }
  if (best.empty()) ORRERY_MARK("network.no_route");
  if (saw_dead) best.set_detour();
  return best;
}

double Router::best_core(const Ask& ask, uint32_t j, CableId& up, CableId& down,
                         bool& saw_dead) const {
  const uint32_t cores = fabric_.tree().cores_per_group;
  const uint64_t begin = ask.key / fabric_.tree().spines_per_block;
  double least = std::numeric_limits<double>::infinity();
  for (uint32_t i = 0; i < cores; ++i) {
    const auto core = static_cast<uint32_t>((begin + i) % cores);
    const CableId up_here = least_loaded(to_core(ask.from_block, j, core), true, saw_dead);
    const CableId down_here = least_loaded(to_core(ask.to_block, j, core), false, saw_dead);
    if (!up_here.is_valid() || !down_here.is_valid()) continue;
    double cost = load(up_link(up_here));
    if (engine_ == RoutingEngine::AdaptiveGlobal) {
      cost = std::max(cost, load(down_link(down_here)));
    }
    if (cost >= least) continue;
    least = cost;
    up = up_here;
    down = down_here;
  }
  return least;
}

}  // namespace orrery
