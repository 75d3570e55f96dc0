// The cluster autoscaler, in whole runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "models/cluster/cluster.hpp"
#include "models/control_plane/autoscaling/node_group_rows.hpp"
#include "models/control_plane/nodes/node_rows.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/unit/control_plane/scenario_mistakes.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

int64_t count(const ScenarioRun& run, std::string_view name) {
  const auto found = std::ranges::find(run.result.summary, name, &SummaryValue::name);
  EXPECT_NE(found, run.result.summary.end()) << name;
  return std::get<int64_t>(found->value);
}

const std::string kFixed = "provisioning: {kind: fixed, value: 3min}";

// Adds the controller ClusterAutoscaler to the policy in `rest`, which is a part of a scenario. If
// `rest` has no policy, adds one. The autoscaler's loops take no time.
std::string with_autoscaler(std::string rest, const std::string& args) {
  const std::string listed = "controllers: [{name: ClusterAutoscaler, args: {time_per_node: 0s" +
                             (args.empty() ? "" : ", " + args) + "}}]";
  const std::string flow = "policy: {", block = "policy:\n";
  if (const size_t at = rest.find(flow); at != std::string::npos) {
    return rest.insert(at + flow.size(), listed + ", ");
  }
  if (const size_t at = rest.find(block); at != std::string::npos) {
    return rest.insert(at + block.size(), "  " + listed + "\n");
  }
  return rest + "policy: {" + listed + "}\n";
}

// Pool `old` has two nodes, and pool `new` has 10. `groups` lists the pools whose nodes the
// autoscaler adds and removes.
std::string autoscaler_scenario(const std::string& groups, const std::string& jobs,
                                const std::string& rest = "", const std::string& more = "",
                                const std::string& level = "delays", const std::string& args = "") {
  return "cluster:\n  pools:\n    - {name: old, machine: dgx-a100, count: 2}\n"
         "    - {name: new, machine: dgx-a100, count: 10}\n"
         "control_plane:\n  level: " +
         level + "\n  autoscaler:\n    groups: [" + groups + "]\n" + more +
         "workload:\n  sources:\n    - kind: jobs\n      jobs:\n" + jobs +
         with_autoscaler(rest, args);
}

std::string pods(int count, const std::string& more, int gpus = 8) {
  return "        - {kind: pods, pods: " + std::to_string(count) +
         ", pod: {gpus: " + std::to_string(gpus) + "}, " + more + "}\n";
}

std::vector<ScalingRow> scaling(ScenarioRun& run) {
  return run.recorder.rows<ScalingRow>("/events/scaling");
}

std::string size_changes(ScenarioRun& run) {
  std::string text;
  for (const ScalingRow& row : scaling(run)) {
    const std::string kind{enum_names(row.kind)[static_cast<size_t>(row.kind)]};
    text += (text.empty() ? "" : ", ") + kind + ' ' + std::to_string(row.nodes) + " to " +
            std::to_string(row.size) + " at " + std::to_string((row.time - Time{}) / 1_s);
  }
  return text;
}

TEST(ClusterAutoscaler, NodesComeForPodsThatFindNone) {
  for (const std::string level : {"delays", "full"}) {
    SCOPED_TRACE(level);
    ScenarioRun run{autoscaler_scenario("{pool: new, " + kFixed + "}",
                                        pods(5, "work: 1h, submit: 33s"), "run: {until: 30min}\n",
                                        "", level)};
    EXPECT_EQ(size_changes(run), "up 3 to 3 at 40");
    const ScalingRow row = scaling(run).front();
    EXPECT_EQ(row.pods, 3U);
    EXPECT_EQ(row.pool.view(), "new");
    EXPECT_GT(row.waited_max, 6500_ms);
    EXPECT_LT(row.waited_max, 7_s);
    EXPECT_EQ(count(run, "pods_scheduled"), 5);
    EXPECT_EQ(count(run, "nodes_joined"), 3);
    for (const BootRow& boot : run.recorder.rows<BootRow>("/events/boots")) {
      EXPECT_EQ(boot.asked, Time{} + 40_s + 3_min);
      EXPECT_GE(boot.node.index, 2U);
    }
  }
}

TEST(ClusterAutoscaler, ALoopThatTakesTimeActsAtItsEnd) {
  ScenarioRun run{autoscaler_scenario("{pool: new, " + kFixed + "}",
                                      pods(3, "work: 1h, submit: 33s"), "run: {until: 30min}\n"),
                  {"policy.controllers[0].args.time_per_node=10s"}};
  // A loop takes 10 s for each of two nodes. So loops begin at 10, 30, 50 s. The loop that begins
  // at 50 s is the first to see the pods submitted at 33 s. It acts at 70 s.
  EXPECT_EQ(size_changes(run), "up 1 to 1 at 70");
  EXPECT_GT(scaling(run).front().waited_max, 36_s);
}

TEST(ClusterAutoscaler, PodsThatFitOnWhatIsThereOrComesNeedNoMore) {
  ScenarioRun run{autoscaler_scenario("{pool: new, " + kFixed + "}",
                                      pods(2, "work: 1h") + pods(3, "work: 1h, submit: 5s", 2) +
                                          pods(1, "work: 1h, submit: 1min", 2) +
                                          pods(1, "work: 1h, submit: 2min", 1),
                                      "run: {until: 30min}\n")};
  EXPECT_EQ(size_changes(run), "up 1 to 1 at 10, up 1 to 2 at 130");
}

TEST(ClusterAutoscaler, AGangAsksForAllTheNodesThatItLacks) {
  ScenarioRun run{autoscaler_scenario("{pool: new, " + kFixed + "}",
                                      "        - {work: 1h, pods: 7, pod: {gpus: 8}}\n",
                                      "policy: {base: strict_gang}\nrun: {until: 30min}\n")};
  EXPECT_EQ(size_changes(run), "up 5 to 5 at 10");
  EXPECT_EQ(count(run, "pods_scheduled"), 7);
}

// Two of seven members find a node each and wait in Permit. The third member finds no node, so
// PostFilter rejects the two waiting members.
TEST(ClusterAutoscaler, MembersThatPermitTurnedAwayAreCountedToo) {
  ScenarioRun run{autoscaler_scenario(
      "{pool: new, " + kFixed + "}", "        - {work: 1h, pods: 7, pod: {gpus: 8}}\n",
      "policy:\n  base: coscheduling\n  plugins:\n    - {name: Coscheduling, "
      "args: {podGroupBackoffSeconds: 60}}\nrun: {until: 30min}\n")};
  EXPECT_EQ(size_changes(run), "up 5 to 5 at 10");
  EXPECT_EQ(scaling(run).front().pods, 5U);
  EXPECT_GT(scaling(run).front().waited_max, 9_s);
  EXPECT_EQ(count(run, "pods_scheduled"), 7);
}

TEST(ClusterAutoscaler, GroupsStayWithinTheirLimits) {
  ScenarioRun run{autoscaler_scenario(
      "{pool: new, nodes_max: 5, nodes_at_start: 1, " + kFixed + "}", pods(20, "work: 2h"),
      "run: {until: 1h}\n", "", "delays", "nodes_per_scale_up: 3")};
  EXPECT_EQ(size_changes(run), "up 3 to 4 at 10, up 1 to 5 at 20");
  EXPECT_EQ(count(run, "pods_scheduled"), 7);
}

TEST(ClusterAutoscaler, TheFirstGroupThatHelpsGrows) {
  std::string yaml = autoscaler_scenario(
      "{pool: old, nodes_at_start: 1, " + kFixed + "}, {pool: new, " + kFixed + "}",
      pods(4, "work: 1h"), "run: {until: 30min}\n");
  ScenarioRun run{yaml};
  EXPECT_EQ(size_changes(run), "up 1 to 2 at 10, up 2 to 2 at 20");
  EXPECT_EQ(scaling(run)[0].pool.view(), "old");
  EXPECT_EQ(scaling(run)[1].pool.view(), "new");
}

TEST(ClusterAutoscaler, IdleNodesGoAndComeAgain) {
  for (const std::string level : {"delays", "full"}) {
    SCOPED_TRACE(level);
    ScenarioRun run{autoscaler_scenario("{pool: new, nodes_min: 1, " + kFixed + "}",
                                        pods(6, "work: 20min") + pods(6, "work: 20min, submit: 2h"),
                                        "run: {until: 3h}\n", "", level,
                                        "scale_down: {parallel: 1}")};
    // The first three pods run on existing nodes and end at 1,201 s. The other three run on nodes
    // that came at 190 s, and end at 1,391 s. A node is removed 10 min after its pod has ended.
    EXPECT_EQ(size_changes(run),
              "up 3 to 4 at 10, down 1 to 3 at 1810, down 1 to 2 at 2000, down 1 to 1 at 2010, "
              "up 3 to 4 at 7210, down 1 to 3 at 9010, down 1 to 2 at 9200, down 1 to 1 at 9210");
    EXPECT_EQ(count(run, "nodes_joined"), 6);
    EXPECT_EQ(count(run, "nodes_taken_away"), 6);
    EXPECT_EQ(count(run, "pods_lost"), 0);
    EXPECT_EQ(count(run, "jobs_completed"), 2);
    EXPECT_EQ(run.recorder.rows<NodesSample>("/timeline/nodes").back().ready, 3U);
    const AutoscalerSample last =
        run.recorder.rows<AutoscalerSample>("/timeline/autoscaler").back();
    EXPECT_EQ(last.size, 1U);
    EXPECT_EQ(last.asked, 0U);
    EXPECT_EQ(last.idle, 1U);
  }
}

// A fifth pod waits, so the autoscaler requests a node at 10 s. Two nodes become idle at 120 s, and
// the pod takes one of them. The other stays idle, and so does the requested node, which comes at
// 190 s.
TEST(ClusterAutoscaler, NothingGoesSoonAfterNodesWereAskedFor) {
  const auto told_with = [](const std::string& delay) {
    ScenarioRun run{autoscaler_scenario(
        "{pool: new, nodes_at_start: 2, " + kFixed + "}",
        pods(2, "work: 3h") + pods(2, "work: 2min") + pods(1, "work: 3h, submit: 1s"),
        "run: {until: 1h}\n", "", "delays",
        "scale_down: {unneeded_time: 1min, delay_after_add: " + delay + "}")};
    return size_changes(run);
  };
  EXPECT_EQ(told_with("10min"), "up 1 to 3 at 10, down 2 to 1 at 610");
  EXPECT_EQ(told_with("0s"), "up 1 to 3 at 10, down 1 to 2 at 190, down 1 to 1 at 260");
}

TEST(ClusterAutoscaler, ExpendablePodsDoNotCount) {
  const auto jobs = [](int priority) {
    return "        - {kind: pods, pods: 3, pod: {gpus: 8}, work: 1h, priority: " +
           std::to_string(priority) + "}\n";
  };
  ScenarioRun none{
      autoscaler_scenario("{pool: new, " + kFixed + "}", jobs(-11), "run: {until: 30min}\n")};
  EXPECT_EQ(size_changes(none), "");
  ScenarioRun some{
      autoscaler_scenario("{pool: new, " + kFixed + "}", jobs(-10), "run: {until: 30min}\n")};
  EXPECT_EQ(size_changes(some), "up 1 to 1 at 10");
  // The autoscaler ignores pods of priority -11. So it removes the node on which such a pod runs,
  // although the pod fits on no other node.
  ScenarioRun gone{autoscaler_scenario("{pool: new, nodes_at_start: 1, " + kFixed + "}", jobs(-11),
                                       "run: {until: 30min}\n")};
  EXPECT_EQ(size_changes(gone), "down 1 to 0 at 610");
  EXPECT_EQ(count(gone, "pods_lost"), 1);
}

TEST(ClusterAutoscaler, NodesThatDoNotComeAreGivenUp) {
  ScenarioRun run{
      autoscaler_scenario("{pool: new, provisioning: {kind: discrete, values: [1s, 4h], weights: "
                          "[0, 1]}}",
                          pods(3, "work: 3h"), "run: {until: 100min}\n")};
  EXPECT_EQ(size_changes(run),
            "up 1 to 1 at 10, timed_out 1 to 0 at 910, up 1 to 1 at 1210, timed_out 1 to 0 at "
            "2110, up 1 to 1 at 2710, timed_out 1 to 0 at 3610, up 1 to 1 at 4810, timed_out 1 to "
            "0 at 5710");
  EXPECT_EQ(count(run, "nodes_timed_out"), 4);
  const auto samples = run.recorder.rows<AutoscalerSample>("/timeline/autoscaler");
  EXPECT_TRUE(std::ranges::any_of(samples, &AutoscalerSample::backs_off));
}

TEST(ClusterAutoscaler, BrokenNodesAreNotAskedFor) {
  ScenarioRun run{autoscaler_scenario("{pool: new, " + kFixed + "}", pods(3, "work: 1h"),
                                      "faults: {list: [{node: new-0, at: 1s, repair: 10h}]}\n"
                                      "run: {until: 30min}\n")};
  ASSERT_EQ(run.recorder.rows<BootRow>("/events/boots").size(), 1U);
  EXPECT_EQ(run.recorder.rows<BootRow>("/events/boots").front().node.index, 3U);
}

TEST(ClusterAutoscaler, DeadNodesGoAfterTwentyMinutes) {
  for (const std::string level : {"delays", "full"}) {
    SCOPED_TRACE(level);
    ScenarioRun run{autoscaler_scenario("{pool: new, nodes_at_start: 2, " + kFixed + "}",
                                        pods(4, "work: 3h"),
                                        "faults: {list: [{node: new-0, at: 20min, repair: 2h}]}\n"
                                        "run: {until: 4h}\n",
                                        "", level)};
    const std::vector<ScalingRow> rows = scaling(run);
    ASSERT_GE(rows.size(), 2U) << size_changes(run);
    EXPECT_EQ(rows[0].kind, ScalingKind::Up);  // a node for the pod that the failure killed
    EXPECT_EQ(rows[0].nodes, 1U);
    EXPECT_EQ(rows[1].kind, ScalingKind::DownUnready);
    EXPECT_GE(rows[1].time, Time{} + 40_min + 40_s);
    EXPECT_LE(rows[1].time, Time{} + 42_min);
    EXPECT_EQ(run.recorder.rows<NodesSample>("/timeline/nodes").back().not_ready, 0U);
    EXPECT_EQ(count(run, "jobs_completed"), 1);
  }
}

TEST(ClusterAutoscaler, ARunWithoutEndWaitsForNodesOnTheirWay) {
  ScenarioRun run{autoscaler_scenario("{pool: new, provisioning: {kind: fixed, value: 10h}}",
                                      "        - {work: 1h, pods: 3, pod: {gpus: 8}}\n",
                                      "policy: {base: strict_gang}\nrun: {stall_limit: 30min}\n",
                                      "    provision_time_max: 20h\n")};
  EXPECT_EQ(count(run, "jobs_completed"), 1);
}

TEST(ClusterAutoscaler, ARunWithoutEndGivesUpNodesThatNeverCome) {
  ScenarioRun run{
      autoscaler_scenario("{pool: new, provisioning: {kind: discrete, values: [1s, 4h], weights: "
                          "[0, 1]}}",
                          "        - {work: 1h, pods: 3, pod: {gpus: 8}}\n",
                          "policy: {base: strict_gang}\nrun: {stall_limit: 1d}\n")};
  EXPECT_EQ(run.result.end, SimulationResult::End::Stalled);
}

// Gangs start and end, nodes fail, and some nodes take too long to be provisioned.
TEST(ClusterAutoscaler, SizesAddUpWhateverHappens) {
  for (const std::string level : {"delays", "full"}) {
    for (int seed = 1; seed <= (test::kIsSanitized ? 1 : 5); ++seed) {
      SCOPED_TRACE(level + ", seed " + std::to_string(seed));
      ScenarioRun run{
          "cluster: {pools: [{name: old, machine: dgx-a100, count: 2}, {name: new, machine: "
          "dgx-a100, count: 30}]}\ncontrol_plane:\n  level: " +
              level +
              "\n  autoscaler:\n    groups: [{pool: new, nodes_min: 2, nodes_max: 25, "
              "nodes_at_start: "
              "5, provisioning: {kind: lognormal, median: 5min, sigma: 1}}]\n"
              "    provision_time_max: 10min\nfaults: {nodes: [{name: n, rate: 2000, repair: "
              "{kind: "
              "exponential, mean: 2h}}]}\nworkload:\n  sources:\n    - kind: generator\n"
              "      arrival_rate: 12\n      gpus_per_pod_max: 8\n      shape: {kind: classes, "
              "classes: [{gpus: {kind: discrete, values: [1, 8, 32, 64], weights: [2, 2, 1, 1]}, "
              "duration: {kind: exponential, mean: 40min}}]}\n"
              "policy: {base: strict_gang}\nrun: {until: 2d, seed: " +
              std::to_string(seed) + "}\n",
          {},
          {.audit_every = 10}};
      const auto last = run.recorder.rows<AutoscalerSample>("/timeline/autoscaler").back();
      const int64_t gone = count(run, "nodes_taken_away") + count(run, "nodes_timed_out");
      EXPECT_EQ(last.size, 5 + count(run, "nodes_asked") - gone);
      uint32_t size = 5;
      for (const ScalingRow& row : scaling(run)) {
        size = row.kind == ScalingKind::Up ? size + row.nodes : size - row.nodes;
        EXPECT_EQ(row.size, size);
        EXPECT_LE(size, 25U);
        if (row.kind == ScalingKind::Down || row.kind == ScalingKind::DownUnready) {
          EXPECT_GE(size, 2U);
        }
      }
      EXPECT_GT(count(run, "nodes_timed_out"), 0);
      EXPECT_GT(count(run, "nodes_failed"), 0);
      EXPECT_GT(count(run, "jobs_completed"), 300);
    }
  }
}

// The group's minimum equals its maximum, so nodes are neither added nor removed.
TEST(ClusterAutoscaler, AGroupWhoseMinimumIsItsPoolStaysAsItIs) {
  for (const std::string group : {"nodes_min: 10", "nodes_min: 3, nodes_max: 3"}) {
    ScenarioRun run{
        autoscaler_scenario("{pool: new, " + group + "}", pods(20, "work: 1h")), {}, {}};
    EXPECT_EQ(size_changes(run), "") << group;
    EXPECT_EQ(count(run, "autoscaler_halted"), 0);
    EXPECT_GT(count(run, "autoscaler_loops"), 0);
  }
}

TEST(ClusterAutoscaler, MistakesAreRefusedWhereTheyAre) {
  const auto errors = [](const std::string& groups, const std::string& more = "",
                         const std::string& level = "full", const std::string& rest = "") {
    return test::mistakes_of_scenario(
        autoscaler_scenario(groups, pods(1, "work: 1s"), rest, more, level));
  };
  EXPECT_EQ(errors("{pool: new}"), "");
  EXPECT_THAT(errors("{pool: newt}"),
              HasSubstr("s.yaml:8:21: control_plane.autoscaler.groups[0].pool: no pool is called "
                        "'newt'; did you mean 'new'"));
  EXPECT_THAT(errors(""), HasSubstr("groups: must not be empty"));
  EXPECT_THAT(errors("{pool: new}, {pool: new}"),
              HasSubstr("groups[1].pool: is the pool of groups[0] already"));
  EXPECT_THAT(errors("{pool: new, nodes_max: 11}"),
              HasSubstr("nodes_max: pool 'new' has 10 nodes"));
  EXPECT_THAT(errors("{pool: new, nodes_at_start: 11}"),
              HasSubstr("nodes_at_start: pool 'new' has 10 nodes"));
  EXPECT_THAT(errors("{pool: new, nodes_min: 11}"),
              HasSubstr("nodes_min: pool 'new' has 10 nodes"));
  EXPECT_THAT(errors("{pool: new, nodes_min: 3, nodes_at_start: 2}"),
              HasSubstr("nodes_at_start: must not be below nodes_min"));
  EXPECT_THAT(errors("{pool: new, nodes_max: 3, nodes_at_start: 4}"),
              HasSubstr("nodes_at_start: must not be above nodes_max"));
  EXPECT_THAT(
      errors("{pool: new, provisioning: {kind: fixed, value: 15min}}"),
      HasSubstr("groups[0].provisioning: takes at least 15min: all nodes would be given up"));
  EXPECT_THAT(errors("{pool: new}", "    backoff: 1h\n"), HasSubstr("backoff: must not be longer"));
  EXPECT_THAT(errors("{pool: new}", "  joins: [{pool: new, nodes: 1, at: 1s}]\n"),
              HasSubstr("groups[0].pool: the pool is also in control_plane.joins"));
  EXPECT_THAT(errors("{pool: new}", "", "full", "policy: {job_queue: {}}\n"),
              HasSubstr("control_plane.autoscaler: does not go with policy.job_queue"));
}

}  // namespace
}  // namespace orrery
