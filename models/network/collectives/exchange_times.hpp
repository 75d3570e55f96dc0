// models/network/collectives/exchange_times.hpp -- the pattern of an exchange, and its duration
// without other traffic.
#pragma once

#include <span>
#include <vector>

#include "models/network/collectives/collective_links.hpp"
#include "models/network/collectives/collectives.hpp"
#include "models/network/collectives/exchange_params.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct LoneExchange {
  Duration time{};                  // Duration::max() for several nodes without NICs
  Pattern pattern = Pattern::Ring;  // pattern of the traffic between nodes
};

// Time and pattern of an exchange without other traffic. The method names the algorithm. If the
// method's algorithm is Auto, or if NCCL does not offer this algorithm to the group, the exchange
// uses the algorithm that NCCL's tuner finds fastest. A duration given in the scenario replaces the
// computed time, but not the pattern. The time of a push_pull is always computed.
class ExchangeTimes {
 public:
  ExchangeTimes() = default;  // without durations from the scenario
  // If several entries have the same collective and span, the first of them applies.
  explicit ExchangeTimes(std::span<const ExchangeTimeParams> params, bool has_net_sums = false);

  LoneExchange alone(Collective collective, const ExchangeMethod& method, CommGroup group,
                     Bytes bytes) const;

 private:
  struct Known {
    Collective collective = Collective::AllReduce;
    ExchangeSpan span = ExchangeSpan::Nodes;
    AlphaBeta line{};
    std::vector<BusPoint> sweep{};  // if empty, `line` applies
  };
  std::vector<Known> known_;
  bool has_net_sums_ = false;  // whether the fabric has SHARP
};

}  // namespace orrery
