// models/network/network_params.hpp -- the compute network, as a scenario describes it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/network/collectives/exchange_params.hpp"
#include "models/network/fabric/fabric_params.hpp"
#include "models/network/fabric/link_params.hpp"
#include "models/network/routing/routing_params.hpp"
#include "sim/config/fields.hpp"
#include "sim/core/time.hpp"

namespace orrery {

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
