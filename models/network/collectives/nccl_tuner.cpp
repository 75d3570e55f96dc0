#include "models/network/collectives/nccl_tuner.hpp"

#include <algorithm>
#include <bit>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

using PerProtocol = std::array<double, 3>;
using PerNodes = std::array<double, 3>;  // for one, two, and more nodes

// Latencies in microseconds, arrays by protocol.
constexpr PerProtocol kTreeBase{6.8, 14.0, 8.4}, kRingBase{6.6, 14.0, 8.4};
constexpr PerProtocol kTreeNvLink{0.6, 1.25, 4.0}, kRingNvLink{0.6, 1.9, 3.4};
constexpr PerProtocol kTreePcie{1.0, 1.9, 4.0}, kRingPcie{1.0, 2.5, 5.7};
constexpr PerProtocol kTreeNet{5.0, 8.5, 14.0}, kRingNet{2.7, 4.0, 14.0};
constexpr double kNvls = 25.0, kNvlsNet = 18.0, kNvlsTreeNet = 20.9;

// Upper bounds in GB/s. Arrays of four are by GPU generation, PerNodes are by number of nodes.
// kTreeMax, kTree128Max and kRing128Max are for one channel. kNvlsEfficiency has ratios instead.
constexpr std::array<PerNodes, 4> kTreeMax{
    {{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
constexpr std::array<PerNodes, 4> kTree128Max{
    {{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
constexpr std::array<double, 4> kRing128Max{20.0, 20.0, 36.7, 40.0};
constexpr std::array<double, 4> kLowLatencyMax{39.0, 87.7, 141.0, 282.0};  // for one node
constexpr PerNodes kLowLatencyMaxIntel{0, 39.0, 20.4}, kLowLatencyMaxAmd{0, 22.5, 19.0};
constexpr std::array<double, 4> kNvlsEfficiency{0, 0, 0.85, 0.74};

// NCCL's corrections to the modelled bandwidth of trees, in tenths, by protocol, for buffers of
// 64 B, 128 B, 256 B, ... Trees are slower than modelled at middle sizes.
constexpr std::array<std::array<int8_t, 23>, 3> kTreeTenths{
    {{10, 10, 10, 10, 9, 8, 7, 7, 7, 7, 6, 5, 4, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10},
     {10, 10, 10, 10, 10, 9, 8, 8, 8, 7, 6, 6, 6, 6, 6, 6, 8, 9, 9, 9, 9, 10, 10},
     {9, 9, 9, 9, 9, 9, 9, 8, 7, 6, 6, 5, 5, 5, 5, 6, 7, 8, 7, 7, 8, 9, 9}}};

size_t at(Protocol protocol) { return static_cast<size_t>(protocol); }
size_t generation(const CommGroup& group) { return static_cast<size_t>(group.generation); }
size_t size_class(const CommGroup& group) {
  return static_cast<size_t>(std::min(group.nodes, 3) - 1);
}
double gigabytes_per_s(Bandwidth rate) { return static_cast<double>(rate.bits_per_s) / 8e9; }
int32_t log2_floor(int64_t value) {
  return static_cast<int32_t>(std::bit_width(static_cast<uint64_t>(value))) - 1;
}

double low_latency_max(const CommGroup& group) {
  if (group.nodes == 1) return kLowLatencyMax[generation(group)];
  const PerNodes& row = group.cpu == CpuVendor::Amd ? kLowLatencyMaxAmd : kLowLatencyMaxIntel;
  return row[size_class(group)];
}

// Microseconds to reach another node. With one rank on each node, no step inside a node hides this
// latency, so rings pay as much as trees.
double net_step(const PerProtocol& net, Protocol protocol, const CommGroup& group) {
  return group.ranks_per_node() == 1 ? kTreeNet[at(protocol)] : net[at(protocol)];
}

struct Line {  // latency in microseconds, rate of the buffer in GB/s
  double latency = 0, rate = 0;
};

Line ring(Protocol protocol, Collective collective, const CommGroup& group) {
  const double n = group.ranks, between = group.nodes - 1;
  double bus = gigabytes_per_s(ring_bus_bandwidth(group));
  if (protocol == Protocol::LowLatency) bus = std::min(low_latency_max(group), bus * 0.5);
  if (protocol == Protocol::LowLatency128) {
    bus = std::min(bus * 0.92, group.channels * kRing128Max[generation(group)]);
  }
  const PerProtocol& hop = group.is_nvlinked ? kRingNvLink : kRingPcie;
  Line line{.latency = kRingBase[at(protocol)], .rate = bus / bus_factor(collective, group.ranks)};
  if (collective == Collective::Broadcast) {
    const bool is_simple = protocol == Protocol::Simple;
    const PerProtocol& tree_hop = group.is_nvlinked ? kTreeNvLink : kTreePcie;
    const PerProtocol& inside = is_simple ? tree_hop : hop;
    const PerProtocol& step = group.nodes == 1 ? inside : is_simple ? kTreeNet : kRingNet;
    line.latency += n * step[at(protocol)];
    return line;
  }
  const double rounds = collective == Collective::AllReduce ? 2 : 1;
  // The overhead of a network operation, in microseconds. With several nodes, no step inside a node
  // takes less than this overhead.
  double post = 0;
  if (group.nodes > 1) {
    post = group.cpu == CpuVendor::Amd ? 2.0 : 1.0;
    if (protocol == Protocol::Simple) post *= 3;
  }
  line.latency += rounds * (n - 1 - between) * std::max(hop[at(protocol)], post);
  line.latency += rounds * between * net_step(kRingNet, protocol, group);
  return line;
}

Line tree(Protocol protocol, const CommGroup& group) {
  const size_t g = generation(group), nodes = size_class(group);
  double bus = std::min(gigabytes_per_s(ring_bus_bandwidth(group)) * 0.92,
                        group.channels * kTreeMax[g][nodes]);
  if (protocol == Protocol::LowLatency) bus = std::min(bus / 3.8, low_latency_max(group));
  if (protocol == Protocol::LowLatency128) {
    bus = std::min(bus * (group.nodes == 1 ? 7.0 / 9 : 120.0 / 128),
                   group.channels * kTree128Max[g][nodes]);
  }
  const double hop = (group.is_nvlinked ? kTreeNvLink : kTreePcie)[at(protocol)];
  const double inside = (group.ranks_per_node() - 1) * hop;
  const double outside = log2_floor(group.nodes) * net_step(kTreeNet, protocol, group);
  return {.latency = kTreeBase[at(protocol)] + 2 * (inside + outside), .rate = bus * 0.5};
}

// With NVLS in a node of g ranks, the links of each rank carry 1 + 1/g times the buffer, at
// kNvlsEfficiency of their rate. The bus bandwidth does not depend on the number of nodes:
// published bandwidths are the same for one node and for many nodes with SHARP in the fabric.
double nvls_rate(const CommGroup& group) {
  const int32_t in_node = group.ranks_per_node();
  const double of_node =
      kNvlsEfficiency[generation(group)] * gigabytes_per_s(group.ring) / (1 + 1.0 / in_node);
  return of_node * bus_factor(Collective::AllReduce, in_node) /
         bus_factor(Collective::AllReduce, group.ranks);
}

Line nvls(const CommGroup& group) {
  if (group.nodes == 1) return {.latency = kNvls, .rate = nvls_rate(group)};
  return {.latency = kNvls + kNvlsNet,
          .rate = std::min(nvls_rate(group), gigabytes_per_s(group.nics))};
}

// Two trees carry half of the buffer each, and the busiest node sends twice the buffer. In one tree
// it sends a half to its parent and a half to each of two children; in the other tree it sends a
// half. With three nodes no node has two children, so the busiest node sends 1.5 times the buffer.
// With two nodes each node sends the buffer once, a half in each tree.
Line nvls_tree(const CommGroup& group) {
  const double sent = group.nodes == 2 ? 1 : group.nodes == 3 ? 1.5 : 2;
  return {.latency = kNvls + 2 * log2_floor(group.nodes) * kNvlsTreeNet,
          .rate = std::min(nvls_rate(group), gigabytes_per_s(group.nics) / sent)};
}

bool is_offered(Candidate candidate, Collective collective, const CommGroup& group) {
  const bool is_reduce = collective == Collective::AllReduce;
  if (candidate.protocol == Protocol::LowLatency128 && !group.has_ll128) return false;
  switch (candidate.algorithm) {
    case Algorithm::Ring:
      return is_reduce || collective == Collective::AllGather ||
             collective == Collective::ReduceScatter || collective == Collective::Broadcast;
    case Algorithm::Tree:
      return is_reduce;
    case Algorithm::Nvls:
      return is_reduce && group.has_nvls && candidate.protocol == Protocol::Simple &&
             (group.nodes == 1 || group.has_net_sums);
    case Algorithm::NvlsTree:
      return is_reduce && group.has_nvls && candidate.protocol == Protocol::Simple &&
             group.nodes > 1;
    case Algorithm::Direct:
      break;
  }
  return candidate.protocol == Protocol::Simple &&
         (collective == Collective::AllToAll || collective == Collective::PointToPoint);
}

Line line_of(Candidate candidate, Collective collective, const CommGroup& group, int64_t bytes) {
  switch (candidate.algorithm) {
    case Algorithm::Tree: {
      Line line = tree(candidate.protocol, group);
      const int32_t size = bytes < 64 ? -1 : log2_floor(bytes / 64);
      if (size >= 0 && size < 23) {
        line.rate *= kTreeTenths[at(candidate.protocol)][static_cast<size_t>(size)] / 10.0;
      }
      return line;
    }
    case Algorithm::Ring: {
      Line line = ring(candidate.protocol, collective, group);
      const bool is_large = bytes / (int64_t{group.channels} * group.ranks) >= 64;
      if (candidate.protocol == Protocol::Simple && collective == Collective::AllReduce &&
          group.nodes > 1 && is_large) {
        line.latency *= group.generation == GpuGeneration::Volta ? 1.9 : 1.4;
      }
      return line;
    }
    case Algorithm::Nvls:
      return nvls(group);
    case Algorithm::NvlsTree:
    case Algorithm::Direct:
      break;
  }
  return nvls_tree(group);
}

}  // namespace

std::optional<Duration> candidate_time(Candidate candidate, Collective collective,
                                       const CommGroup& group, Bytes bytes) {
  ORRERY_CHECK(collective != Collective::PushPull, "NCCL knows no parameter servers");
  if (!is_offered(candidate, collective, group)) return std::nullopt;
  if (group.ranks == 1) return Duration{};
  if (candidate.algorithm == Algorithm::Direct) return direct_time(collective, group, bytes);
  const Line line = line_of(candidate, collective, group, bytes.count);
  return nearest_ns(line.latency * 1e-6 + static_cast<double>(bytes.count) / (line.rate * 1e9));
}

std::optional<TunedTime> tuned_time(Algorithm algorithm, Collective collective,
                                    const CommGroup& group, Bytes bytes) {
  std::optional<TunedTime> best;
  for (size_t p = 0; p < enum_names(Protocol{}).size(); ++p) {
    const Candidate candidate{algorithm, static_cast<Protocol>(p)};
    const auto time = candidate_time(candidate, collective, group, bytes);
    if (time && (!best || *time < best->time)) best = {candidate, *time};
  }
  return best;
}

TunedTime tuned_time(Collective collective, const CommGroup& group, Bytes bytes) {
  std::optional<TunedTime> best;
  for (size_t a = 0; a < enum_names(Algorithm{}).size(); ++a) {
    const auto fastest = tuned_time(static_cast<Algorithm>(a), collective, group, bytes);
    if (fastest && (!best || fastest->time < best->time)) best = fastest;
  }
  ORRERY_CHECK(best.has_value(), "a ring or direct sends serve every collective");
  return *best;
}

}  // namespace orrery
