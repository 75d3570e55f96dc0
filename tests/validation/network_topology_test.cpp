// Compares the plans of the topology-aware policies with the cases of data/network_topology.json.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "models/scheduling/toolbox/placement_plan.hpp"
#include "sim/core/enum_names.hpp"
#include "tests/support/report.hpp"

namespace orrery {
namespace {

using Json = nlohmann::json;
constexpr std::array<uint32_t, 4> kLevels = {0, 1, 2, 3};

struct Network {
  Topology topology;
  std::vector<int64_t> room;
};

Network network_of(const Json& row) {
  std::vector<uint32_t> leaf_of, block_of;
  std::vector<int64_t> room;
  uint32_t blocks = 0;
  for (const Json& block : row.value("blocks", Json::array())) {
    for (const Json& leaf : block) {
      for (const Json& node : leaf) {
        room.push_back(node);
        leaf_of.push_back(static_cast<uint32_t>(block_of.size()));
      }
      block_of.push_back(blocks);
    }
    ++blocks;
  }
  return {Topology{leaf_of, block_of}, room};
}

template <class E>
E named(const Json& row, const char* key) {
  const auto names = enum_names(E{});
  const auto at = std::ranges::find(names, row[key].get<std::string>());
  EXPECT_NE(at, names.end()) << key;
  return static_cast<E>(at - names.begin());
}

TasPlan kueue(const Network& network, const Json& row) {
  const RoomOn room{network.topology,
                    {.slice = row.value("slice", int64_t{1}), .keeps_order = true},
                    network.room};
  return plan_kueue(room, {.pods = row["pods"],
                           .level = named<TopologyLevel>(row, "level"),
                           .mode = named<TasMode>(row, "mode"),
                           .order = named<TasOrder>(row, "order")});
}

PlacementPlan plan(const Network& network, const Json& row) {
  const RoomOn room{network.topology, {.keeps_order = true}, network.room};
  const std::string function = row["function"];
  if (function == "slurm_tree") return plan_slurm_tree(room, row["pods"]);
  if (function == "slurm_block") {
    return plan_slurm_block(room, row["pods"], row["leaf_pods"], kLevels);
  }
  if (function == "hypernode") {
    const std::vector<int64_t> each(network.room.size(), row["idle"].get<int64_t>());
    const RoomOn idle{network.topology, {}, each};
    return plan_hypernode(room, idle, row["pods"], row["highest_tier"]);
  }
  if (function == "consolidate")
    return plan_consolidated({.pods = room, .gpus = room, .node_pods = row["node_pods"]},
                             row["pods"]);
  ADD_FAILURE() << "no function " << function;
  return {};
}

std::vector<double> answer(const Json& row) {
  const Network network = network_of(row);
  if (row["function"] == "block_fragmentation") {
    const auto free = row["free"].get<std::vector<int64_t>>();
    return {static_cast<double>(block_fragmentation(free, row["leaf_nodes"], kLevels))};
  }
  if (row["function"] == "hypernode_score") {
    std::vector<double> scores;
    std::optional<uint32_t> placed;
    if (!row["placed"].is_null()) placed = row["placed"].get<uint32_t>();
    for (uint32_t n = 0; n < network.room.size(); ++n) {
      scores.push_back(hypernode_score(network.topology, n, placed));
    }
    return scores;
  }
  PlacementPlan found_plan;
  if (row["function"] == "kueue") {
    const TasPlan found = kueue(network, row);
    if (row.contains("fits")) {
      const auto fits = row["fits"].get<int64_t>();
      test::report({.id = row["id"].get<std::string>(), .figure = "fits"},
                   static_cast<double>(found.fits), static_cast<double>(fits));
      EXPECT_EQ(found.fits, fits);
    }
    found_plan = found.plan;
  } else {
    found_plan = plan(network, row);
  }
  if (found_plan.empty()) return {};
  std::vector<double> pods(network.room.size());
  for (const NodeShare& share : found_plan) pods[share.node] += static_cast<double>(share.pods);
  return pods;
}

TEST(NetworkTopologyConformance, GangsGoWhereEachSchedulerPutsThem) {
  std::ifstream file{ORRERY_SOURCE_DIR "/tests/validation/data/network_topology.json"};
  const Json data = Json::parse(file);
  size_t cases = 0;
  for (const Json& row : data["cases"]) {
    SCOPED_TRACE(row["id"].get<std::string>());
    const std::vector<double> ours = answer(row);
    const auto expected = row["expected"].get<std::vector<double>>();
    test::report({.id = row["id"].get<std::string>()}, ours, expected);
    EXPECT_EQ(ours.size(), expected.size());
    for (size_t i = 0; i < std::min(ours.size(), expected.size()); ++i) {
      EXPECT_NEAR(ours[i], expected[i], row.value("tolerance", 1e-12) * expected[i]) << i;
    }
    ++cases;
  }
  EXPECT_EQ(cases, 34u) << "a case was lost or added: say so here";
}

}  // namespace
}  // namespace orrery
