// Nodes that join, die and come back, in whole runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "models/cluster/cluster.hpp"
#include "models/control_plane/kubelet/kubelet.hpp"
#include "models/control_plane/nodes/node_boots.hpp"
#include "models/control_plane/nodes/node_rows.hpp"
#include "models/faults/node_faults.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/support/shipped_run.hpp"
#include "tests/unit/control_plane/scenario_mistakes.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;

template <class Run>
int64_t count(const Run& run, std::string_view name) {
  const auto found = std::ranges::find(run.result.summary, name, &SummaryValue::name);
  EXPECT_NE(found, run.result.summary.end()) << name;
  return std::get<int64_t>(found->value);
}

std::string cluster_of(const std::string& control_plane, const std::string& rest, int nodes = 10) {
  return "cluster: {pools: [{name: old, machine: dgx-a100, count: " + std::to_string(nodes) +
         "}, {name: new, machine: dgx-a100, count: 40}]}\ncontrol_plane: " + control_plane + "\n" +
         rest + "\n";
}

constexpr int64_t kRequestsOfAJoin = 56;  // requests of one joining node with default parameters

const std::string kNoWork =
    "workload: {sources: [{kind: jobs, jobs: [{kind: pods, pods: 1, pod: {gpus: 1}, work: "
    "1s}]}]}\n";

std::vector<BootRow> boots(ScenarioRun& run) { return run.recorder.rows<BootRow>("/events/boots"); }

// ---- joins

TEST(Joins, EveryNodeJoinsOnceAndAsksForWhatItsParametersSay) {
  for (const std::string level : {"delays", "full"}) {
    SCOPED_TRACE(level);
    ScenarioRun run{cluster_of("{level: " + level + ", joins: [{pool: new, at: 10s}]}",
                               kNoWork + "run: {until: 5min}"),
                    {},
                    {.audit_every = 10}};
    EXPECT_EQ(count(run, "nodes_joined"), 40);
    EXPECT_EQ(count(run, "boot_requests"), 40 * kRequestsOfAJoin);
    EXPECT_EQ(count(run, "boot_requests_again"), 0);
    ASSERT_EQ(boots(run).size(), 40U);
    for (const BootRow& row : boots(run)) {
      EXPECT_TRUE(row.joins);
      EXPECT_GE(row.node.index, 10U);
      EXPECT_EQ(row.asked, Time{} + 10_s);
      EXPECT_EQ(row.entered, row.asked);
      EXPECT_GT(row.registered, row.entered);
      EXPECT_GT(row.ready, row.registered);
      EXPECT_GT(row.settled, row.registered);
    }
    for (const NodesSample& row : run.recorder.rows<NodesSample>("/timeline/nodes")) {
      EXPECT_EQ(row.ready, row.time < Time{} + 10_s ? 10U : 50U);
      EXPECT_EQ(row.not_ready, 0U);
    }
  }
}

TEST(Joins, NoPodIsBoundToANodeBeforeItIsReady) {
  ScenarioRun run{cluster_of("{level: full, joins: [{pool: new, at: 30s, over: 1min}]}",
                             "workload: {sources: [{kind: jobs, jobs: [{kind: pods, pods: 50, pod: "
                             "{gpus: 8}, work: 1h}]}]}"),
                  {},
                  {.audit_every = 1}};
  std::map<uint32_t, Time> ready;
  for (const BootRow& row : boots(run)) ready[row.node.index] = row.ready;
  size_t on_new = 0;
  for (const PodRow& row : run.recorder.rows<PodRow>("/pods")) {
    if (row.node.index < 10) continue;
    ++on_new;
    EXPECT_GE(row.bound, ready.at(row.node.index));
  }
  EXPECT_EQ(on_new, 40U);
  EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Completed);
}

TEST(Joins, ComeEvenlyAndInOrderAndTheGateHoldsThemToItsRate) {
  ScenarioRun even{
      cluster_of("{level: full, joins: [{pool: new, nodes: 10, at: 10s}, {pool: new, "
                 "nodes: 20, at: 20s, over: 10s}]}",
                 kNoWork + "run: {until: 5min}")};
  ASSERT_EQ(boots(even).size(), 30U);
  for (const BootRow& row : boots(even)) {
    // Position among the joining nodes, which are nodes 20 to 49.
    const int64_t place = int64_t{row.node.index} - 20;
    EXPECT_EQ(row.asked, Time{} + (place < 10 ? 10_s : 20_s + 500_ms * (place - 10)));
  }
  ScenarioRun gate{
      cluster_of("{level: full, node_join: {rate_max: 4, burst: 3}, joins: [{pool: new, "
                 "at: 10s}]}",
                 kNoWork + "run: {until: 5min}")};
  ASSERT_EQ(boots(gate).size(), 40U);
  for (const BootRow& row : boots(gate)) {
    const int64_t place = int64_t{row.node.index} - 10;
    EXPECT_EQ(row.entered, Time{} + 10_s + 250_ms * std::max<int64_t>(place - 2, 0)) << place;
  }
  EXPECT_GE(boots(gate).back().ready - boots(gate).back().asked, 9250_ms);
}

// While nodes join, all API servers are down for longer than any client waits.
TEST(Joins, NoRequestIsLostWithTheServers) {
  ScenarioRun run{
      cluster_of("{level: full, api_servers: {servers: 2}, joins: [{pool: new, at: 10s}], "
                 "losses: [{server: 0, at: 10010ms, until: 10min}, {server: 1, at: 10005ms, until: "
                 "11min}]}",
                 kNoWork + "run: {until: 30min}"),
      {},
      {.audit_every = 100}};
  EXPECT_EQ(count(run, "nodes_joined"), 40);
  EXPECT_GT(count(run, "boot_requests_again"), 0);
  EXPECT_EQ(count(run, "boot_requests") - count(run, "boot_requests_again"), 40 * kRequestsOfAJoin);
  for (const BootRow& row : boots(run)) EXPECT_GT(row.settled, Time{} + 10_min);
}

TEST(Joins, ANodeThatFailsOnItsWayBootsAgainWhenItIsRepaired) {
  ScenarioRun run{
      cluster_of("{level: full, node_join: {rate_max: 1}, joins: [{pool: new, nodes: 3, "
                 "at: 10s}]}",
                 kNoWork + "faults: {list: [{node: '49', at: 11s, repair: 1min}, {node: "
                           "'48', at: 5s, repair: 1min}]}\nrun: {until: 10min}"),
      {},
      {.audit_every = 1}};
  EXPECT_EQ(count(run, "nodes_joined"), 3);
  const auto rows = boots(run);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1].node.index, 49U) << "died at the gate";
  EXPECT_EQ(rows[1].entered, Time{-1});
  for (const size_t i : {size_t{0}, size_t{2}, size_t{3}}) EXPECT_GT(rows[i].settled, Time{});
  EXPECT_EQ(run.recorder.rows<FaultRow>("/events/faults").size(), 2U);
}

// At level full, nodes that join at the same time slow one another down; at level delays they do
// not.
TEST(Joins, OneNodeIsReadyNoEarlierWithFullThanWithDelays) {
  const auto time = [](const std::string& level, const std::string& nodes) {
    ScenarioRun run{
        cluster_of("{level: " + level + ", joins: [{pool: new, nodes: " + nodes + ", at: 10s}]}",
                   kNoWork + "run: {until: 5min}"),
        {},
        {}};
    Duration most;
    for (const BootRow& row : boots(run)) most = std::max(most, row.ready - row.asked);
    return most;
  };
  EXPECT_GT(time("delays", "1"), Duration{});
  EXPECT_EQ(time("delays", "1"), time("delays", "40"));
  EXPECT_GE(time("full", "1"), time("delays", "1"));
  EXPECT_GT(time("full", "40"), time("full", "1"));
}

// The second job needs more nodes than exist. The job queue admits it once enough nodes have joined
// and take pods.
TEST(Joins, AJobQueueAdmitsAJobOnceTheNodesItNeedsAreThere) {
  for (const std::string level : {"delays", "full"}) {
    ScenarioRun run{
        cluster_of("{level: " + level + ", joins: [{pool: new, at: 10min, over: 1min}]}",
                   "policy: {base: strict_gang, job_queue: {policies: [{name: EASY}]}}\n"
                   "workload: {sources: [{kind: jobs, jobs: [{pods: 8, pod: {gpus: 8}, work: 1h, "
                   "requested: 2h}, {pods: 42, pod: {gpus: 8}, work: 1h, requested: 2h}]}]}"),
        {},
        {.audit_every = 10}};
    const auto rows = run.jobs();
    ASSERT_EQ(rows.size(), 2U);
    Time last;
    for (const BootRow& row : boots(run)) last = std::max(last, row.ready);
    EXPECT_EQ(boots(run).size(), 40U);
    EXPECT_LT(rows[0].running, Time{} + 1_min) << level;
    EXPECT_GT(rows[1].created, last) << level;
    EXPECT_LT(rows[1].running, Time{} + 12_min) << level;
    for (const JobRow& row : rows) EXPECT_EQ(row.outcome, JobOutcome::Completed);
  }
}

// Case API-11: hundreds of nodes that join at one instant cause an outage. The same nodes, spread
// over a few seconds, do not.
TEST(Joins, AStormTakesTheServersDownAndAGateKeepsThemUp) {
  ShippedRun storm{"join-storm"}, smoothed{"join-smoothed"};
  EXPECT_GT(count(storm, "api_too_many"), 1'000);
  EXPECT_EQ(count(smoothed, "api_too_many"), 0);
  EXPECT_GT(count(storm, "api_lost"), 10'000);
  EXPECT_EQ(count(smoothed, "api_lost"), 0);
  EXPECT_EQ(count(storm, "nodes_joined"), 500);
  EXPECT_EQ(count(smoothed, "nodes_joined"), 500);
  const auto most = [](ShippedRun& run) {
    Duration wait;
    for (const JobRow& row : run.recorder.rows<JobRow>("/jobs")) wait = std::max(wait, row.wait);
    return wait;
  };
  EXPECT_GT(most(storm), 30_s);
  EXPECT_LT(most(smoothed), 1_s);
}

// ---- nodes that die

std::string gang(const std::string& control_plane, const std::string& faults,
                 const std::string& controller = "{}") {
  return cluster_of(control_plane,
                    "policy: {base: strict_gang}\nworkload:\n  controller: " + controller +
                        "\n  sources: [{kind: jobs, jobs: [{pods: 4, pod: {gpus: 8}, work: "
                        "1h}]}]\nfaults: {list: [" +
                        faults + "]}\n");
}

RecoveryRow recovery(ScenarioRun& run) {
  const auto rows = run.recorder.rows<RecoveryRow>("/events/recoveries");
  EXPECT_EQ(rows.size(), 1U);
  return rows.empty() ? RecoveryRow{} : rows[0];
}

// Case NL-1: the last heartbeat is less than 10 s before the failure. The node becomes NotReady
// more than 40 s and at most 45 s after that heartbeat. Its pods are evicted 300 s after the taint.
TEST(DeadNodes, AreNoticedAndTheirPodsEvictedByTheLifecycleController) {
  for (const std::string level : {"delays", "full"}) {
    SCOPED_TRACE(level);
    ScenarioRun run{gang("{level: " + level + "}", "{node: '0', at: 10min, repair: 1h}"), {}, {}};
    const Duration detection = recovery(run).detected - recovery(run).failed;
    const Duration last = last_heartbeat({0}, Time{} + 10_min, {}) - Time{};
    const Duration look = 5_s * ((last + 40_s) / 5_s + 1);
    EXPECT_GT(look - last, 40_s);
    EXPECT_LE(look - last, 45_s);
    const Duration gone = look + 300_s + unloaded_write({}, {5'000}) + unloaded_news({}) - 10_min;
    if (level == "delays") {
      EXPECT_EQ(detection, gone);
    } else {
      EXPECT_GE(detection, gone);
      EXPECT_LE(detection, gone + 1_ms);
    }
    EXPECT_EQ(count(run, "nodes_not_ready"), 1);
    EXPECT_EQ(count(run, "nodes_given_up"), 1);
    EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Completed);
  }
}

TEST(DeadNodes, ThatComeBackEarlierTellOfTheirPodsThemselves) {
  ScenarioRun run{gang("{level: full}", "{node: '0', at: 10min, repair: 2min}"), {}, {}};
  const Duration detection = recovery(run).detected - recovery(run).failed;
  EXPECT_GT(detection, 2_min);
  EXPECT_LT(detection, 2_min + 1_s);
  EXPECT_EQ(count(run, "nodes_not_ready"), 1);
  EXPECT_EQ(count(run, "nodes_given_up"), 0);
  ASSERT_EQ(boots(run).size(), 1U);
  EXPECT_FALSE(boots(run)[0].joins);
  EXPECT_EQ(count(run, "boot_requests"), kRequestsOfAJoin - 3) << "it has its certificate";
}

TEST(DeadNodes, AJobThatDetectsAFailureDoesNotWaitForTheController) {
  ScenarioRun own{
      gang("{level: full}", "{node: '0', at: 10min, repair: 1h}", "{failure_detection: 7s}"),
      {},
      {}};
  EXPECT_EQ(recovery(own).detected - recovery(own).failed, 7_s);
  ScenarioRun late{
      gang("{level: full}", "{node: '0', at: 10min, repair: 1h}", "{failure_detection: 20min}"),
      {},
      {}};
  EXPECT_LE(recovery(late).detected - recovery(late).failed, 346_s) << "the eviction is earlier";
  ScenarioRun hang{
      gang("{level: full}", "{node: '0', at: 10min, repair: 1h}", "{hang_timeout: 1min}"), {}, {}};
  EXPECT_EQ(recovery(hang).detected - recovery(hang).failed, 1_min);
  ScenarioRun none{gang("{level: none}", "{node: '0', at: 10min, repair: 1h}"), {}, {}};
  EXPECT_EQ(recovery(none).detected - recovery(none).failed, 5_s);
}

TEST(DeadNodes, LeaveTheirPodsToBeReplacedWhenTheyAreEvicted) {
  const std::string pods =
      "workload: {controller: {restart_delay: 10s}, sources: [{kind: jobs, jobs: [{kind: pods, "
      "pods: 3, pod: {gpus: 8}, work: 1h}]}]}\nfaults: {list: [{node: '0', at: 10min, repair: "
      "3h}]}";
  ScenarioRun run{cluster_of("{level: full}", pods), {}, {.audit_every = 1}};
  const RecoveryRow row = recovery(run);
  EXPECT_GT(row.detected - row.failed, 330_s);
  EXPECT_LE(row.detected - row.failed, 346_s);
  EXPECT_GE(row.recreated - row.detected, 10_s);
  EXPECT_LT(row.recreated - row.detected, 11_s);
  EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Completed);
  ScenarioRun failing{
      cluster_of(
          "{level: full}",
          "workload: {sources: [{kind: jobs, jobs: [{kind: pods, pods: 3, pod: {gpus: 8}, "
          "work: 1h, training: {restarts_max: 0}}]}]}\nfaults: {list: [{node: '0', at: 10min, "
          "repair: "
          "3h}]}"),
      {},
      {.audit_every = 1}};
  EXPECT_EQ(failing.jobs().at(0).outcome, JobOutcome::Failed);
  EXPECT_GT(failing.jobs().at(0).ended, Time{} + 10_min + 330_s);
}

// Case NL-4: while the only API server is down, no heartbeat arrives, yet no pod is evicted.
TEST(DeadNodes, WhenNoServerIsLeftNoPodIsEvicted) {
  ScenarioRun run{
      cluster_of(
          "{level: full, api_servers: {servers: 1}, losses: [{server: 0, at: 10min, until: "
          "20min}]}",
          "workload: {sources: [{kind: jobs, jobs: [{pods: 4, pod: {gpus: 8}, work: 1h}]}]}"),
      {},
      {}};
  EXPECT_EQ(count(run, "nodes_not_ready"), 50);
  EXPECT_EQ(count(run, "nodes_given_up"), 0);
  EXPECT_EQ(count(run, "cut_offs"), 1);
  EXPECT_EQ(run.jobs().at(0).restarts, 0);
  uint32_t most = 0;
  for (const NodesSample& row : run.recorder.rows<NodesSample>("/timeline/nodes")) {
    most = std::max(most, row.not_ready);
    if (row.time > Time{} + 21_min) {
      EXPECT_EQ(row.not_ready, 0U);
    }
    EXPECT_EQ(row.ready, 50U) << "they take pods: nobody can tell the scheduler";
  }
  EXPECT_EQ(most, 50U);
}

TEST(DeadNodes, NodesThatAreOnlyCutOffKeepTheirPodsEvenIfTheyAreTaintedFirst) {
  ScenarioRun run{
      cluster_of(
          "{level: full, api_servers: {servers: 1}, node_lifecycle: {toleration: 0s, "
          "taint_rate: 100}, losses: [{server: 0, at: 10min, until: 20min}]}",
          "workload: {sources: [{kind: jobs, jobs: [{pods: 4, pod: {gpus: 8}, work: 1h}]}]}"),
      {},
      {}};
  EXPECT_EQ(count(run, "nodes_given_up"), 0);
  EXPECT_EQ(run.jobs().at(0).restarts, 0);
}

TEST(DeadNodes, WhenEtcdIsFullAllNodesFallSilent) {
  ScenarioRun run{cluster_of("{level: full, etcd: {quota: 1MiB, request_max: 100kB}}",
                             kNoWork + "run: {until: 1h}")};
  EXPECT_EQ(count(run, "nodes_not_ready"), 50);
  EXPECT_EQ(count(run, "nodes_given_up"), 0);
  EXPECT_EQ(count(run, "cut_offs"), 1);
}

// ---- chaos

TEST(Chaos, TakesNodesDownInRounds) {
  ScenarioRun run{
      cluster_of("{level: none}",
                 "workload: {sources: [{kind: jobs, jobs: [{pods: 4, pod: {gpus: 8}, "
                 "work: 3h}]}]}\nfaults: {chaos: {failure_rate: 0.1}}\nrun: {until: 2h}"),
      {},
      {.audit_every = 10}};
  std::map<Time, int> rounds;
  for (const FaultRow& row : run.recorder.rows<FaultRow>("/events/faults")) {
    EXPECT_EQ(row.kind, FaultKind::Chaos);
    EXPECT_EQ(row.cause.view(), "chaos");
    if (row.repaired_at != Time{-1}) {
      EXPECT_EQ(row.repaired_at - row.at, 10_min);
    }
    ++rounds[row.at];
  }
  ASSERT_GE(rounds.size(), 4U);
  std::vector<int> sizes;
  for (const auto& [at, size] : rounds) sizes.push_back(size);
  EXPECT_EQ(std::vector<int>(sizes.begin(), sizes.begin() + 4), (std::vector<int>{5, 5, 4, 4}));
}

// ---- mistakes

TEST(Joins, MistakesAreRejectedWhereTheyAre) {
  const auto errors = [](const std::string& section, const std::string& rest = "") {
    return test::mistakes_of_scenario(cluster_of(section, kNoWork + rest));
  };
  EXPECT_EQ(errors("{level: full, joins: [{pool: new, at: 1s}]}"), "");
  EXPECT_THAT(errors("{level: full, joins: [{pool: newt, at: 1s}]}"),
              HasSubstr("s.yaml:2:45: control_plane.joins[0].pool: no pool is called 'newt'; did "
                        "you mean 'new'"));
  EXPECT_THAT(errors("{level: full, joins: [{pool: new, nodes: 30, at: 1s}, {pool: new, nodes: 11, "
                     "at: 2s}]}"),
              HasSubstr("joins[1].nodes: pool 'new' has 40 nodes; this entry and earlier ones of "
                        "the pool ask 41 to join"));
  EXPECT_THAT(errors("{level: full, joins: [{pool: new, nodes: 0, at: 1s}]}"), HasSubstr("nodes"));
  EXPECT_THAT(errors("{level: none}", "faults: {chaos: {failure_rate: 2}}\n"),
              HasSubstr("faults.chaos.failure_rate"));
}

}  // namespace
}  // namespace orrery
