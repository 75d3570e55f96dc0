// /events/control_plane and warnings of runs in which API servers or etcd fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "models/control_plane/control_plane_log.hpp"
#include "models/control_plane/control_plane_rows.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/support/shipped_run.hpp"
#include "tests/unit/control_plane/scenario_mistakes.hpp"

namespace orrery {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

int64_t number(const SimulationResult& result, std::string_view name) {
  const auto found = std::ranges::find(result.summary, name, &SummaryValue::name);
  EXPECT_NE(found, result.summary.end()) << name;
  return std::get<int64_t>(found->value);
}

template <class Run>
std::vector<ControlPlaneEventRow> events_of(Run& run) {
  return run.recorder.template rows<ControlPlaneEventRow>("/events/control_plane");
}

// The database fills, because periodic compaction is off. At 60 min an operator compacts and
// defragments it.
TEST(ControlPlaneLog, AFullEtcdTakesWritesAgainOnceItIsDefragmented) {
  ShippedRun run{"etcd-full"};
  const auto events = events_of(run);
  ASSERT_EQ(events.size(), 1 + 2 * 5 + 1U);
  EXPECT_EQ(events.front().event, ControlPlaneEvent::OutOfSpace);
  EXPECT_EQ(events.back().event, ControlPlaneEvent::SpaceBack);
  const Time full = events.front().time, back = events.back().time;
  EXPECT_GT(back, Time{} + 60_min);
  EXPECT_LT(back, Time{} + 60_min + 1_s);
  EXPECT_GE(events.front().file, 150_MiB);
  EXPECT_EQ(events.back().file, Bytes{45'000'000}) << "10,000 namespaces";
  EXPECT_EQ(number(run.result, "etcd_out_of_space"), 1);
  EXPECT_EQ(number(run.result, "etcd_defragmented"), 5);
  EXPECT_EQ(number(run.result, "cut_offs"), 1) << "no lease can be renewed";
  EXPECT_EQ(number(run.result, "nodes_given_up"), 0);
  EXPECT_THAT(run.result.warnings, Not(Contains(HasSubstr("was full at the end"))));
  double refused = 0, written = 0;
  for (const EtcdSample& row : run.recorder.rows<EtcdSample>("/timeline/etcd")) {
    if (row.time > full + 10_s && row.time < back) refused += row.refused;
    if (row.time > back + 10_s) {
      written += row.writes;
      EXPECT_EQ(row.refused, 0);
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(written, 0);
  int late = 0;
  for (const JobRow& job : run.recorder.rows<JobRow>("/jobs")) {
    if (job.submitted < full + 1_min || job.submitted > back - 1_min) continue;
    ++late;
    EXPECT_GT(job.running, back);
    EXPECT_LT(job.running, back + 5_min) << "its controller tried again";
  }
  EXPECT_GT(late, 10);
}

TEST(ControlPlaneLog, WithoutAnOperatorItIsFullToTheEnd) {
  ShippedRun run{"etcd-full", {"control_plane.etcd.defragmentations=[]"}};
  ASSERT_EQ(events_of(run).size(), 1U);
  EXPECT_THAT(run.result.warnings, Contains(HasSubstr("etcd was full at the end")));
}

std::string killed_servers(const std::string& more = "") {
  return "cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}\n"
         "control_plane: {level: full, events: {others_per_s: 10, readers: [{clients: 4, every: "
         "5min, from: etcd}]}, api_servers: {servers: 2, server: {heap: {limit: 1100MB, base: "
         "1GB}}}" +
         more +
         "}\nworkload:\n  sources: [{kind: jobs, jobs: [{pods: 1, pod: {gpus: 8}, work: "
         "110min}]}]\n"
         "run: {until: 2h}\n";
}

TEST(ControlPlaneLog, ServersThatAreKilledForTheirMemoryAreReported) {
  ScenarioRun run{killed_servers(", losses: [{server: 1, at: 10s, until: 20s}]"), {}, {}};
  const auto events = events_of(run);
  ASSERT_GT(events.size(), 3U);
  EXPECT_EQ(events[0].event, ControlPlaneEvent::ServerLost);
  EXPECT_EQ(events[0].number, 1U);
  EXPECT_EQ(events[1].event, ControlPlaneEvent::ServerBack);
  const auto kills = std::ranges::count(events, ControlPlaneEvent::ServerOutOfMemory,
                                        &ControlPlaneEventRow::event);
  EXPECT_GT(kills, 0);
  EXPECT_EQ(number(run.result, "api_servers_killed"), kills);
  EXPECT_THAT(run.result.warnings, Contains(HasSubstr("API servers were killed for their memory " +
                                                      std::to_string(kills) + " time")));
}

// In both scenarios Leases can fail to be stored, so node_lifecycle has an effect. In the first
// scenario API servers are killed for their memory. In the second, etcd can exceed its default
// quota.
TEST(ControlPlaneLog, NodeLifecycleMattersWhereverLeasesCannotBeStored) {
  const auto errors = [](const std::string& yaml) { return test::mistakes_of_scenario(yaml); };
  EXPECT_EQ(errors(killed_servers(", node_lifecycle: {grace: 20s}")), "");
  EXPECT_EQ(errors("cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}\ncontrol_plane: "
                   "{level: full, node_lifecycle: {grace: 20s}}\nworkload:\n  sources: [{kind: "
                   "jobs, jobs: [{pods: 1, pod: {gpus: 8}, work: 1min}]}]\n"),
            "");
}

TEST(ControlPlaneLog, NodesFallSilentWhileAllServersAreDownForTheirMemory) {
  ScenarioRun run{killed_servers(", node_lifecycle: {grace: 10s, monitor_period: 1s}"),
                  {"control_plane.api_servers.servers=1"},
                  {}};
  EXPECT_GT(number(run.result, "api_servers_killed"), 0);
  EXPECT_GT(number(run.result, "cut_offs"), 0);
}

}  // namespace
}  // namespace orrery
