// models/network/collectives/collectives.hpp -- durations of exchanges among GPUs.
//
// `bytes` is the buffer as NCCL's tests count it: what one rank holds before an all-reduce, a
// broadcast, a reduce-scatter or an all-to-all, and after an all-gather. A rank's own part of an
// all-to-all never leaves the rank.
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

// bus_factor() is the number of bytes that each rank must send, divided by the buffer size. The bus
// bandwidth of nccl-tests, bytes * bus_factor / time, is comparable across kinds of collectives and
// numbers of ranks. Example: an all-reduce on 8 ranks has the factor 2 * 7 / 8 = 1.75. If 1 GB
// takes 10 ms, the bus bandwidth is 175 GB/s.
double bus_factor(Collective collective, int32_t ranks);
Bandwidth bus_bandwidth(Collective collective, int32_t ranks, Bytes bytes, Duration time);

// A group of ranks, equally many on each node, with the rates that NCCL's tuner assumes for rings
// and NICs. The fields are all the properties of machines and ranks that determine how long an
// exchange takes without other traffic.
struct CommGroup {
  int32_t ranks = 1;
  int32_t nodes = 1;
  GpuGeneration generation = GpuGeneration::Volta;
  CpuVendor cpu = CpuVendor::Intel;
  bool is_nvlinked = false;
  bool has_ll128 = false;
  bool has_nvls = false;      // NVSwitches sum the buffers of a node's ranks (NVLink SHARP)
  bool has_net_sums = false;  // switches of the fabric sum buffers (SHARP)
  int32_t channels = 1;       // parallel rings
  Bandwidth ring{};           // rate of all rings in a node; 0: each node has one rank
  Bandwidth nics{};           // rate of the NICs of a node's ranks; 0: one node, or no NICs
  Bandwidth node_nics{};      // rate of the NICs of all GPUs of a node; 0: one node, or no NICs
  int32_t node_gpus = 1;      // number of all GPUs of a node, not only of ranks

  int32_t ranks_per_node() const { return ranks / nodes; }
};
// The group that has the GPUs `gpus` (at least one) on each of `nodes` nodes. Each GPU uses its
// nearest NIC.
CommGroup comm_group(const Machine& machine, GpuMask gpus, int32_t nodes);
// The bus bandwidth of a ring over all ranks: the lower of `ring` and `nics`. On a single node
// it is `ring`; with one rank on each of several nodes it is `nics`.
Bandwidth ring_bus_bandwidth(const CommGroup& group);

// Hierarchical all-reduce: reduce-scatter in the nodes, all-reduce along each rail, all-gather in
// the nodes. Other collectives use only some of these steps. Serial: one step follows another.
// Pipelined: the steps overlap, so the NICs work while the links in the nodes work.
enum class Stages : uint8_t { Serial, Pipelined };
constexpr std::array<std::string_view, 2> enum_names(Stages) { return {"serial", "pipelined"}; }
Duration hierarchical_time(Collective collective, const CommGroup& group, Bytes bytes,
                           Stages stages);

// Duration of an all-to-all or a point-to-point exchange. All ranks send at the same time, and no
// rank forwards data.
Duration direct_time(Collective collective, const CommGroup& group, Bytes bytes);

// Each worker pushes a buffer of `bytes`, an equal part to each parameter server, and pulls the sum
// of all buffers.
struct ParameterServers {
  int32_t workers = 1;
  int32_t servers = 1;
  Bandwidth rate{};  // rate of each machine's NICs, in each direction
  // True: each server shares a machine with a worker, and these two exchange data without a NIC.
  bool is_colocated = false;
  bool is_overlapped = false;  // pulls of one part of the buffer overlap with pushes of other parts
};
// The largest number of bytes that one machine's NICs carry in one direction, as a multiple of the
// buffer. A colocated machine sends the pushes of its worker and the pulls of its server. With
// overlap, it sends both at the same time, so their bytes add up.
double server_load(const ParameterServers& servers);
Duration push_pull_time(const ParameterServers& servers, Bytes bytes);

// A model with two parameters: t = latency + bytes * bus_factor / bandwidth.
struct AlphaBeta {
  Duration latency{};
  Bandwidth bandwidth{};  // bus bandwidth
};
Duration alpha_beta_time(const AlphaBeta& network, Collective collective, int32_t ranks,
                         Bytes bytes);

// A point of a measured sweep over buffer sizes. A sweep has at least one point, smallest size
// first. Between two points, bus bandwidth is interpolated along the logarithm of the size. A
// buffer below the first point takes as long as the first point. A buffer above the last point has
// the bandwidth of the last point.
struct BusPoint {
  Bytes bytes{};
  Bandwidth bandwidth{};  // bus bandwidth
};
Duration measured_time(std::span<const BusPoint> points, Collective collective, int32_t ranks,
                       Bytes bytes);

}  // namespace orrery
