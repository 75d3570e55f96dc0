// models/network/collectives/exchange_times.hpp -- how an exchange runs, and how long it takes
// alone.
#pragma once

#include <span>
#include <vector>

#include "models/network/collectives/collective_links.hpp"
#include "models/network/collectives/collectives.hpp"
#include "models/network/collectives/exchange_params.hpp"
#include "sim/core/time.hpp"

namespace orrery {

struct LoneExchange {
  Duration time{};                  // max: there is no way
  Pattern pattern = Pattern::Ring;  // between nodes
};

// By the algorithm that the method fixes, or, where the group has no such, that NCCL's tuner finds
// fastest. What the scenario says of such exchanges goes before the tuner's time, not before the
// pattern.
class ExchangeTimes {
 public:
  ExchangeTimes() = default;  // by the tuner alone
  // Of several that speak of the same exchanges the first counts.
  explicit ExchangeTimes(std::span<const ExchangeTimeParams> params, bool has_net_sums = false);

  LoneExchange alone(Collective collective, const ExchangeMethod& method, CommGroup group,
                     Bytes bytes) const;

 private:
  struct Known {
    Collective collective = Collective::AllReduce;
    ExchangeSpan span = ExchangeSpan::Nodes;
    AlphaBeta line{};
    std::vector<BusPoint> sweep{};  // empty: by the line
  };
  std::vector<Known> known_;
  bool has_net_sums_ = false;  // SHARP
};

}  // namespace orrery
