#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "models/network/fabric/build_fabric.hpp"
#include "models/network/fabric/link_state.hpp"
#include "models/network/routing/routing.hpp"
#include "sim/core/enum_names.hpp"
#include "sim/core/rng.hpp"
#include "tests/support/validation_cases.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using nlohmann::json;

constexpr int kPatterns = 60;

RoutingEngine engine_named(std::string_view name) {
  const auto names = enum_names(RoutingEngine{});
  const auto found = std::ranges::find(names, name);
  EXPECT_NE(found, names.end()) << name;
  return static_cast<RoutingEngine>(found - names.begin());
}

// The tree of a case. The case may give the number of groups and of nodes per group. Their defaults
// give the largest tree that radix and levels allow.
Fabric fabric_of(const json& input) {
  FabricParams params;
  params.radix = input.at("radix");
  params.levels = input.value("levels", 0);
  const auto half = static_cast<uint32_t>(params.radix / 2);
  const uint32_t full = params.levels == 2 ? 2 * half : 2 * half * half;
  const uint32_t per_group = input.value("nodes_per_group", half);
  const uint32_t groups = input.value("groups", full);
  std::vector<FabricNode> nodes;
  for (uint32_t n = 0; n < groups * per_group; ++n) {
    nodes.push_back(
        {.group = n / per_group, .nics = input.value("nics", 1U), .nic_rate = 400_Gbps});
  }
  BuiltFabric built = build_fabric(params, nodes);
  EXPECT_TRUE(built.mistakes.empty());
  return std::move(built.fabric);
}

std::string sizing(const Fabric& fabric) {
  const FatTree& tree = fabric.tree();
  return std::to_string(fabric.nics()) + " GPUs, " + std::to_string(tree.leaves) + " leaves, " +
         std::to_string(tree.spines()) + " spines, " + std::to_string(tree.cores()) +
         " cores, cables " + std::to_string(fabric.nics()) + ' ' +
         std::to_string(tree.leaf_cables()) + ' ' + std::to_string(tree.spine_cables());
}

// Flows of equal weight on a fabric. worst() is the load of the fullest link on a flow's route.
class Flows {
 public:
  Flows(const Fabric& fabric, RoutingEngine engine, uint64_t salt, uint32_t parts = 1)
      : state_{fabric, {}},
        router_{fabric, state_, {engine}, salt},
        load_(fabric.links(), 0.0),
        parts_{parts} {
    router_.watch_loads(load_);
  }
  void add(uint32_t from, uint32_t to) {
    for (uint32_t part = 0; part < parts_; ++part) {
      routes_.push_back(router_.route({from}, {to}, part));
      EXPECT_FALSE(routes_.back().empty()) << from << " to " << to;
      for (const LinkId link : routes_.back()) load_[link.index] += 1.0 / parts_;
    }
  }
  double worst(size_t flow) const {
    double most = 0;
    for (const LinkId link : routes_[flow]) most = std::max(most, load_[link.index]);
    return most;
  }
  // The rate of a connection, as a share of a link's rate. All parts of a connection carry the same
  // amount, so the slowest part decides.
  double rate(size_t connection) const {
    double most = 0;
    for (uint32_t part = 0; part < parts_; ++part) {
      most = std::max(most, worst(connection * parts_ + part));
    }
    return 1 / most;
  }
  size_t count() const { return routes_.size() / parts_; }

 private:
  LinkState state_;
  Router router_;
  std::vector<double> load_;
  uint32_t parts_;
  std::vector<Route> routes_;
};

std::vector<uint32_t> shuffled(size_t count, Rng& rng) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  for (size_t i = count - 1; i > 0; --i) std::swap(order[i], order[rng.below(i + 1)]);
  return order;
}

// NIC i of each node sends to NIC i of the node that is `shift` nodes further. Returns the largest
// number of flows on one link, over all shifts.
int worst_shift(const Fabric& fabric) {
  const LinkState state{fabric, {}};
  const Router router{fabric, state, {RoutingEngine::Dmodk}, 1};
  const auto nodes = static_cast<uint32_t>(fabric.nodes());
  int most = 0;
  std::vector<int> load(fabric.links());
  for (uint32_t shift = 1; shift < nodes; ++shift) {
    std::ranges::fill(load, 0);
    for (uint32_t n = 0; n < fabric.nics(); ++n) {
      const NodeId from = fabric.node_of({n});
      const uint32_t rail = n - fabric.nic(from, 0).index;
      const NicId to = fabric.nic({(from.index + shift) % nodes}, rail);
      for (const LinkId link : router.route({n}, to)) most = std::max(most, ++load[link.index]);
    }
  }
  return most;
}

double ordered_ring(const Fabric& fabric, size_t hosts) {
  double most = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng{seed};
    std::vector<uint32_t> members = shuffled(fabric.nics(), rng);
    members.resize(hosts);
    std::ranges::sort(members);
    Flows flows{fabric, RoutingEngine::Dmodk, seed};
    for (size_t i = 0; i < hosts; ++i) flows.add(members[i], members[(i + 1) % hosts]);
    for (size_t i = 0; i < hosts; ++i) most = std::max(most, flows.worst(i));
  }
  return most;
}

// Mean of `quantity` over kPatterns random bisections. In a bisection, hosts form random pairs,
// which send one way or both ways.
double bisection(const Fabric& fabric, RoutingEngine engine, const std::string& quantity) {
  Rng rng{1};
  double sum = 0;
  for (int pattern = 0; pattern < kPatterns; ++pattern) {
    const std::vector<uint32_t> order = shuffled(fabric.nics(), rng);
    const size_t pairs = order.size() / 2;
    Flows flows{fabric, engine, rng.next()};
    for (size_t i = 0; i < pairs; ++i) flows.add(order[2 * i], order[2 * i + 1]);
    if (quantity != "one_way") {
      for (size_t i = 0; i < pairs; ++i) flows.add(order[2 * i + 1], order[2 * i]);
    }
    double rates = 0, times = 0, pair_rates = 0;
    for (size_t i = 0; i < flows.count(); ++i)
      rates += flows.rate(i) / static_cast<double>(flows.count());
    for (size_t i = 0; i < pairs && flows.count() > pairs; ++i) {
      const double time = std::max(flows.worst(i), flows.worst(pairs + i));
      times += time / static_cast<double>(pairs);
      pair_rates += 1 / time / static_cast<double>(pairs);
    }
    sum += quantity == "netgauge"              ? 1 / times
           : quantity == "netgauge_arithmetic" ? pair_rates
                                               : rates;
  }
  return sum / kPatterns;
}

double random_ring(const Fabric& fabric, RoutingEngine engine, uint32_t queue_pairs, bool slowest) {
  Rng rng{1};
  double sum = 0;
  for (int pattern = 0; pattern < kPatterns; ++pattern) {
    const std::vector<uint32_t> order = shuffled(fabric.nics(), rng);
    Flows flows{fabric, engine, rng.next(), queue_pairs};
    for (size_t i = 0; i < order.size(); ++i) flows.add(order[i], order[(i + 1) % order.size()]);
    double mean = 0, least = 1;
    for (size_t i = 0; i < order.size(); ++i) {
      mean += flows.rate(i) / static_cast<double>(order.size());
      least = std::min(least, flows.rate(i));
    }
    sum += slowest ? least : mean;
  }
  return sum / kPatterns;
}

// The slowdown of a degraded cable, or its symbol errors in an hour. The cable connects one of two
// hosts to a leaf.
double of_degraded_cable(const json& input) {
  const std::vector<FabricNode> nodes(
      2, {.group = 0, .nics = 1, .nic_rate = {input.at("gbps").get<int64_t>() * 1'000'000'000}});
  const Fabric fabric = build_fabric({}, nodes).fabric;
  LinkParams params;
  params.ack_timeout = nearest_ns(input.value("ack_timeout_s", 0.5));
  if (input.contains("ib_timeout")) params.ib_timeout = input.at("ib_timeout").get<int32_t>();
  LinkState state{fabric, params};
  const CableId cable = fabric.nic_cable({0});
  const Bandwidth before = state.capacity(up_link(cable));
  state.set_bit_error_rate(cable, input.at("bit_error_rate"), {});
  if (input.at("quantity") == "errors_per_hour") {
    return static_cast<double>(state.symbol_errors(cable, Time{} + 1_h));
  }
  return static_cast<double>(before.bits_per_s) /
         static_cast<double>(state.capacity(up_link(cable)).bits_per_s);
}

// Describes the size of the fabric in a topology file, or returns the file's first mistake.
std::string sizing_of_file(const json& input, const std::string& path) {
  const FabricFile file = read_fabric_file(path);
  FabricParams params;
  params.radix = input.at("radix");
  params.rails = input.value("rails", 0);
  const std::vector<FabricNode> nodes(file.hosts.size(),
                                      {.group = 0, .nics = input.at("nics"), .nic_rate = 200_Gbps});
  const BuiltFabric built = build_fabric(params, file, nodes);
  if (!built.mistakes.empty()) return built.mistakes.front().message;
  const FatTree& tree = built.fabric.tree();
  return std::to_string(file.hosts.size()) + " hosts, " + std::to_string(tree.leaves) +
         " leaves, " +
         (tree.levels == 2 ? std::to_string(tree.spines()) + " spines"
                           : std::to_string(tree.blocks()) + " blocks");
}

json ours_in_fabric(const json& input) {
  if (input.contains("file")) {
    const auto path = test::real_trace(input.at("file").get<std::string>());
    return std::filesystem::exists(path) ? json(sizing_of_file(input, path)) : json();
  }
  const auto quantity = input.at("quantity").get<std::string>();
  if (quantity == "slowdown" || quantity == "errors_per_hour") return of_degraded_cable(input);
  const Fabric fabric = fabric_of(input);
  if (quantity == "sizing") return sizing(fabric);
  if (quantity == "worst_shift") return worst_shift(fabric);
  if (quantity == "ordered_ring") return ordered_ring(fabric, input.at("hosts"));
  const RoutingEngine engine = engine_named(input.at("engine").get<std::string>());
  if (quantity.starts_with("ring_")) {
    return random_ring(fabric, engine, input.value("queue_pairs", 1U), quantity == "ring_slowest");
  }
  return bisection(fabric, engine, quantity);
}

TEST(FabricValidation, EveryCaseOfTheTableHolds) {
  test::check_cases("fabric.json", 80, ours_in_fabric);
}

}  // namespace
}  // namespace orrery
