// Whole runs, in which gangs exchange data over a fabric whose cables fail.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/faults/link_faults.hpp"
#include "models/telemetry/network_usage.hpp"
#include "models/workload/steps/gang_steps.hpp"
#include "sim/core/check.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

// Three nodes, each on a leaf of its own. A gang runs on the first two nodes. A step computes 1 s
// and exchanges 10 GB.
std::string training(const std::string& faults, const std::string& more = "") {
  return R"(
cluster: {pools: [{name: n, machine: dgx-a100, count: 3, nodes_per_leaf: 1}]}
network: {level: flow)" +
         more + R"(}
workload:
  training: {step: {compute: 1s, exchanges: [{bytes: 10GB}]}}
  sources: [{kind: jobs, jobs: [{work: 200s, pods: 2, pod: {gpus: 8}}]}]
policy: {base: strict_gang}
record: {timeline: {interval: 10s, teams_interval: 0s}}
faults: {links: {list: [)" +
         faults + "]}}\n";
}

double seconds_of(ScenarioRun& run) { return (run.jobs().at(0).ended - Time{}).seconds(); }

TEST(StalledGangs, AShortOutageStallsAGang) {
  ScenarioRun well{training("")};
  ScenarioRun run{training("{on: host-1.nic-5, at: 20s, until: 50s, flaw: {kind: dead}}")};
  EXPECT_EQ(run.jobs().at(0).restarts, 0);
  EXPECT_NEAR(seconds_of(run), seconds_of(well) + 30, 1e-6);
  for (const NetworkSample& row : run.recorder.rows<NetworkSample>("/timeline/network")) {
    const bool is_out = row.time >= Time{} + 20_s && row.time < Time{} + 50_s;
    EXPECT_EQ(row.gangs_still, is_out ? 1U : 0U) << row.time.seconds();
    EXPECT_EQ(row.cables_down, is_out ? 1U : 0U);
    if (row.time > Time{} + 25_s && is_out) {
      EXPECT_EQ(row.nic_rate, 0);
    }
  }
}

TEST(StalledGangs, NcclGivesUpAfterALongOutageAndTheGangComesBack) {
  ScenarioRun run{training("{on: host-1.nic-5, at: 20s, until: 58s, flaw: {kind: dead}}")};
  const auto recoveries = run.recorder.rows<RecoveryRow>("/events/recoveries");
  ASSERT_EQ(recoveries.size(), 1U);
  EXPECT_NEAR((recoveries[0].failed - Time{}).seconds(), 20 + 34.36, 0.01);
  EXPECT_EQ(recoveries[0].detected, recoveries[0].failed + 5_s);
  EXPECT_FALSE(recoveries[0].node.is_valid()) << "no node failed";
  EXPECT_EQ(run.jobs().at(0).restarts, 1);
  EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Completed);
  EXPECT_GT(mark_count("gangs.gave_up"), 0U);
  EXPECT_GT(mark_count("jobs.gang_aborted"), 0U);
}

TEST(StalledGangs, AGangGivesUpAgainAndAgainWhileItsLinkIsDead) {
  ScenarioRun run{
      training("{on: host-0.nic-0, at: 20s, flaw: {kind: dead}}", ", links: {retry_timeout: 1s}"),
      {"workload.training.restarts_max=3"}};
  EXPECT_EQ(run.jobs().at(0).restarts, 3);
  EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Failed);
  // NCCL gives up after 1 s. Each failure is detected after 5 s. Three restarts take 10 s each.
  EXPECT_NEAR(seconds_of(run), 20 + 4 * (1 + 5) + 3 * 10, 0.1);
}

// With `workload.steps: rate`, an outage stalls a gang at once. With `workload.steps: traced`, the
// outage stalls the gang at the gang's next exchange. So the two runs end at most one step apart.
TEST(StalledGangs, StepsThatAreTracedStallAndGiveUpAlike) {
  for (const char* const until : {"50s", "58s"}) {
    const std::string fault =
        "{on: host-1.nic-5, at: 20s, until: " + std::string{until} + ", flaw: {kind: dead}}";
    ScenarioRun rate{training(fault)};
    ScenarioRun traced{training(fault), {"workload.steps=traced"}};
    EXPECT_EQ(traced.jobs().at(0).restarts, rate.jobs().at(0).restarts);
    EXPECT_NEAR(seconds_of(traced), seconds_of(rate), 1.2) << until;
  }
  ScenarioRun well{training("")};
  ScenarioRun well_traced{training(""), {"workload.steps=traced"}};
  EXPECT_NEAR(seconds_of(well), seconds_of(well_traced), 1e-3 * seconds_of(well));
}

// In one run the outage begins at 95 s, while the gang writes the checkpoint that is due after 90 s
// of compute. In the other run the outage begins after the job's end.
TEST(StalledGangs, AnOutageWhileAGangPausesCostsFewEvents) {
  uint64_t events[2];
  for (const bool is_out : {false, true}) {
    const ScenarioRun run{std::string{R"(
cluster: {pools: [{name: n, machine: dgx-a100, count: 2, nodes_per_leaf: 1}]}
network: {level: flow, fabric: {rails: 1}, links: {retry_timeout: 3h}}
policy: {base: strict_gang}
storage: {stores: [{name: blob, write: 100MBps, read: 10GBps}]}
record: {timeline: {interval: 1h, teams_interval: 0s}}
faults: {links: {list: [{on: leaf-1, at: )"} +
                          (is_out ? "95s" : "9000s") +
                          R"(, until: 9900s, flaw: {kind: dead}}]}}
workload:
  training:
    checkpoint_interval: 90s
    checkpoint: {store: blob, bytes: 12GB}
    step: {compute: 10s, overlap: 0.9, exchanges: [{bytes: 20GB}]}
  sources: [{kind: jobs, jobs: [{work: 105s, pods: 2, pod: {gpus: 8}}]}]
)"};
    events[is_out ? 1 : 0] = run.result.events;
  }
  EXPECT_LT(events[1], events[0] + 50);
}

// The degraded cable is the only cable of a NIC, so every route of this NIC uses the cable.
// Rerouting for another failure must not make the gang faster.
TEST(StalledGangs, AGangThatIsReroutedOverTheSameLinksStaysAsSlow) {
  const std::string bent = "{on: host-1.nic-5, at: 10s, flaw: {kind: degraded}}";
  ScenarioRun run{training(bent)};
  ScenarioRun rerouted{training(bent + ", {on: host-2.nic-0, at: 30s, until: 40s, flaw: "
                                       "{kind: dead}}")};
  EXPECT_GT(seconds_of(run), 1000) << "a step takes 10 times as long";
  EXPECT_NEAR(seconds_of(rerouted), seconds_of(run), 1e-3);
}

// In a ring all-reduce over n = 16 ranks, a node sends 2 (n - 1) / n of the bytes to the other
// node. Each of its eight NICs carries an eighth of that.
TEST(StalledGangs, LinksCarryWhatStepsPutOnThem) {
  for (const char* const steps : {"rate", "traced"}) {
    ScenarioRun run{training(""), {std::string{"workload.steps="} + steps}};
    const double bytes = 200 * 10e9 / 8 * 2 * 15 / 16;
    size_t nics = 0, leaves = 0;
    for (const LinkRow& row : run.recorder.rows<LinkRow>("/links")) {
      (row.tier == CableTier::Nic ? nics : leaves) += 1;
      if (row.tier != CableTier::Nic) continue;
      EXPECT_NEAR(static_cast<double>(row.bytes_up.count), bytes, 0.006 * bytes) << steps;
      EXPECT_NEAR(static_cast<double>(row.bytes_down.count), bytes, 0.006 * bytes);
    }
    EXPECT_EQ(nics, 16U);
    EXPECT_EQ(leaves, 16U) << "one cable up from each leaf";
    double sent = 0, up = 0, seconds = 0;
    Time before;
    for (const NetworkSample& row : run.recorder.rows<NetworkSample>("/timeline/network")) {
      seconds = (row.time - std::exchange(before, row.time)).seconds();
      sent += row.nic_rate * seconds / 8;
      up += row.leaf_rate * seconds / 8;
      EXPECT_EQ(row.spine_rate, 0);
    }
    EXPECT_NEAR(sent, 16 * bytes, 0.006 * 16 * bytes) << steps;
    EXPECT_NEAR(up, 16 * bytes, 0.006 * 16 * bytes);
  }
}

TEST(StalledGangs, NothingIsCarriedWhileACheckpointIsWritten) {
  ScenarioRun run{
      training(""),
      {"workload.training.checkpoint_interval=50s", "workload.training.checkpoint_write=100s"}};
  const double bytes = 200 * 10e9 / 8 * 2 * 15 / 16;
  const auto rows = run.recorder.rows<LinkRow>("/links");
  ASSERT_FALSE(rows.empty());
  EXPECT_NEAR(static_cast<double>(rows[0].bytes_up.count), bytes, 0.2 * bytes)
      << "as the mean over the cycle of checkpoints, of which the last has no end";
}

TEST(NetworkUsage, TellsHowOftenAndHowLongACableWasDown) {
  ScenarioRun run{
      training("{on: host-1.nic-5, at: 20s, until: 30s, flaw: {kind: dead}}, "
               "{on: leaf-3.up-0, at: 25s, until: 27s, flaw: {kind: dead}}, "
               "{on: spine-0, at: 26s, until: 29s, flaw: {kind: dead}}, "
               "{on: host-0.nic-1, at: 40s, until: 50s, flaw: {kind: degraded}}")};
  std::map<std::string, LinkRow> rows;
  for (const LinkRow& row : run.recorder.rows<LinkRow>("/links")) {
    rows[std::string{row.name.view()}] = row;
  }
  EXPECT_EQ(rows.at("host-1.nic-5").times_down, 1U);
  EXPECT_EQ(rows.at("host-1.nic-5").downtime, 10_s);
  EXPECT_EQ(rows.at("leaf-3.up-0").times_down, 1U) << "its own death and its switch's are one";
  EXPECT_EQ(rows.at("leaf-3.up-0").downtime, 4_s);
  EXPECT_EQ(rows.at("leaf-3.up-0").upper.view(), "spine-0");
  EXPECT_EQ(rows.at("host-0.nic-1").symbol_errors, 2000);
  EXPECT_EQ(rows.at("host-0.nic-1").times_down, 0U);
  int64_t errors = 0;
  for (const NetworkSample& row : run.recorder.rows<NetworkSample>("/timeline/network")) {
    errors += row.symbol_errors;
  }
  EXPECT_EQ(errors, 2000);
}

}  // namespace
}  // namespace orrery
