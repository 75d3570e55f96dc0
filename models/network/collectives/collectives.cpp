#include "models/network/collectives/collectives.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/hardware/machine_topology.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

// Latencies of NCCL's Simple protocol (tuning.cc) in seconds. The functions of this file use these
// latencies and do not call the tuner.
constexpr double kLaunch = 8.4e-6, kStepNvLink = 3.4e-6, kStepPcie = 5.7e-6, kStepNet = 14e-6;

double seconds_at(double bytes, Bandwidth rate) {
  return bytes == 0 ? 0 : bytes * 8 / static_cast<double>(rate.bits_per_s);
}

double step_in_node(const CommGroup& group) { return group.is_nvlinked ? kStepNvLink : kStepPcie; }

// The number of bytes that each of n ranks sends, divided by the buffer size.
double share(Collective collective, double n) {
  switch (collective) {
    case Collective::AllReduce:
      return 2 * (n - 1) / n;
    case Collective::AllGather:
    case Collective::ReduceScatter:
    case Collective::AllToAll:
      return (n - 1) / n;
    case Collective::Broadcast:
    case Collective::PushPull:
    case Collective::PointToPoint:
      break;
  }
  return n > 1 ? 1 : 0;
}

}  // namespace

double bus_factor(Collective collective, int32_t ranks) {
  ORRERY_CHECK(ranks >= 1, "an exchange has ranks");
  return share(collective, ranks);
}

Bandwidth bus_bandwidth(Collective collective, int32_t ranks, Bytes bytes, Duration time) {
  ORRERY_CHECK(time.ns > 0, "only what takes time has a rate");
  const double bits = static_cast<double>(bytes.count) * 8 * bus_factor(collective, ranks);
  return {static_cast<int64_t>(bits / time.seconds() + 0.5)};
}

CommGroup comm_group(const Machine& machine, GpuMask gpus, int32_t nodes) {
  const int32_t per_node = std::popcount(gpus);
  ORRERY_CHECK(per_node > 0 && nodes > 0, "a group has a GPU on each of its nodes");
  CommGroup group;
  group.ranks = per_node * nodes;
  group.nodes = nodes;
  group.generation = machine.gpu.generation;
  group.cpu = machine.cpu.vendor;
  if (per_node > 1) {
    const int32_t rings = nvlink_rings(machine, gpus);
    group.ring = ring_rate(machine, gpus);
    group.is_nvlinked = rings > 0;
    group.channels = std::max(rings, 1);
    group.has_nvls =
        machine.nvswitches > 0 && per_node > 2 && machine.gpu.generation >= GpuGeneration::Hopper;
  }
  group.has_ll128 = group.is_nvlinked || per_node == 1;
  group.node_gpus = machine.gpus();
  if (nodes == 1) return group;
  // A NIC that several GPUs share is counted once.
  uint32_t taken = 0, of_node = 0;
  for (int gpu = 0; gpu < machine.gpus(); ++gpu) {
    const int nic = nearest_nic(machine, gpu);
    if (nic < 0) continue;
    const Bandwidth rate = nic_rate(machine.nics[static_cast<size_t>(nic)]);
    if ((of_node >> nic & 1U) == 0) group.node_nics.bits_per_s += rate.bits_per_s;
    of_node |= 1U << nic;
    if ((gpus >> gpu & 1U) == 0) continue;
    if (gpu_nic_distance(machine, gpu, nic) > Distance::Pxb) group.has_ll128 = false;
    if ((taken >> nic & 1U) == 0) group.nics.bits_per_s += rate.bits_per_s;
    taken |= 1U << nic;
  }
  group.channels = std::max(group.channels, static_cast<int32_t>(std::popcount(taken)));
  return group;
}

Bandwidth ring_bus_bandwidth(const CommGroup& group) {
  if (group.nodes == 1) return group.ring;
  return group.ranks_per_node() == 1 ? group.nics : std::min(group.ring, group.nics);
}

Duration hierarchical_time(Collective collective, const CommGroup& group, Bytes bytes,
                           Stages stages) {
  const double size = static_cast<double>(bytes.count);
  const int32_t in_node = group.ranks_per_node();
  // Each of the g ranks of a node sends 1/g of the buffer between nodes, at 1/g of the rate of the
  // node's NICs. This takes as long as sending one buffer at the rate of all NICs. In an all-to-all
  // each rank sends a buffer of its own, so a node sends g times as much.
  const double rails = collective == Collective::AllToAll ? in_node : 1;
  const double inside = seconds_at(size * share(collective, in_node), group.ring);
  const double outside = seconds_at(size * rails * share(collective, group.nodes), group.nics);
  const double rounds = collective == Collective::AllReduce ? 2 : 1;
  const double latency =
      kLaunch + rounds * ((in_node - 1) * step_in_node(group) + (group.nodes - 1) * kStepNet);
  const double moving = stages == Stages::Serial ? inside + outside : std::max(inside, outside);
  return group.ranks == 1 ? Duration{} : nearest_ns(latency + moving);
}

Duration direct_time(Collective collective, const CommGroup& group, Bytes bytes) {
  ORRERY_CHECK(collective == Collective::AllToAll || collective == Collective::PointToPoint,
               "only these have nothing to forward");
  if (group.ranks == 1) return {};
  const double size = static_cast<double>(bytes.count);
  const double in_node = group.ranks_per_node(), n = group.ranks;
  const double latency = kLaunch + (group.nodes > 1 ? kStepNet : step_in_node(group));
  if (collective == Collective::PointToPoint) {
    const double rate =
        group.nodes > 1 ? seconds_at(size * in_node, group.nics) : seconds_at(size, group.ring);
    return nearest_ns(latency + rate);
  }
  const double inside = seconds_at(size * (in_node - 1) / n, group.ring);
  const double outside = seconds_at(size * in_node * (n - in_node) / n, group.nics);
  return nearest_ns(latency + std::max(inside, outside));
}

// With w workers and p colocated servers, the machine of a server receives 1/p of the buffer from
// each of the w - 1 other workers. Overlapped pulls add 1/p from each of the p - 1 other servers.
// Without overlap, pushes and pulls follow each other. In a push the machine receives (w - 1)/p of
// the buffer and sends (p - 1)/p. In a pull it sends (w - 1)/p and receives (p - 1)/p. The larger
// amount is (w - 1)/p, because there are at least as many workers as servers.
double server_load(const ParameterServers& servers) {
  const double w = servers.workers, p = servers.servers;
  ORRERY_CHECK(servers.workers > 0 && servers.servers > 0, "workers push to servers");
  if (!servers.is_colocated) return std::max(w / p, 1.0);
  return (w - 1 + (servers.is_overlapped ? p - 1 : 0)) / p;
}

Duration push_pull_time(const ParameterServers& servers, Bytes bytes) {
  const double ways = servers.is_overlapped ? 1 : 2;
  const double size = static_cast<double>(bytes.count) * server_load(servers);
  return nearest_ns(ways * (kLaunch + kStepNet + seconds_at(size, servers.rate)));
}

Duration alpha_beta_time(const AlphaBeta& network, Collective collective, int32_t ranks,
                         Bytes bytes) {
  if (ranks == 1) return {};
  const double size = static_cast<double>(bytes.count) * bus_factor(collective, ranks);
  return network.latency + nearest_ns(seconds_at(size, network.bandwidth));
}

Duration measured_time(std::span<const BusPoint> points, Collective collective, int32_t ranks,
                       Bytes bytes) {
  ORRERY_CHECK(!points.empty(), "a sweep has points");
  if (ranks == 1) return {};
  const Bytes size = std::max(bytes, points.front().bytes);
  const auto above =
      std::ranges::find_if(points, [&](const BusPoint& point) { return point.bytes >= size; });
  double bits_per_s = static_cast<double>(above == points.end() ? points.back().bandwidth.bits_per_s
                                                                : above->bandwidth.bits_per_s);
  if (above != points.end() && above->bytes > size) {
    const BusPoint& below = *(above - 1);
    const auto log_size = [](Bytes b) { return std::log2(static_cast<double>(b.count)); };
    const double part =
        (log_size(size) - log_size(below.bytes)) / (log_size(above->bytes) - log_size(below.bytes));
    bits_per_s = std::lerp(static_cast<double>(below.bandwidth.bits_per_s), bits_per_s, part);
  }
  const double bits = static_cast<double>(size.count) * 8 * bus_factor(collective, ranks);
  return nearest_ns(bits / bits_per_s);
}

}  // namespace orrery
