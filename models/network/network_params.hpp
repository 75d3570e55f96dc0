// models/network/network_params.hpp -- the compute network, as a scenario describes it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/facts/fact.hpp"
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
      "none: exchanges take no time; alpha_beta: each exchange takes the time that it needs "
      "without other traffic, computed from latency and bandwidth; flow: exchanges share the links "
      "of their routes fairly.",
      Heeded{Fact::Steps, level != NetworkLevel::None});
    v("fabric", fabric, "Switches and cables.", Heeded{Fact::Links},
      Heeded{Fact::CrossingExchanges});
    v("routing", routing, "How routes through the fabric are chosen.", Heeded{Fact::Links},
      Heeded{Fact::CrossingExchanges});
    v("links", links, "How links recover from errors.", Heeded{Fact::Links},
      Heeded{Fact::CrossingExchanges});
    v("sharp", sharp,
      "Switches between nodes reduce data in flight (SHARP), so an NVLS all-reduce sends the "
      "buffer only once.",
      Source{"NCCL without its SHARP plugin"}, Heeded{Fact::NetworkTime},
      Heeded{Fact::AllReduces, sharp}, Heeded{Fact::NvlinkSwitches, sharp});
    v("exchanges", exchanges,
      "Measured durations of exchanges without other traffic. An exchange whose collective and "
      "span are not in the list takes a computed time, in general that of NCCL's tuner.",
      Heeded{Fact::NetworkTime}, Heeded{Fact::Exchanges});
  }
  template <class C>
  void check(C& c) const {
    for (size_t i = 0; i < exchanges.size(); ++i) {
      const auto is_alike = [&](const ExchangeTimeParams& one) {
        return one.collective == exchanges[i].collective && one.span == exchanges[i].span;
      };
      const auto first = std::ranges::find_if(exchanges, is_alike) - exchanges.begin();
      if (first == static_cast<std::ptrdiff_t>(i)) continue;
      c.warning("exchanges[" + std::to_string(i) + "]", "has no effect: exchanges[" +
                                                            std::to_string(first) +
                                                            "] has the same collective and span");
    }
  }
  bool tells_time_of(Collective collective, ExchangeSpan span) const {
    return std::ranges::any_of(exchanges, [&](const ExchangeTimeParams& one) {
      return one.collective == collective && one.span == span;
    });
  }
};

}  // namespace orrery
