// The actions AddNodes and RemoveNodes of a controller: done, rejected, failed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/control_plane/autoscaling/node_group_rows.hpp"
#include "tests/support/scripted_controller.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;

// Nodes 0 and 1 belong to a fixed pool, and nodes 2 to 5 to a scaled pool. The scaled pool starts
// with nodes 2 and 3. At any time one to three of its nodes exist.
std::string scaled_world(const std::string& level, const std::string& provisioning,
                         const std::string& jobs = "") {
  return "cluster: {pools: [{name: old, machine: dgx-a100, count: 2}, {name: new, machine: "
         "dgx-a100, count: 4}]}\ncontrol_plane: {level: " +
         level +
         ", autoscaler: {groups: [{pool: new, nodes_min: 1, nodes_max: 3, nodes_at_start: 2, "
         "provisioning: " +
         provisioning + "}]}}\nworkload: {sources: [{kind: jobs, jobs: [" +
         (jobs.empty() ? "{submit: 1h, work: 1s, pods: 1}" : jobs) + "]}]}\nrun: {until: 2h}\n";
}
const std::string kThreeMinutes = "{kind: fixed, value: 3min}";
const std::string kNever = "{kind: discrete, values: [1s, 4h], weights: [0, 1]}";
// Pods that fill the four nodes present at the start.
const std::string kFullNodes = "{kind: pods, pods: 4, pod: {gpus: 8}, work: 10h, priority: 5}";

std::string step(const std::string& at, const std::string& action, int node, int nodes = 1,
                 const std::string& more = "") {
  return "{at: " + at + ", action: " + action + ", node: " + std::to_string(node) +
         ", nodes: " + std::to_string(nodes) + more + "}";
}

ActionRow only_action(ScriptedRun& run) {
  const std::vector<ActionRow> rows = run.actions();
  EXPECT_EQ(rows.size(), 1U);
  return rows.empty() ? ActionRow{} : rows.front();
}

TEST(PoolActions, NodesThatAreAskedForComeAndTheActionIsDoneThen) {
  for (const std::string level : {"delays", "full"}) {
    SCOPED_TRACE(level);
    ScriptedRun run{scaled_world(level, kThreeMinutes), step("1min", "add_nodes", 5)};
    const ActionRow row = only_action(run);
    EXPECT_EQ(row.outcome, ActionOutcome::Done);
    EXPECT_EQ(row.pool.view(), "new");
    EXPECT_EQ(row.amount, 1);
    EXPECT_GT(row.ended - row.at, 3_min);
    EXPECT_LT(row.ended - row.at, 5_min);
    const auto rows = run.run.recorder.rows<ScalingRow>("/events/scaling");
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].kind, ScalingKind::Up);
    EXPECT_EQ(rows[0].size, 3U);
  }
}

TEST(PoolActions, NodesThatDoNotComeFailTheActionAndThePoolBacksOff) {
  ScriptedRun run{scaled_world("delays", kNever), step("1min", "add_nodes", 4) + ", " +
                                                      step("17min", "add_nodes", 4) + ", " +
                                                      step("22min", "add_nodes", 4)};
  const std::vector<ActionRow> rows = run.actions();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].outcome, ActionOutcome::Failed);
  EXPECT_EQ(rows[0].ended - rows[0].at, 15_min);
  EXPECT_EQ(rows[0].reason.view(), "1 nodes did not come in time");
  EXPECT_EQ(rows[1].outcome, ActionOutcome::Refused);
  EXPECT_THAT(std::string{rows[1].reason.view()}, HasSubstr("backs off"));
  EXPECT_EQ(rows[2].outcome, ActionOutcome::Failed) << "the backoff of 5 min is over";
}

TEST(PoolActions, NodesThatCannotBeAskedForAreRefused) {
  struct Case {
    std::string step, reason;
  };
  for (const Case& c :
       std::vector<Case>{{step("1min", "add_nodes", 4, 1, ", pool: 1"), "there is no such pool"},
                         {step("1min", "add_nodes", 0), "node 0 is not of the pool"},
                         {step("1min", "add_nodes", 3), "node 3 is there or on its way"},
                         {step("1min", "add_nodes", 4, 2), "the pool may have at most 3 nodes"},
                         {step("1min", "add_nodes", 4, 0), "no node is named"},
                         {step("1min", "add_nodes", 99), "there is no such node"}}) {
    SCOPED_TRACE(c.step);
    ScriptedRun run{scaled_world("delays", kThreeMinutes), c.step};
    EXPECT_EQ(only_action(run).outcome, ActionOutcome::Refused);
    EXPECT_EQ(only_action(run).reason.view(), c.reason);
  }
}

TEST(PoolActions, ANodeWithoutPodsGoes) {
  ScriptedRun run{scaled_world("full", kThreeMinutes), step("1min", "remove_nodes", 3)};
  const ActionRow row = only_action(run);
  EXPECT_EQ(row.outcome, ActionOutcome::Done);
  EXPECT_EQ(row.amount, 1);
  EXPECT_EQ(row.reason.view(), "");
  const auto rows = run.run.recorder.rows<ScalingRow>("/events/scaling");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].kind, ScalingKind::Down);
  EXPECT_EQ(rows[0].size, 1U);
}

TEST(PoolActions, NodesThatCannotGoAreRefused) {
  struct Case {
    std::string step, jobs, reason;
  };
  for (const Case& c : std::vector<Case>{
           {step("1min", "remove_nodes", 3, 1, ", pool: 1"), "", "there is no such pool"},
           {step("1min", "remove_nodes", 0), "", "node 0 is not of the pool"},
           {step("1min", "remove_nodes", 4), "", "node 4 is not there"},
           {step("1min", "remove_nodes", 3), kFullNodes, "node 3 has pods"},
           {step("1min", "remove_nodes", 99), "", "there is no such node"}}) {
    SCOPED_TRACE(c.step);
    ScriptedRun run{scaled_world("delays", kThreeMinutes, c.jobs), c.step};
    EXPECT_EQ(only_action(run).outcome, ActionOutcome::Refused);
    EXPECT_EQ(only_action(run).reason.view(), c.reason);
  }
}

TEST(PoolActions, NodesThatMayGoGoAndTheRowSaysWhyOthersStay) {
  ScriptedRun run{scaled_world("delays", kThreeMinutes), step("1min", "remove_nodes", 2, 2)};
  EXPECT_EQ(only_action(run).outcome, ActionOutcome::Done);
  EXPECT_EQ(only_action(run).amount, 1);
  EXPECT_EQ(only_action(run).reason.view(), "node 3 stays: the pool keeps 1 nodes");
}

TEST(PoolActions, PodsBelowAPriorityAreLostWithTheirNode) {
  ScriptedRun run{scaled_world("delays", kThreeMinutes, kFullNodes),
                  step("1min", "remove_nodes", 3, 1, ", lost_below: 6")};
  EXPECT_EQ(only_action(run).outcome, ActionOutcome::Done);
  EXPECT_EQ(std::ranges::count(run.pods(), PodEnd::NodeFailed, &PodRow::end), 1);
}

// A node that was drained and removed returns as a new Node object, which is not cordoned.
TEST(PoolActions, ANodeThatComesAgainTakesPods) {
  ScriptedRun run{scaled_world("delays", kThreeMinutes,
                               kFullNodes + ", {kind: pods, pods: 1, pod: {gpus: 8}, work: 1h, "
                                            "submit: 10min}"),
                  "{at: 1min, action: drain, node: 3}, " + step("2min", "remove_nodes", 3) + ", " +
                      step("3min", "add_nodes", 3)};
  for (const ActionRow& row : run.actions()) EXPECT_EQ(row.outcome, ActionOutcome::Done);
  bool is_used = false;
  for (const PodRow& pod : run.pods()) {
    is_used = is_used || (pod.node == NodeId{3} && pod.bound > Time{} + 3_min);
  }
  EXPECT_TRUE(is_used);
}

}  // namespace
}  // namespace orrery
