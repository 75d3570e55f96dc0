// Results of shipped scenarios with controllers.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <variant>
#include <vector>

#include "models/controllers/action_rows.hpp"
#include "tests/support/shipped_run.hpp"

namespace orrery {
namespace {

int32_t restarts(const std::vector<std::string>& overrides) {
  ShippedRun run{"broken-leaf", overrides};
  const JobRow job = run.job("t");
  EXPECT_EQ(job.outcome, JobOutcome::Completed);
  return job.restarts;
}

TEST(BrokenLeafScenario, AGangRestartsElsewhereOnceItsNodesAreCordoned) {
  EXPECT_EQ(restarts({}), 1);
  EXPECT_GT(restarts({"policy.controllers=[]"}), 200);
}

// In scenario `descheduler` four nodes fail at 1 h and take 12 of 24 replicas with them. Returns
// the number of replicas lost to later failures.
int32_t replicas_lost_later(const std::vector<std::string>& overrides, int32_t evictions) {
  ShippedRun run{"descheduler", overrides};
  EXPECT_EQ(run.job("chat").evictions, evictions);
  return run.job("chat").restarts - 12;
}

TEST(DeschedulerScenario, ReplicasAreSpreadAgainOverRepairedNodes) {
  EXPECT_EQ(replicas_lost_later({}, 12), 3);
  EXPECT_EQ(replicas_lost_later({"policy.controllers=[]"}, 0), 6);
}

TEST(DeschedulerScenario, EvictionsKeepToTheDisruptionBudget) {
  ShippedRun run{"descheduler"};
  std::map<Time, int> at_once;
  for (const ActionRow& row : run.recorder.rows<ActionRow>("/events/actions")) {
    EXPECT_EQ(row.outcome, ActionOutcome::Done);
    ++at_once[row.at];
  }
  EXPECT_EQ(at_once.size(), 6U);
  for (const auto& [at, evictions] : at_once) EXPECT_EQ(evictions, 2) << "22 of 24 stay ready";
}

TEST(GangDefragmenterScenario, ALargeGangGetsWholeNodesAfterHalfAnHour) {
  ShippedRun run{"gang-defragmenter"};
  EXPECT_GT(run.job("large").wait, 30_min);
  EXPECT_LT(run.job("large").wait, 31_min);
  int moved = 0;
  for (const JobRow& row : run.recorder.rows<JobRow>("/jobs")) {
    EXPECT_EQ(row.outcome, JobOutcome::Completed);
    EXPECT_EQ(row.gpu_s_lost, 0) << "suspended gangs write a checkpoint";
    if (row.gpu_s_restore > 0) ++moved;
  }
  EXPECT_EQ(moved, 4);
  ShippedRun without{"gang-defragmenter", {"policy.controllers=[]"}};
  EXPECT_GT(without.job("large").wait, 11_h);
}

// A gang with checkpoints to a store writes no checkpoint when it is suspended. So it loses its
// compute since the last periodic checkpoint. The gangs named `long` start 2 min apart, so those
// that start last have the newest checkpoints and lose least.
TEST(GangDefragmenterScenario, GangsThatLoseTheLeastAreMoved) {
  ShippedRun run{"gang-defragmenter",
                 {"storage.stores=[{name: blob, write: 100GBps, read: 100GBps}]",
                  "workload.training={checkpoint_interval: 1h, "
                  "checkpoint: {store: blob, bytes: 100GB}}"}};
  std::vector<Time> losers, others;
  for (const JobRow& row : run.recorder.rows<JobRow>("/jobs")) {
    if (row.name.view() == "long") (row.gpu_s_lost > 0 ? losers : others).push_back(row.submitted);
  }
  ASSERT_EQ(losers.size(), 4U);
  EXPECT_GT(std::ranges::min(losers), std::ranges::max(others));
}

// Node hours paid, and the share of the load that was not served.
struct Paid {
  explicit Paid(const std::vector<std::string>& overrides) : run{"scale-down", overrides} {
    for (const SummaryValue& value : run.result.summary) {
      if (value.name == "gpu_s_up") node_hours = std::get<double>(value.value) / 8 / 3600;
      if (value.name == "service_load_unserved") unserved = std::get<double>(value.value);
      if (value.name == "drains_failed") {
        EXPECT_EQ(std::get<int64_t>(value.value), 0);
      }
    }
  }
  ShippedRun run;
  double node_hours = 0, unserved = 0;
};

TEST(ScaleDownScenario, MovingPodsSavesAnEighthOfTheNodeHours) {
  const Paid moves{{}};
  const Paid idle_only{
      {"policy.controllers=[{name: ClusterAutoscaler, args: {scale_down: "
       "{utilization_threshold: 0}}}]"}};
  EXPECT_NEAR(idle_only.node_hours, 560, 2);
  EXPECT_NEAR(moves.node_hours, 493, 2);
  EXPECT_LT(moves.unserved, idle_only.unserved + 0.001) << "moved replicas are not missed";
}

}  // namespace
}  // namespace orrery
