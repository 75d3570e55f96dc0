// models/network/collectives/collectives.hpp -- exchanges among GPUs: their groups, and how long
// they take.
//
// `bytes` is the buffer as NCCL's tests count it: what one rank holds before an all-reduce, a
// broadcast, a reduce-scatter or an all-to-all, and after an all-gather. A rank's own part of an
// all-to-all stays where it is.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "models/hardware/machine.hpp"
#include "models/hardware/resources.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class Collective : uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Broadcast,
  PushPull,
  PointToPoint
};
constexpr std::array<std::string_view, 7> enum_names(Collective) {
  return {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
          "broadcast",  "push_pull",  "point_to_point"};
}

// Bus bandwidth is what a link would carry if ranks moved only what they must; with it collectives
// of unlike kind and size compare: bus bandwidth = bytes / time * bus_factor.
double bus_factor(Collective collective, int32_t ranks);
Bandwidth bus_bandwidth(Collective collective, int32_t ranks, Bytes bytes, Duration time);

// The ranks of an exchange, equally many on each node, and the rates between them as NCCL counts
// them. What it takes to say how long an exchange takes without looking at any other traffic.
struct CommGroup {
  int32_t ranks = 1;
  int32_t nodes = 1;
  GpuGeneration generation = GpuGeneration::Volta;
  CpuVendor cpu = CpuVendor::Intel;
  bool is_nvlinked = false;
  bool has_ll128 = false;
  bool has_nvls = false;      // switches in the node that add up (NVLink SHARP)
  bool has_net_sums = false;  // switches of the fabric that add up (SHARP)
  int32_t channels = 1;       // rings side by side
  Bandwidth ring{};           // of all rings of a node's ranks; 0: one rank a node
  Bandwidth nics{};           // of all NICs of a node's ranks; 0: one node
  Bandwidth node_nics{};      // of all NICs of a node's GPUs, likewise
  int32_t node_gpus = 1;      // whether ranks or not

  int32_t ranks_per_node() const { return ranks / nodes; }
};
// The same GPUs on each of the nodes, each with its nearest NIC. Must be a GPU or more.
CommGroup comm_group(const Machine& machine, GpuMask gpus, int32_t nodes);
// What a ring over all ranks is held to: the slower of the rings in the nodes and of the NICs.
Bandwidth ring_bus_bandwidth(const CommGroup& group);

// Reduce-scatter in the nodes, the rest along each rail, all-gather in the nodes (of an all-reduce;
// others take the parts they need). Pipelined: the two kinds of links work at the same time.
enum class Stages : uint8_t { Serial, Pipelined };
constexpr std::array<std::string_view, 2> enum_names(Stages) { return {"serial", "pipelined"}; }
Duration hierarchical_time(Collective collective, const CommGroup& group, Bytes bytes,
                           Stages stages);

// Everyone to everyone, or one to one, without forwarding: all sends are under way at once.
Duration direct_time(Collective collective, const CommGroup& group, Bytes bytes);

// Workers push `bytes` to parameter servers that share them, and pull the sum back.
struct ParameterServers {
  int32_t workers = 1;
  int32_t servers = 1;
  Bandwidth rate{};            // of each machine's NIC, each way
  bool is_colocated = false;   // server and worker share a machine, and its part stays there
  bool is_overlapped = false;  // pulls of one part go on while others are pushed
};
// What the busiest machine sends, or takes in, of the buffer while all push; or, where pulls and
// pushes overlap, in all.
double server_load(const ParameterServers& servers);
Duration push_pull_time(const ParameterServers& servers, Bytes bytes);

// Two parameters in place of all the above: t = latency + bytes * bus_factor / bandwidth.
struct AlphaBeta {
  Duration latency{};
  Bandwidth bandwidth{};  // bus bandwidth
};
Duration alpha_beta_time(const AlphaBeta& network, Collective collective, int32_t ranks,
                         Bytes bytes);

// A sweep over sizes as it was measured, smallest first: bus bandwidth in between is interpolated
// along the logarithm of the size. Smaller buffers take as long as the first, larger ones have the
// bandwidth of the last. Must not be empty.
struct BusPoint {
  Bytes bytes{};
  Bandwidth bandwidth{};  // bus bandwidth
};
Duration measured_time(std::span<const BusPoint> points, Collective collective, int32_t ranks,
                       Bytes bytes);

}  // namespace orrery
