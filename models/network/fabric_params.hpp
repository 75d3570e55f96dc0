// models/network/fabric_params.hpp -- the section `network` of a scenario: fabric and routing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/network/exchange_params.hpp"
#include "models/network/link_params.hpp"
#include "models/network/routing_params.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct FabricParams {
  static constexpr std::string_view kDoc = "Switches and cables: a fat tree over the leaf groups.";
  int32_t radix = 64;
  int32_t levels = 0;
  int32_t rails = 0;
  double oversubscription = 1.0;
  double spine_oversubscription = 1.0;
  std::optional<Bandwidth> bandwidth = {};
  std::string file = {};

  template <class V>
  void fields(V& v) {
    v("radix", radix, "Ports of a switch.", Range{2, 1024}, Unit{"ports"},
      Source{"DGX SuperPOD B200: 64-port NDR switches"});
    v("levels", levels,
      "Levels of switches, 2 or 3; 0: two if every spine has a port for every leaf, else three.",
      Range{0, 3});
    v("rails", rails,
      "Leaf switches of a group of nodes: NIC k of a node hangs on the leaf number k modulo rails. "
      "0: one for every NIC of a node (rail-optimised); 1: all NICs of a group share a leaf.",
      Range{0, 64}, Unit{"leaf switches per group"}, Source{"DGX SuperPOD: 8 rails"});
    v("oversubscription", oversubscription,
      "Down-ports of the fullest leaf for each up-port of a leaf; 1: full bisection. Leaves have "
      "as many cables to each spine, for which there may be some up-ports more.",
      Range{1.0, 64.0}, Unit{"ratio"}, Source{"DGX SuperPOD and MegaScale: 1"});
    v("spine_oversubscription", spine_oversubscription,
      "The same for spines below cores, which takes a tree of three levels.", Range{1.0, 64.0},
      Unit{"ratio"}, Source{"DGX SuperPOD and MegaScale: 1"});
    v("bandwidth", bandwidth,
      "Rate of a switch port; a NIC's cable runs at the slower of port and NIC. Absent: the rate "
      "of the fastest NIC.");
    v("file", file,
      "A topology file that tells which hosts share leaves, instead of nodes_per_leaf of the "
      "pools: node i of the cluster is its host number i.",
      Example{"../shared/traces/alibaba-lingjun-2023/topo.csv"});
  }
  template <class C>
  void check(C& c) const {
    if (levels == 1) c.error("levels", "must be 2, 3, or 0 for as many as it takes");
    if (radix % 2 != 0) c.error("radix", "must be even");
    if (bandwidth && bandwidth->bits_per_s <= 0) c.error("bandwidth", "must be more than 0");
    if (levels == 2 && spine_oversubscription != 1.0) {
      c.idle("spine_oversubscription", "has no effect with levels: 2");
    }
  }
};

enum class NetworkLevel : uint8_t { None, AlphaBeta, Flow };
constexpr std::array<std::string_view, 3> enum_names(NetworkLevel) {
  return {"none", "alpha_beta", "flow"};
}

struct NetworkParams {
  static constexpr std::string_view kDoc = "The compute network between nodes.";
  NetworkLevel level = NetworkLevel::None;
  FabricParams fabric = {};
  RoutingParams routing = {};
  LinkParams links = {};
  bool sharp = false;
  std::vector<ExchangeTimeParams> exchanges = {};

  template <class V>
  void fields(V& v) {
    v("level", level,
      "none: exchanges take no time; alpha_beta: each as if alone, by latency and bandwidth; flow: "
      "links are shared fairly along routes.");
    v("fabric", fabric, "Switches and cables.");
    v("routing", routing, "Ways through them.");
    v("links", links, "Recovery from errors.");
    v("sharp", sharp,
      "Switches between nodes add up what passes them, which lets NVLS all-reduce send the buffer "
      "once (SHARP).",
      Source{"NCCL without its SHARP plugin"});
    v("exchanges", exchanges,
      "How long exchanges take alone, where it is known; all others take what NCCL's tuner says.");
  }
  template <class C>
  void check(C& c) const {
    for (size_t i = 0; i < exchanges.size(); ++i) check_exchange(i, c);
    if (sharp && level == NetworkLevel::None) {
      c.idle("sharp", "has an effect only with level: alpha_beta or flow");
    }
    if (level == NetworkLevel::Flow) return;
    for (const std::string_view part : {"fabric", "routing", "links"}) {
      if (c.is_given(part)) c.idle(part, "has an effect only with level: flow");
    }
  }
  bool tells_time_of(Collective collective, ExchangeSpan span) const {
    return std::ranges::any_of(exchanges, [&](const ExchangeTimeParams& one) {
      return one.collective == collective && one.span == span;
    });
  }

 private:
  template <class C>
  void check_exchange(size_t i, C& c) const {
    const std::string at = "exchanges[" + std::to_string(i) + "]";
    if (level == NetworkLevel::None) {
      c.idle(at, "has an effect only with level: alpha_beta or flow");
    }
    for (size_t j = 0; j < i; ++j) {
      if (exchanges[j].collective != exchanges[i].collective) continue;
      if (exchanges[j].span != exchanges[i].span) continue;
      c.idle(at, "has no effect: exchanges[" + std::to_string(j) + "] speaks of the same");
      return;
    }
  }
};

}  // namespace orrery
