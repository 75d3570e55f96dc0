// models/network/routing/routing_params.hpp -- routing through the fabric, as a scenario describes
// it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "models/facts/fact.hpp"
#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class RoutingEngine : uint8_t { Dmodk, Updn, Minhop, Ecmp, AdaptiveLocal, AdaptiveGlobal };
constexpr std::array<std::string_view, 6> enum_names(RoutingEngine) {
  return {"dmodk", "updn", "minhop", "ecmp", "adaptive_local", "adaptive_global"};
}
// Whether flows between the same two NICs may take different routes.
constexpr bool tells_flows_apart(RoutingEngine engine) { return engine >= RoutingEngine::Ecmp; }
constexpr bool is_adaptive(RoutingEngine engine) {
  return engine == RoutingEngine::AdaptiveLocal || engine == RoutingEngine::AdaptiveGlobal;
}

struct RoutingParams {
  static constexpr std::string_view kDoc = "How the switches choose among equally short paths.";
  RoutingEngine engine = RoutingEngine::Dmodk;
  std::optional<Duration> choose_every = {};
  int32_t queue_pairs = 1;

  template <class V>
  void fields(V& v) {
    v("engine", engine,
      "dmodk (OpenSM's ftree): the destination decides the up-port, so shift patterns have no "
      "contention; updn: as dmodk, but if a port is dead, its destinations are spread over "
      "the other ports; minhop: a random path for each destination; ecmp: a hash decides for each "
      "flow; adaptive_local: the least loaded up-link of each switch; adaptive_global: the path "
      "whose most loaded link has the least load.",
      Source{"OpenSM current-routing.txt"}, Heeded{Fact::Spines});
    v("choose_every", choose_every,
      "Interval at which adaptive engines reroute all flows. Absent: a gang's flows are routed "
      "when the gang starts, and rerouted only when a dead or repaired cable affects the gang.",
      Range{10_ms, Duration::max()}, Heeded{Fact::AdaptiveRouting}, Heeded{Fact::Spines});
    v("queue_pairs", queue_pairs,
      "Number of flows (queue pairs) that share the traffic from one NIC to another. Engines that "
      "distinguish flows spread them over several paths.",
      Range{1, 128}, Unit{"flows"}, Source{"NCCL: NCCL_IB_QPS_PER_CONNECTION 1"},
      Heeded{Fact::FlowsApart}, Heeded{Fact::Spines});
  }
};

}  // namespace orrery
