// Results of the shipped scenarios about cables and routes, except for the figures that
// tests/validation checks.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "models/telemetry/timeline_rows.hpp"
#include "tests/support/shipped_run.hpp"

namespace orrery {
namespace {

TEST(CursedRoute, FreezesAndRevivesUntilRoutingIsFtree) {
  ShippedRun run{"cursed-route"};
  int frozen = 0, alive = 0, turns = 0;
  bool was_frozen = false;
  for (const ClusterSample& row : run.recorder.rows<ClusterSample>("/timeline/cluster")) {
    EXPECT_NEAR(row.gpus_reported, 64, 0.1) << "whatever happens";
    const bool is_frozen = row.gpus_computing < 5;
    turns += is_frozen != std::exchange(was_frozen, is_frozen) ? 1 : 0;
    if (row.time <= Time{} + 4_h) {
      (is_frozen ? frozen : alive) += 1;
    } else {
      EXPECT_GT(row.gpus_computing, 55);
    }
  }
  EXPECT_GT(frozen, 20);
  EXPECT_GT(alive, 20);
  EXPECT_GE(turns, 4);
}

TEST(CursedRoute, ShowsNothingUnderFtreeFromTheStart) {
  ShippedRun run{"cursed-route",
                 {"network.routing={engine: dmodk}",
                  "faults.links.routing=[{at: 7h, engine: adaptive_local}]"}};
  for (const ClusterSample& row : run.recorder.rows<ClusterSample>("/timeline/cluster")) {
    EXPECT_GT(row.gpus_computing, 55);
  }
}

double efficiency(const std::string& engine, const std::string& job) {
  const std::vector<std::string> routing(1, "network.routing.engine=" + engine);
  ShippedRun run{"leaf-scaling", routing};
  const JobRow row = run.job(job);
  return row.gpu_s_useful / (row.gpu_s_useful + row.gpu_s_exchange);
}

TEST(LeafScaling, IsTheSameUnderOneLeafAndBrokenBeyondByChance) {
  EXPECT_DOUBLE_EQ(efficiency("minhop", "nodes-4"), efficiency("dmodk", "nodes-4"));
  EXPECT_DOUBLE_EQ(efficiency("minhop", "nodes-8"), efficiency("dmodk", "nodes-8"));
  EXPECT_LT(efficiency("minhop", "nodes-16"), 0.95 * efficiency("dmodk", "nodes-16"));
  EXPECT_LT(efficiency("minhop", "nodes-64"), 0.7 * efficiency("dmodk", "nodes-64"));
}

}  // namespace
}  // namespace orrery
