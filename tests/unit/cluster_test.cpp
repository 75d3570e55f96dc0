// Whole runs: accounts of GPU seconds, how runs end or stall, statistics over jobs, and a gang of
// unlike members. Also: too many pools are rejected.
#include "models/cluster/cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

constexpr const char* kTwoNodes = R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 4}]
  pools: [{name: n, machine: box, count: 2}]
)";

std::string with_jobs(const std::string& jobs) {
  return kTwoNodes + ("workload: {sources: [{kind: jobs, jobs: [" + jobs + "]}]}\n");
}

double figure(const ScenarioRun& run, std::string_view name) {
  for (const SummaryValue& value : run.result.summary) {
    if (value.name != name) continue;
    return std::visit([](auto x) { return static_cast<double>(x); }, value.value);
  }
  ADD_FAILURE() << "no figure is called " << name;
  return -1;
}

using End = SimulationResult::End;

TEST(ClusterParams, SoManyPoolsAreRejectedBeforeTheyAreCompared) {
  std::string yaml = "cluster:\n  pools:\n";
  for (int i = 0; i < 20'000; ++i) {
    yaml += "  - {machine: dgx-a100, count: 1, name: p" + std::to_string(i) + "}\n";
  }
  Diagnostics diagnostics;
  const config::Document document = config::load_text(yaml, "many.yaml", diagnostics);
  static_cast<void>(read_scenario(document, diagnostics));
  EXPECT_THAT(diagnostics.text(), testing::HasSubstr("has 20000 entries; at most 10000"));
}

TEST(Cluster, EveryGpuSecondAllocatedIsInOneColumnOfItsJob) {
  // Each of two jobs needs three of the four nodes. So members wait in Permit, hold nodes
  // meanwhile, and are rejected.
  ScenarioRun run{R"(
cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}
policy: {base: coscheduling}
workload:
  training: {checkpoint_interval: 1min, checkpoint_write: 6s, restore: 10s}
  sources:
    - kind: jobs
      jobs:
        - {name: a, work: 3min, pods: 3, pod: {gpus: 8}}
        - {name: b, work: 3min, pods: 3, pod: {gpus: 8}}
        - {name: c, submit: 10s, work: 8min, pods: 1, pod: {gpus: 8}}
faults:
  nodes: [{name: node, rate: 100000, repair: {kind: exponential, mean: 1min}}]
run: {until: 12min, seed: 3}
)",
                  {},
                  {}};
  EXPECT_GT(figure(run, "restarts"), 0);
  double all = 0, useful = 0, lost = 0, held = 0;
  for (const JobRow& row : run.jobs()) {
    useful += row.gpu_s_useful;
    lost += row.gpu_s_lost;
    held += row.gpu_s_held;
    all += row.gpu_s_useful + row.gpu_s_lost + row.gpu_s_checkpoint + row.gpu_s_restore +
           row.gpu_s_held + row.gpu_s_hung;
  }
  EXPECT_GE(held, 8 * 60) << "a member waited out the Permit timeout";
  EXPECT_NEAR(all, figure(run, "gpu_s_allocated"), 1e-6 * all);
  EXPECT_NEAR(useful, figure(run, "gpu_s_useful"), 1e-6 * all);
  EXPECT_NEAR(lost, figure(run, "gpu_s_lost"), 1e-6 * all);
  EXPECT_NEAR(useful + lost, figure(run, "gpu_s_computing"), 1e-6 * all);
}

// With `driver: counting` jobs have no pods. Each job requests all 8 GPUs of the cluster. SRTF
// stops the long job for the short ones; Lucid lets two jobs share GPUs.
TEST(Cluster, CountedJobsHoldGpusComputeAndDrawPowerAsThoseOnNodes) {
  for (const char* const policy : {"SRTF", "Lucid"}) {
    SCOPED_TRACE(policy);
    ScenarioRun run{kTwoNodes + std::string{R"(
workload:
  training: {checkpoint_interval: 5min, checkpoint_write: 30s, restore: 1min}
  sources:
    - kind: jobs
      jobs:
        - {name: long, work: 2h, training: {init: 20s}, pods: 2, pod: {gpus: 4}, team: red}
        - {name: short, submit: 10min, work: 4min, count: 3, every: 20min, pods: 2, pod: {gpus: 4}}
policy: {driver: counting, job_queue: {policies: [{name: )"} +
                        policy + R"(}]}}
record: {timeline: {interval: 1min, teams_interval: 1min}}
)",
                    {},
                    {}};
    double all = 0;
    for (const JobRow& row : run.jobs()) {
      all += row.gpu_s_useful + row.gpu_s_lost + row.gpu_s_checkpoint + row.gpu_s_restore +
             row.gpu_s_held + row.gpu_s_hung;
    }
    EXPECT_GT(all, 8 * 7200);
    EXPECT_NEAR(all, figure(run, "gpu_s_allocated"), 1e-6 * all);
    double allocated = 0, computing = 0, watts = 0, teams = 0;
    for (const ClusterSample& row : run.recorder.rows<ClusterSample>("/timeline/cluster")) {
      EXPECT_LE(row.gpus_computing, row.gpus_reported);
      EXPECT_LE(row.gpus_reported, row.gpus_allocated);
      EXPECT_LE(row.gpus_allocated, 8);
      allocated += row.gpus_allocated;
      computing += row.gpus_computing;
      watts += row.gpu_power_watts;
    }
    for (const TeamSample& row : run.recorder.rows<TeamSample>("/timeline/teams")) {
      teams += row.gpus_allocated;
    }
    EXPECT_NEAR(allocated * 60, all, 8 * 60) << "but for the last, shorter interval";
    EXPECT_NEAR(teams, allocated, 16);
    EXPECT_NEAR(computing * 60, figure(run, "gpu_s_computing"), 0.02 * all);
    EXPECT_NEAR(watts * 60 / 3.6e6, figure(run, "gpu_energy_kwh"), 0.1);
  }
}

double accounted(ScenarioRun& run) {
  double all = 0;
  for (const JobRow& row : run.jobs()) {
    all += row.gpu_s_useful + row.gpu_s_lost + row.gpu_s_exchange + row.gpu_s_checkpoint +
           row.gpu_s_restore + row.gpu_s_held + row.gpu_s_hung;
  }
  return all;
}

// Both jobs share the same 4 GPUs from the start. So each job is charged for half of the GPU time
// of its 60 s of `init`: 60 s * 2 GPUs.
TEST(Cluster, CountedJobsThatStartHoldWhatTheirShareOfTheTimeIs) {
  const std::string text = kTwoNodes + std::string{R"(
workload:
  training: {init: 1min}
  sources: [{kind: jobs, jobs: [{work: 2min, count: 2, pods: 1, pod: {gpus: 4}, application: a}]}]
policy:
  driver: counting
  job_queue:
    policies: [{name: Lucid, args: {busy_arrivals: -1, scores: [{application: a, score: 0}]}}]
)"};
  ScenarioRun whole{text, {}, {}};
  EXPECT_NEAR(accounted(whole), figure(whole, "gpu_s_allocated"), 1e-6);
  for (const JobRow& row : whole.jobs()) EXPECT_NEAR(row.gpu_s_held, 60 * 2, 1e-6);
  ScenarioRun cut{text + "run: {until: 20s}\n", {}, {}};
  EXPECT_NEAR(accounted(cut), 20 * 4, 1e-6) << "a run that ends meanwhile";
  EXPECT_NEAR(figure(cut, "gpu_s_allocated"), 20 * 4, 1e-6);
}

TEST(RunEnd, WhatComputesUntilThenIsAccountedForThoughNothingHappensAnyMore) {
  ScenarioRun run{kTwoNodes + std::string{R"(
workload: {sources: [{kind: service, name: s, pod: {gpus: 1}, load: [{at: 0s, load: 1}]}]}
record: {timeline: {interval: 4min}}
run: {until: 10min}
)"},
                  {},
                  {}};
  EXPECT_NEAR(accounted(run), 600, 1e-6);
  EXPECT_NEAR(figure(run, "gpu_s_allocated"), 600, 1e-6);
}

TEST(RunEnd, AJobThatComputesForLongIsNoStall) {
  ScenarioRun run{with_jobs("{work: 100d, pods: 2, pod: {gpus: 4}}")};
  EXPECT_EQ(run.result.end, End::Done);
  EXPECT_EQ(figure(run, "jobs_completed"), 1);
}

TEST(RunEnd, ALongPauseBetweenTwoJobsIsNoStall) {
  ScenarioRun run{
      with_jobs("{work: 1h, pod: {gpus: 4}}, {submit: 100d, work: 1h, pod: {gpus: 4}}")};
  EXPECT_EQ(run.result.end, End::Done);
  EXPECT_EQ(figure(run, "jobs_completed"), 2);
}

TEST(RunEnd, AJobThatNeverFitsStallsTheRunOnceNothingElseIsLeft) {
  ScenarioRun run{with_jobs("{work: 100d, pod: {gpus: 4}}, {work: 1h, pods: 3, pod: {gpus: 4}}"),
                  {"policy.base=strict_gang", "run.stall_limit=10d", "run.futile_attempts=100000"}};
  EXPECT_EQ(run.result.end, End::Stalled);
  EXPECT_EQ(figure(run, "jobs_completed"), 1);
  EXPECT_EQ(figure(run, "jobs_unfinished"), 1);
  EXPECT_GE(run.result.simulated, Time{} + 110_d);
  EXPECT_LE(run.result.simulated, Time{} + 120_d);
}

TEST(JobFigures, AreThoseOfTheNearestRank) {
  // The jobs run one after the other, because each needs all GPUs. They wait for 0, 1, 2 and 3 h.
  const std::string job = "{work: 1h, pods: 2, pod: {gpus: 4}}";
  ScenarioRun run{with_jobs(job + "," + job + "," + job + "," + job), {"policy.base=strict_gang"}};
  EXPECT_NEAR(figure(run, "wait_p50"), 3600, 1);
  EXPECT_NEAR(figure(run, "wait_p99"), 3 * 3600, 1);
  EXPECT_NEAR(figure(run, "wait_mean"), 1.5 * 3600, 1);
  EXPECT_NEAR(figure(run, "jct_p50"), 2 * 3600, 1);
}

TEST(JobFigures, AreNoneWhenNoJobRan) {
  ScenarioRun run{with_jobs("{work: 1h, pods: 3, pod: {gpus: 4}}"),
                  {"policy.base=strict_gang", "run.until=1d"}};
  for (const char* name : {"wait_mean", "wait_p50", "wait_p99", "jct_mean", "jct_p50", "jct_p99"}) {
    EXPECT_TRUE(std::isnan(figure(run, name))) << name;
  }
}

TEST(GangCycle, AGangWhoseFirstAndLastMembersAreAlikeMayHoldOthersBetween) {
  ScenarioRun run{with_jobs("{work: 1h, gangs: [{roles: [{pod: {gpus: 4}}, "
                            "{pods: 4, pod: {gpus: 1}}, {pod: {gpus: 4}}]}]}"),
                  {"policy.base=strict_gang", "cluster.pools[0].count=3", "run.until=1d"}};
  EXPECT_EQ(figure(run, "jobs_completed"), 1);
}

}  // namespace
}  // namespace orrery
