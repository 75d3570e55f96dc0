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
  Duration time{};                  // max: there is no route
  Pattern pattern = Pattern::Ring;  // between nodes
};

// Uses the algorithm of the method or, if the group does not offer it, the one that NCCL's tuner
// finds fastest. Durations given in the scenario replace the tuner's time, not the pattern.
class ExchangeTimes {
 public:
  ExchangeTimes() = default;  // by the tuner alone
  // If several entries apply to the same exchange, the first one counts.
  explicit ExchangeTimes(std::span<const ExchangeTimeParams> params, bool has_net_sums = false);

  LoneExchange alone(Collective collective, const ExchangeMethod& method, CommGroup group,
                     Bytes bytes) const;

 private:
  struct Known {
    Collective collective = Collective::AllReduce;
    ExchangeSpan span = ExchangeSpan::Nodes;
    AlphaBeta line{};
    std::vector<BusPoint> sweep{};  // empty: use the line
  };
  std::vector<Known> known_;
  bool has_net_sums_ = false;  // SHARP
};

}  // namespace orrery
