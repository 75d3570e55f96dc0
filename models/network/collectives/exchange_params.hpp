// models/network/collectives/exchange_params.hpp -- exchanges in a scenario: their algorithm, and
// measured durations that replace NCCL's model.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/network/collectives/collectives.hpp"
#include "sim/config/options.hpp"
#include "sim/core/time.hpp"

namespace orrery {

// Auto: the algorithm that NCCL's tuner finds fastest. Nvls: the NVSwitches of a node sum the
// buffers. Over several nodes, Nvls means NCCL's NVLS if the switches of the fabric sum buffers
// too, else NCCL's NVLSTree.
enum class AlgorithmChoice : uint8_t { Auto, Ring, Tree, Nvls, Hierarchical };
constexpr std::array<std::string_view, 5> enum_names(AlgorithmChoice) {
  return {"auto", "ring", "tree", "nvls", "hierarchical"};
}
// Whether the algorithm implements this collective.
constexpr bool serves(AlgorithmChoice algorithm, Collective collective) {
  const bool is_direct =
      collective == Collective::PushPull || collective == Collective::PointToPoint;
  switch (algorithm) {
    case AlgorithmChoice::Auto:
      return true;
    case AlgorithmChoice::Tree:
    case AlgorithmChoice::Nvls:
      return collective == Collective::AllReduce;
    case AlgorithmChoice::Ring:
      return !is_direct && collective != Collective::AllToAll;
    case AlgorithmChoice::Hierarchical:
      break;
  }
  return !is_direct;
}

enum class ServerPlacement : uint8_t { Colocated, Dedicated };
constexpr std::array<std::string_view, 2> enum_names(ServerPlacement) {
  return {"colocated", "dedicated"};
}

struct ServerParams {
  static constexpr std::string_view kDoc = "Parameter servers, which share the buffer evenly.";

  int32_t count = 1;
  ServerPlacement placement = ServerPlacement::Colocated;
  bool overlap = false;

  template <class V>
  void fields(V& v) {
    v("count", count,
      "Number of servers of a group (see among), each on its own node. If the group has too few "
      "nodes, each node has one server, or each node but one if dedicated. A group on one node has "
      "no servers: its ranks reduce among themselves. A group of several ranks needs at least "
      "`count` ranks (dedicated: one more); checked in listed jobs and a generator's largest job.",
      Range{1, 1'000'000}, Unit{"servers"}, Required{}, Example{"4"});
    v("placement", placement,
      "colocated: the servers are on the group's first nodes, and all ranks are workers. "
      "dedicated: the servers are on the group's last nodes, whose ranks push nothing.",
      Source{"TensorFlow benchmarks, which place servers beside the workers"});
    v("overlap", overlap, "true: pulls of one part of a buffer overlap pushes of its other parts.",
      Source{"assumed: in synchronous steps, all workers push before any worker pulls"});
  }
  bool is_colocated() const { return placement == ServerPlacement::Colocated; }
  // Number of servers if the ranks are on `nodes` nodes, which must be at least 2.
  int32_t count_on(int32_t nodes) const {
    return std::min(count, is_colocated() ? nodes : nodes - 1);
  }
};

// The algorithm of an exchange and its options.
struct ExchangeMethod {
  AlgorithmChoice algorithm = AlgorithmChoice::Auto;
  Stages stages = Stages::Serial;            // used by Hierarchical only
  std::optional<ServerParams> servers = {};  // used by PushPull only
};

enum class ExchangeSpan : uint8_t { Node, Nodes };
constexpr std::array<std::string_view, 2> enum_names(ExchangeSpan) { return {"node", "nodes"}; }

struct BusPointParams {
  static constexpr std::string_view kDoc = "A row of a sweep, as printed by nccl-tests.";

  Bytes bytes = {};
  Bandwidth bandwidth = {};

  template <class V>
  void fields(V& v) {
    v("bytes", bytes, "Size of the buffer (`size`).", Required{}, Example{"16MiB"});
    v("bandwidth", bandwidth, "Bus bandwidth (`busbw`).", Required{}, Example{"219.9GBps"});
  }
  template <class C>
  void check(C& c) const {
    if (bytes == Bytes{}) c.error("bytes", "must be more than 0");
    if (bandwidth == Bandwidth{}) c.error("bandwidth", "must be more than 0");
  }
};

struct ExchangeTimeParams {
  static constexpr std::string_view kDoc =
      "Duration of one kind of exchange with all GPUs of its nodes and no other traffic. It "
      "replaces the duration of NCCL's model. It is given as latency and bandwidth, or as a sweep.";

  Collective collective = Collective::AllReduce;
  ExchangeSpan span = ExchangeSpan::Nodes;
  std::optional<Duration> latency = {};
  std::optional<Bandwidth> bandwidth = {};
  std::vector<BusPointParams> sweep = {};

  template <class V>
  void fields(V& v) {
    v("collective", collective, "The collective that was measured.");
    v("span", span,
      "node: the ranks of the measurement were on one node; nodes: they were on several nodes.");
    v("latency", latency,
      "An exchange takes latency + bytes x bus factor / bandwidth. Requires `bandwidth`.");
    v("bandwidth", bandwidth, "Bus bandwidth, as nccl-tests report it.");
    v("sweep", sweep,
      "Measured points (size of the buffer, bus bandwidth), in order of size. Between points, the "
      "bus bandwidth is interpolated along the logarithm of the size. Below the first point, the "
      "duration is constant; above the last point, the bus bandwidth is constant.");
  }
  template <class C>
  void check(C& c) const {
    if (collective == Collective::PushPull) {
      c.error("collective",
              "the duration of push_pull cannot be given: it follows from the rate of the NICs");
    }
    if (sweep.empty()) {
      if (!latency || !bandwidth) c.error("", "needs latency and bandwidth, or a sweep");
    } else if (latency || bandwidth) {
      c.error("sweep", "replaces latency and bandwidth: give either a sweep or these two");
    }
    if (bandwidth && *bandwidth == Bandwidth{}) c.error("bandwidth", "must be more than 0");
    for (size_t i = 1; i < sweep.size(); ++i) {
      if (sweep[i - 1].bytes < sweep[i].bytes) continue;
      c.error("sweep[" + std::to_string(i) + "].bytes", "must be more than in the entry before");
    }
  }
};

}  // namespace orrery
