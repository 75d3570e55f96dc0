// models/network/collectives/collective_links.hpp -- an exchange as one activity: which links it
// uses and how much of each.
//
// Weights are bits on the link for each bit of the buffer (collectives.hpp defines the buffer). So
// the activity's rate is in bits of the buffer per second, and the duration of an exchange is its
// latency plus the size of the buffer divided by this rate.
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

// Which nodes send to which.
// Ring: each node sends to the next, and all ranks are in one ring.
// Rails: each rail has its own ring of nodes, with one rank of each node and a part of the buffer.
// Tree: two trees with half of the buffer each; inner nodes of one tree are leaves of the other.
// Sums: switches add up the buffers on the way to one node and send back the sum.
// Direct: each node sends to every other node, or workers and parameter servers send to each other.
enum class Pattern : uint8_t { Ring, Rails, Tree, Sums, Direct };
constexpr std::array<std::string_view, 5> enum_names(Pattern) {
  return {"ring", "rails", "tree", "sums", "direct"};
}

// Returns the links from one NIC to another: a view that is valid until the next call, and empty if
// there is no route. Flows between the same two NICs may take different routes if their `flow`
// differs.
using RouteFinder = std::function<std::span<const LinkId>(NicId from, NicId to, uint32_t flow)>;

// An exchange between nodes. `nics` lists `rails` NICs of each node, node by node in the order in
// which a ring visits the nodes. Rail k is the k-th of these NICs of each node, and carries an
// equal part of the buffer. Traffic between nodes never changes rails: data for another rail move
// between the GPUs of a node. Colocated parameter servers run on the first nodes, dedicated ones on
// the last nodes.
struct FabricExchange {
  Collective collective = Collective::AllReduce;
  Pattern pattern = Pattern::Ring;
  std::span<const NicId> nics{};
  int32_t rails = 1;
  int32_t ranks_per_node = 1;
  int32_t servers = 0;               // parameter servers of push_pull
  bool is_colocated = false;         // whether servers run on worker nodes
  int32_t flows_per_connection = 1;  // queue pairs, which share the connection's traffic
  uint32_t first_flow = 0;
  double scale = 1;  // factor on all weights, for exchanges of different size in one activity

  int32_t nodes() const { return static_cast<int32_t>(nics.size()) / rails; }
};

struct FabricActivity {
  std::vector<LinkUse> uses;  // each link once, in order of ids
  bool is_connected = true;   // false: a route is missing, and the exchange cannot proceed
};

// The activity of one exchange. The function's run time grows with the number of nodes; for Direct,
// with the number of pairs of nodes that send to each other. Ring and Rails serve all collectives
// except push_pull and all-to-all, Tree and Sums only all-reduce, and Direct only push_pull and
// all-to-all.
FabricActivity fabric_activity(const FabricExchange& exchange, const RouteFinder& route);
// One activity for several exchanges that proceed at the same rate.
FabricActivity fabric_activity(std::span<const FabricExchange> exchanges, const RouteFinder& route);

// The parents of nodes 0, 1, ... in the first tree of Pattern::Tree; the parent of the root is -1.
// If `nodes` is even, the second tree is the mirror image of the first. If `nodes` is odd, the
// second tree is the first, shifted by one.
std::vector<int32_t> binary_tree(int32_t nodes);

}  // namespace orrery
