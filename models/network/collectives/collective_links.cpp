#include "models/network/collectives/collective_links.hpp"

#include <algorithm>
#include <utility>

#include "models/network/fabric/fabric.hpp"
#include "sim/core/check.hpp"

namespace orrery {
namespace {

// Sums weights by link. The list of uses may have several entries for one link. connect() merges
// these entries once the list has at least 65,536 entries and is at least twice as long as after
// the last merge. So an all-to-all needs memory for the links, not for all pairs of nodes.
class Uses {
 public:
  explicit Uses(const RouteFinder& route) : route_{route} {}

  void begin(const FabricExchange& exchange) {
    exchange_ = exchange;
    flow_ = exchange.first_flow;
  }
  // Adds the traffic from one node to another, in equal parts over all rails. `weight` is the
  // total.
  void connect(int32_t from, int32_t to, double weight) {
    if (from == to || weight == 0) return;
    const int32_t flows = exchange_.flows_per_connection;
    const double part = weight * exchange_.scale / exchange_.rails / flows;
    for (int32_t rail = 0; rail < exchange_.rails; ++rail) {
      for (int32_t f = 0; f < flows; ++f) {
        const std::span<const LinkId> links = route_(nic(from, rail), nic(to, rail), flow_++);
        if (links.empty()) activity_.is_connected = false;
        for (const LinkId link : links) activity_.uses.push_back({link, part});
      }
    }
    if (activity_.uses.size() >= limit_) {
      put_together();
      limit_ = std::max(limit_, 2 * activity_.uses.size());
    }
  }
  // Adds the path between the NICs of two nodes to `joined_`. share_joined() then gives the same
  // weight to every link in `joined_` and to its opposite link.
  void join(int32_t from, int32_t to, int32_t rail) {
    const std::span<const LinkId> links = route_(nic(from, rail), nic(to, rail), flow_++);
    if (links.empty()) activity_.is_connected = false;
    joined_.insert(joined_.end(), links.begin(), links.end());
  }
  void share_joined(double weight) {
    std::ranges::sort(joined_);
    joined_.erase(std::unique(joined_.begin(), joined_.end()), joined_.end());
    const double part = weight * exchange_.scale / exchange_.rails;
    for (const LinkId link : joined_) {
      activity_.uses.push_back({link, part});
      activity_.uses.push_back({opposite(link), part});
    }
    joined_.clear();
  }
  FabricActivity finished() {
    put_together();
    return std::move(activity_);
  }

 private:
  NicId nic(int32_t node, int32_t rail) const {
    return exchange_.nics[static_cast<size_t>(node * exchange_.rails + rail)];
  }
  void put_together() {
    std::vector<LinkUse>& uses = activity_.uses;
    std::ranges::stable_sort(uses, {}, &LinkUse::link);
    size_t kept = 0;
    for (size_t i = 0; i < uses.size(); ++i) {
      if (kept > 0 && uses[kept - 1].link == uses[i].link) {
        uses[kept - 1].weight += uses[i].weight;
      } else {
        uses[kept++] = uses[i];
      }
    }
    uses.resize(kept);
  }

  const RouteFinder& route_;
  FabricExchange exchange_{};
  FabricActivity activity_{};
  std::vector<LinkId> joined_;
  uint32_t flow_ = 0;
  size_t limit_ = 1U << 16;
};

// In a ring over all ranks, only one rank of each node sends to another node, so a node sends as
// much as one rank. With Pattern::Rails, each rail is a ring of nodes, and carries a part of the
// buffer.
void add_ring(const FabricExchange& exchange, Uses& uses) {
  const int32_t nodes = exchange.nodes();
  const bool is_open = exchange.collective == Collective::Broadcast ||
                       exchange.collective == Collective::PointToPoint;
  const int32_t ranks = nodes * (exchange.pattern == Pattern::Rails ? 1 : exchange.ranks_per_node);
  const double weight = bus_factor(exchange.collective, ranks);
  for (int32_t node = 0; node < (is_open ? nodes - 1 : nodes); ++node) {
    uses.connect(node, (node + 1) % nodes, weight);
  }
}

void add_trees(const FabricExchange& exchange, Uses& uses) {
  const int32_t nodes = exchange.nodes();
  const std::vector<int32_t> parents = binary_tree(nodes);
  for (int32_t tree = 0; tree < 2; ++tree) {
    const auto place = [&](int32_t node) {
      if (tree == 0) return node;
      return nodes % 2 == 0 ? nodes - 1 - node : (node + 1) % nodes;
    };
    for (int32_t node = 0; node < nodes; ++node) {
      const int32_t parent = parents[static_cast<size_t>(node)];
      if (parent < 0) continue;
      uses.connect(place(parent), place(node), 0.5);
      uses.connect(place(node), place(parent), 0.5);
    }
  }
}

// The switches of each rail form a reduction tree for an equal part of the buffer. Each link of the
// tree carries this part once in each direction: a switch forwards one sum, however many inputs it
// has, and the result comes back on the same cables.
void add_sums(const FabricExchange& exchange, Uses& uses) {
  const int32_t nodes = exchange.nodes();
  for (int32_t rail = 0; rail < exchange.rails; ++rail) {
    for (int32_t node = 1; node < nodes; ++node) uses.join(node, 0, rail);
    uses.share_joined(1.0);
  }
}

// Each of the g ranks of a node sends 1 / (g * nodes) of the buffer to each of the g ranks of
// another node. So a node sends g / nodes of the buffer to another node.
void add_pairs(const FabricExchange& exchange, Uses& uses) {
  const int32_t nodes = exchange.nodes();
  const double weight = static_cast<double>(exchange.ranks_per_node) / nodes;
  for (int32_t from = 0; from < nodes; ++from) {
    for (int32_t to = 0; to < nodes; ++to) uses.connect(from, to, weight);
  }
}

void add_servers(const FabricExchange& exchange, Uses& uses) {
  const int32_t nodes = exchange.nodes(), servers = exchange.servers;
  const int32_t workers = nodes - (exchange.is_colocated ? 0 : servers);
  ORRERY_CHECK(servers > 0 && workers > 0, "workers push to servers");
  const int32_t first = exchange.is_colocated ? 0 : workers;
  for (int32_t worker = 0; worker < workers; ++worker) {
    for (int32_t server = first; server < first + servers; ++server) {
      uses.connect(worker, server, 1.0 / servers);
      uses.connect(server, worker, 1.0 / servers);
    }
  }
}

void add_exchange(const FabricExchange& exchange, Uses& uses) {
  ORRERY_CHECK(
      exchange.rails > 0 && exchange.nics.size() % static_cast<size_t>(exchange.rails) == 0,
      "every node brings a NIC for each rail");
  ORRERY_CHECK(exchange.flows_per_connection > 0, "a connection has at least one flow");
  if (exchange.nodes() < 2) return;
  uses.begin(exchange);
  const Collective collective = exchange.collective;
  const bool has_pairs = collective == Collective::AllToAll || collective == Collective::PushPull;
  switch (exchange.pattern) {
    case Pattern::Ring:
    case Pattern::Rails:
      ORRERY_CHECK(!has_pairs, "a ring hands on one buffer");
      add_ring(exchange, uses);
      return;
    case Pattern::Tree:
      ORRERY_CHECK(collective == Collective::AllReduce, "trees add up and hand out");
      add_trees(exchange, uses);
      return;
    case Pattern::Sums:
      ORRERY_CHECK(collective == Collective::AllReduce, "switches add up");
      add_sums(exchange, uses);
      return;
    case Pattern::Direct:
      break;
  }
  ORRERY_CHECK(has_pairs, "only all-to-all and push_pull use the direct pattern");
  if (collective == Collective::AllToAll) return add_pairs(exchange, uses);
  add_servers(exchange, uses);
}

}  // namespace

FabricActivity fabric_activity(const FabricExchange& exchange, const RouteFinder& route) {
  return fabric_activity(std::span{&exchange, 1}, route);
}

FabricActivity fabric_activity(std::span<const FabricExchange> exchanges,
                               const RouteFinder& route) {
  Uses uses{route};
  for (const FabricExchange& exchange : exchanges) add_exchange(exchange, uses);
  return uses.finished();
}

// The parent of a node: clear the lowest set bit of the node's number and set the next higher bit.
// If there is no node with this number, only clear the bit. Example for 8 nodes: 1 and 3 hang below
// 2, 5 and 7 below 6, 2 and 6 below 4, and 4 below the root 0.
std::vector<int32_t> binary_tree(int32_t nodes) {
  std::vector<int32_t> parents(static_cast<size_t>(nodes), -1);
  for (int32_t node = 1; node < nodes; ++node) {
    const int32_t bit = node & -node;
    const int32_t above = (node ^ bit) | (bit << 1);
    parents[static_cast<size_t>(node)] = above < nodes ? above : node ^ bit;
  }
  return parents;
}

}  // namespace orrery
