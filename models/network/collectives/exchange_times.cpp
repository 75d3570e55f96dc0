#include "models/network/collectives/exchange_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "models/network/collectives/nccl_tuner.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

bool is_direct(Collective collective) {
  return collective == Collective::AllToAll || collective == Collective::PointToPoint;
}

Pattern pattern_of(Algorithm algorithm, Collective collective) {
  switch (algorithm) {
    case Algorithm::Nvls:
      return Pattern::Sums;
    case Algorithm::Tree:
    case Algorithm::NvlsTree:
      return Pattern::Tree;
    case Algorithm::Ring:
      return Pattern::Ring;
    case Algorithm::Direct:
      break;
  }
  // A point-to-point send uses a ring that is open: the last node sends nothing.
  return collective == Collective::PointToPoint ? Pattern::Ring : Pattern::Direct;
}

TunedTime tuned(AlgorithmChoice choice, Collective collective, const CommGroup& group,
                Bytes bytes) {
  const auto fastest_of = [&](Algorithm algorithm) {
    return tuned_time(algorithm, collective, group, bytes);
  };
  std::optional<TunedTime> fixed;
  if (choice == AlgorithmChoice::Ring) fixed = fastest_of(Algorithm::Ring);
  if (choice == AlgorithmChoice::Tree) fixed = fastest_of(Algorithm::Tree);
  if (choice == AlgorithmChoice::Nvls) {
    fixed = fastest_of(Algorithm::Nvls);
    if (!fixed) fixed = fastest_of(Algorithm::NvlsTree);
  }
  return fixed ? *fixed : tuned_time(collective, group, bytes);
}

// The ranks of a node reduce before the node pushes, and broadcast after the node has pulled. The
// reduction and the broadcast together take as long as an all-reduce in the node.
Duration push_pull(const ServerParams& servers, const CommGroup& group, Bytes bytes) {
  CommGroup node = group;
  node.ranks = group.ranks_per_node();
  node.nodes = 1;
  const Duration inside = tuned_time(Collective::AllReduce, node, bytes).time;
  if (group.nodes == 1) return inside;
  const int32_t count = servers.count_on(group.nodes);
  const Duration outside =
      push_pull_time({.workers = group.nodes - (servers.is_colocated() ? 0 : count),
                      .servers = count,
                      .rate = group.nics,
                      .is_colocated = servers.is_colocated(),
                      .is_overlapped = servers.overlap},
                     bytes);
  return outside == Duration::max() ? outside : inside + outside;
}

// The scenario gives the duration of an exchange with all GPUs of the nodes. The group may have
// only some of these GPUs. Returns the size at which an exchange of all GPUs takes as long as the
// group's exchange of `bytes`. Example: if the group has a quarter of the NICs' bandwidth, the
// returned size is four times `bytes`. In all-to-all and point-to-point exchanges, ranks do not
// forward data of other ranks, so the NICs' bandwidth per rank counts in place of the bandwidth
// per node.
Bytes as_if_whole(Collective collective, const CommGroup& group, Bytes bytes) {
  double part =
      static_cast<double>(group.nics.bits_per_s) / static_cast<double>(group.node_nics.bits_per_s);
  if (is_direct(collective)) part *= static_cast<double>(group.node_gpus) / group.ranks_per_node();
  constexpr double kMost = 9e18;  // a little less than the largest count of Bytes
  return {std::llround(std::min(static_cast<double>(bytes.count) / part, kMost))};
}

}  // namespace

ExchangeTimes::ExchangeTimes(std::span<const ExchangeTimeParams> params, bool has_net_sums)
    : has_net_sums_{has_net_sums} {
  for (const ExchangeTimeParams& one : params) {
    Known known{.collective = one.collective, .span = one.span};
    if (one.sweep.empty()) known.line = {one.latency.value(), one.bandwidth.value()};
    for (const BusPointParams& point : one.sweep) {
      known.sweep.push_back({point.bytes, point.bandwidth});
    }
    known_.push_back(std::move(known));
  }
}

LoneExchange ExchangeTimes::alone(Collective collective, const ExchangeMethod& method,
                                  CommGroup group, Bytes bytes) const {
  group.has_net_sums = has_net_sums_;
  if (collective == Collective::PushPull) {
    ORRERY_CHECK(method.servers.has_value(), "workers push to servers");
    return {push_pull(*method.servers, group, bytes), Pattern::Direct};
  }
  LoneExchange lone;
  if (method.algorithm == AlgorithmChoice::Hierarchical) {
    lone = {hierarchical_time(collective, group, bytes, method.stages),
            collective == Collective::AllToAll ? Pattern::Direct : Pattern::Rails};
  } else {
    const TunedTime fastest = tuned(method.algorithm, collective, group, bytes);
    lone = {fastest.time, pattern_of(fastest.candidate.algorithm, collective)};
  }
  const ExchangeSpan span = group.nodes > 1 ? ExchangeSpan::Nodes : ExchangeSpan::Node;
  // Only NVLS has Pattern::Sums, which needs SHARP. Without SHARP, NVLS is used only by exchanges
  // within one node. These send nothing over the fabric, so any other pattern will do.
  if (lone.pattern == Pattern::Sums && !has_net_sums_) lone.pattern = Pattern::Tree;
  const auto known = std::ranges::find_if(
      known_, [&](const Known& one) { return one.collective == collective && one.span == span; });
  if (known == known_.end() || lone.time == Duration::max()) return lone;
  if (span == ExchangeSpan::Nodes) bytes = as_if_whole(collective, group, bytes);
  lone.time = known->sweep.empty() ? alpha_beta_time(known->line, collective, group.ranks, bytes)
                                   : measured_time(known->sweep, collective, group.ranks, bytes);
  return lone;
}

}  // namespace orrery
