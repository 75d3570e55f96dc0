// models/network/collectives/collective_links.hpp -- an exchange as one activity: which links it
// uses and how.
//
// Weights are bits on the link for each bit of the buffer (as collectives.hpp counts it). So the
// activity's rate is that of the buffer, and the factor from rate to time is 1: an exchange takes
// its latency and bytes / rate.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "models/network/collectives/collectives.hpp"
#include "models/network/sharing/link_use.hpp"
#include "sim/core/id.hpp"

namespace orrery {

// Which nodes speak to which. Ring: each with the next, and all ranks are in the ring. Rails: the
// same, but of each node it takes one rank for each rail, with its part of what the node's ranks
// have. Tree: two trees with half of the buffer each, where the inner nodes of one are the leaves
// of the other. Sums: each with the switches, which add up on the way to one of the nodes and hand
// the sum out on the way back. Direct: each with every other, or with the servers.
enum class Pattern : uint8_t { Ring, Rails, Tree, Sums, Direct };
constexpr std::array<std::string_view, 5> enum_names(Pattern) {
  return {"ring", "rails", "tree", "sums", "direct"};
}

// The links from one NIC to another, valid until the next call. Empty: there is no way. Of flows
// between the same two NICs those with unlike numbers may go unlike ways.
using RouteFinder = std::function<std::span<const LinkId>(NicId from, NicId to, uint32_t flow)>;

// `nics` are those of the nodes in the order of the exchange, equally many of each: rail k is the
// k-th NIC of each node, and rails share the buffer. Traffic stays on its rail, since GPUs of a
// node hand it over among themselves. Parameter servers are on the first nodes if those are workers
// too, else on the last ones.
struct FabricExchange {
  Collective collective = Collective::AllReduce;
  Pattern pattern = Pattern::Ring;
  std::span<const NicId> nics{};
  int32_t rails = 1;
  int32_t ranks_per_node = 1;
  int32_t servers = 0;               // of push_pull
  bool is_colocated = false;         // likewise
  int32_t flows_per_connection = 1;  // queue pairs, which share the connection's traffic
  uint32_t first_flow = 0;
  double scale = 1;  // of all weights, where exchanges of unlike size make one activity

  int32_t nodes() const { return static_cast<int32_t>(nics.size()) / rails; }
};

struct FabricActivity {
  std::vector<LinkUse> uses;  // each link once, in order of ids
  bool is_connected = true;   // false: some route is missing, and the exchange cannot go on
};

// Direct exchanges take time in the square of the number of nodes, others in their number. Rings
// serve all collectives but push_pull and all-to-all, trees and sums all-reduce alone, direct the
// rest.
FabricActivity fabric_activity(const FabricExchange& exchange, const RouteFinder& route);
// Several that go on at the same pace.
FabricActivity fabric_activity(std::span<const FabricExchange> exchanges, const RouteFinder& route);

// The parents of nodes 0, 1, ... in the first of the two trees; the root's is -1. The second tree
// is the first one mirrored if `nodes` is even, and shifted by one if odd.
std::vector<int32_t> binary_tree(int32_t nodes);

}  // namespace orrery
