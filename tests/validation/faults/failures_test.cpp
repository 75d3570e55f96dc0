#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "models/faults/node_faults.hpp"
#include "tests/support/job_world.hpp"
#include "tests/support/report.hpp"

namespace orrery {
namespace {

using nlohmann::json;

// Times of the failures that NodeFaults draws, for nodes that are repaired at once.
std::vector<Time> failures(double rate, uint32_t nodes, Duration span) {
  FaultParams params;
  params.nodes.emplace_back();
  params.nodes[0].rate = rate;
  params.nodes[0].repair = FixedRepair{.duration = {}};
  JobWorld world{{.nodes = nodes, .gpus = 8, .records = false}};
  NodeFaults faults{{world.engine, world.rng, world.recorder},
                    world.cluster,
                    world.presence,
                    world.controller,
                    world.jobs,
                    params};
  std::vector<Time> times;
  world.presence.node_down.connect(
      [&](NodeId, NodeReason) { times.push_back(world.engine.now()); });
  faults.start();
  world.run(Time{} + span);
  return times;
}

double measured(const json& input) {
  const auto rate = input["rate"].get<double>();
  const auto nodes = input["nodes"].get<uint32_t>();
  const auto quantity = input["quantity"].get<std::string>();
  if (quantity == "survival") {  // share of time windows without a failure
    const Duration window = 1_h * input["hours"].get<int64_t>();
    const auto windows = input["windows"].get<int64_t>();
    std::set<int64_t> struck;
    for (const Time t : failures(rate, nodes, window * windows))
      struck.insert((t - Time{}) / window);
    return 1 - static_cast<double>(struck.size()) / static_cast<double>(windows);
  }
  const auto days = input["days"].get<int64_t>();
  const auto count = static_cast<double>(failures(rate, nodes, 1_d * days).size());
  return quantity == "count" ? count : static_cast<double>(days) * 24 / count;
}

TEST(PublishedFailures, RatesMakePublishedCountsTimesAndSurvival) {
  std::ifstream file{std::string{ORRERY_SOURCE_DIR} + "/tests/validation/data/failures.json"};
  const json cases = json::parse(file);
  ASSERT_FALSE(cases.empty());
  for (const json& c : cases) {
    const auto expected = c["expected"].get<double>();
    const double value = measured(c["input"]);
    test::report({.id = c["id"].get<std::string>()}, value, expected);
    EXPECT_NEAR(value / expected, 1, c["tolerance"].get<double>()) << c["id"];
  }
}

}  // namespace
}  // namespace orrery
