// What the shipped scenarios about cables, routes and cores show, as their comments say.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "models/telemetry/network_usage.hpp"
#include "models/telemetry/timeline_rows.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

std::string shipped(const std::string& name) {
  std::ifstream file{ORRERY_SOURCE_DIR "/scenarios/" + name + ".yaml"};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Seconds of a GPU's exchanges for each second of its computing, in the order of the list.
std::vector<double> exchanges_of(ScenarioRun& run) {
  std::map<int64_t, double> by_id;
  for (const JobRow& row : run.jobs()) {
    by_id[row.external_id] = row.gpu_s_exchange / row.gpu_s_useful;
  }
  std::vector<double> all;
  for (const auto& [id, ratio] : by_id) all.push_back(ratio);
  return all;
}

TEST(BentCable, SlowsTheExchangesOfOneJobAHundredfoldAndNoOther) {
  ScenarioRun run{shipped("bent-cable")};
  const std::vector<double> exchange = exchanges_of(run);
  ASSERT_EQ(exchange.size(), 4U);
  EXPECT_DOUBLE_EQ(exchange[0], exchange[2]);
  EXPECT_DOUBLE_EQ(exchange[0], exchange[3]);
  // 600 s at the old pace, the rest of the 1,200 steps at the new one.
  const double steps = 600 / (1 + exchange[0]);
  const double bent = (1200 * exchange[1] - steps * exchange[0]) / (1200 - steps);
  EXPECT_NEAR(bent / exchange[0], 100, 10);
  ScenarioRun clean{shipped("bent-cable"), {"faults.links.list=[]"}};
  EXPECT_DOUBLE_EQ(exchanges_of(clean)[1], exchange[0]);
}

TEST(CursedRoute, FreezesAndRevivesUntilRoutingIsFtree) {
  ScenarioRun run{shipped("cursed-route")};
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
  ScenarioRun run{shipped("cursed-route"),
                  {"network.routing={engine: dmodk}",
                   "faults.links.routing=[{at: 7h, engine: adaptive_local}]"}};
  for (const ClusterSample& row : run.recorder.rows<ClusterSample>("/timeline/cluster")) {
    EXPECT_GT(row.gpus_computing, 55);
  }
}

TEST(TooFewCpus, MakeJobsOfSeveralNodesSlowerAndOneNodeNot) {
  ScenarioRun run{shipped("too-few-cpus")};
  const std::vector<double> exchange = exchanges_of(run);
  ASSERT_EQ(exchange.size(), 6U);
  EXPECT_DOUBLE_EQ(exchange[0], exchange[1]);
  EXPECT_NEAR(exchange[3] / exchange[2], 2, 0.05);
  EXPECT_NEAR(exchange[4] / exchange[2], 4, 0.1);
  EXPECT_NEAR(exchange[5] / exchange[2], 8, 0.1);
}

std::vector<double> efficiencies(const std::string& engine) {
  ScenarioRun run{shipped("leaf-scaling"), {"network.routing.engine=" + engine}};
  std::vector<double> all;
  for (const double exchange : exchanges_of(run)) all.push_back(1 / (1 + exchange));
  return all;
}

TEST(LeafScaling, IsTheSameUnderOneLeafAndBrokenBeyondByChance) {
  const std::vector<double> ftree = efficiencies("dmodk"), chance = efficiencies("minhop");
  ASSERT_EQ(ftree.size(), 7U);
  for (size_t i = 0; i < 4; ++i) EXPECT_DOUBLE_EQ(ftree[i], chance[i]) << "1, 2, 4, 8 nodes";
  EXPECT_GT(ftree[6], 0.97 * ftree[3]) << "64 nodes lose hardly more than 8";
  EXPECT_LT(chance[4], 0.95 * ftree[4]);
  EXPECT_LT(chance[6], 0.7 * ftree[6]);
}

}  // namespace
}  // namespace orrery
