// Useful GPU time, and GPU use of parameter servers and services, in whole runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "models/telemetry/cardiogram_rows.hpp"
#include "models/telemetry/timeline_rows.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

const std::string kNoSchedulingCost =
    "policy: {base: strict_gang, cost: {per_cycle: 0s, per_node: 0s, per_pod: 0s, bind: 0s}}\n";

double figure_of(const ScenarioRun& run, std::string_view name) {
  const auto found = std::ranges::find(run.result.summary, name, &SummaryValue::name);
  EXPECT_NE(found, run.result.summary.end()) << name;
  return std::get<double>(found->value);
}

// Returns the useful GPU seconds according to /timeline/useful. No row may be negative.
double useful_over_time(ScenarioRun& run) {
  double sum = 0;
  Time before;
  for (const UsefulSample& row : run.recorder.rows<UsefulSample>("/timeline/useful")) {
    EXPECT_GE(row.gpus_useful, 0) << row.time.ns;
    sum += row.gpus_useful * (row.time - before).seconds();
    before = row.time;
  }
  return sum;
}

void expect_useful_as_in_summary(ScenarioRun& run) {
  const double useful = figure_of(run, "gpu_s_useful");
  EXPECT_NEAR(useful_over_time(run), useful, 1e-9 * useful);
}

TEST(UsefulTime, ACheckpointOnALostDiskIsTakenFromTheTimeItWasComputedIn) {
  ScenarioRun run{R"(
cluster: {pools: [{name: g, machine: dgx-a100, count: 1}]}
storage: {local: {}}
workload:
  training: {checkpoint_interval: 1min, checkpoint: {store: local, bytes: 1GB}}
  sources: [{kind: jobs, jobs: [{work: 2h, pods: 1, kind: mpi_gang, pod: {gpus: 8}}]}]
faults: {list: [{node: g-0, at: 30min, repair: 1min}, {node: g-0, at: 80min, repair: 1min}]}
run: {until: 4h}
)"};
  expect_useful_as_in_summary(run);
  for (const UsefulSample& row : run.recorder.rows<UsefulSample>("/timeline/useful")) {
    if (row.time > Time{} + 80_min) break;
    EXPECT_EQ(row.gpus_useful, 0) << row.time.ns;
  }
}

TEST(UsefulTime, ALossWhileAGangWaitsForItsStoreIsNotTakenFromTheWait) {
  ScenarioRun run{R"(
cluster: {pools: [{name: g, machine: dgx-a100, count: 1}]}
storage: {stores: [{name: fs, write: 1GBps, read: 1GBps}]}
workload:
  training: {checkpoint_interval: 30min, checkpoint: {store: fs, bytes: 3TB}}
  sources: [{kind: jobs, jobs: [{work: 2h, pods: 1, kind: mpi_gang, pod: {gpus: 8}}]}]
faults: {list: [{node: g-0, at: 60min, repair: 1min}]}
run: {until: 4h}
)"};
  expect_useful_as_in_summary(run);
}

TEST(UsefulTime, AStepThatAStallUndoesIsNotTakenFromTheStall) {
  for (const char* const steps : {"rate", "traced"}) {
    SCOPED_TRACE(steps);
    ScenarioRun run{std::string{R"(
cluster: {pools: [{name: g, machine: dgx-a100, count: 2, nodes_per_leaf: 1}]}
network: {level: flow, links: {retry_timeout: 5min}}
workload:
  steps: )"} + steps +
                        R"(
  training:
    checkpoint_interval: 10min
    checkpoint_write: 1s
    step: {compute: 1s, exchanges: [{bytes: 1GB}]}
  sources: [{kind: jobs, jobs: [{name: a, work: 1h, pods: 2, pod: {gpus: 8}}]}]
faults: {links: {list: [{among: leaves, at: 25min, until: 40min, flaw: {kind: dead}}]}}
policy: {base: strict_gang}
run: {until: 4h}
)",
                    {},
                    {}};
    expect_useful_as_in_summary(run);
  }
}

// Lucid lets jobs share GPUs, so the amount of GPUs that a job holds changes while it runs.
TEST(UsefulTime, OfJobsWhoseShareOfTheirGpusChangesIsWhatTheirAccountsSay) {
  ScenarioRun run{R"(
cluster: {pools: [{name: g, machine: dgx-a100, count: 1}]}
workload:
  sources:
    - kind: jobs
      jobs:
        - {name: a, work: 50min, pod: {gpus: 8}, training: {checkpoint_interval: 20min}}
        - {name: b, submit: 7min, work: 20min, pod: {gpus: 8}}
        - {name: c, submit: 9min, work: 25min, pod: {gpus: 8}}
policy:
  driver: counting
  job_queue: {policies: [{name: Lucid, args: {score_of_others: 0, busy_arrivals: -1}}]}
)"};
  expect_useful_as_in_summary(run);
  double held = 0;
  for (const JobRow& job : run.jobs()) {
    held += job.gpu_s_useful + job.gpu_s_lost + job.gpu_s_held + job.gpu_s_exchange;
  }
  EXPECT_NEAR(held, figure_of(run, "gpu_s_allocated"), 1e-6);
}

// ---- parameter servers

std::string served_gang(const std::string& level, const std::string& steps) {
  return "cluster: {pools: [{name: gpu, machine: dgx-a100, count: 3}]}\nnetwork: {level: " + level +
         "}\n" + kNoSchedulingCost + "workload:\n  steps: " + steps + R"(
  training:
    step:
      compute: 1s
      exchanges:
        - {collective: push_pull, bytes: 1GB, servers: {count: 2, placement: dedicated}}
  sources: [{kind: jobs, jobs: [{name: j, work: 100s, pods: 3, pod: {gpus: 8}}]}]
record: {cardiogram: {jobs: [j], window: {from: 10s, to: 20s}, resolution: 1s}}
)";
}

TEST(GpuUseOfServers, TheyWaitForTheWorkersAndComputeNothing) {
  for (const char* const level : {"alpha_beta", "flow"}) {
    for (const char* const steps : {"rate", "traced"}) {
      SCOPED_TRACE(std::string{level} + " " + steps);
      ScenarioRun run{served_gang(level, steps), {}, {}};
      const JobRow job = run.jobs().at(0);
      const double span = job.run.seconds();
      EXPECT_GT(span, 100.5);
      EXPECT_NEAR(job.gpu_s_useful, 8 * 100, 1e-6);
      EXPECT_NEAR(job.gpu_s_exchange, 24 * span - 800, 1e-6);
      EXPECT_NEAR(figure_of(run, "gpu_s_reported"), 24 * span, 1e-6);
      EXPECT_NEAR(figure_of(run, "gpu_s_allocated"), 24 * span, 1e-6);
      // An A100 draws 385 W when it computes and 77 W when it waits.
      EXPECT_NEAR(figure_of(run, "gpu_energy_kwh") * 3.6e6, 800 * 385 + (24 * span - 800) * 77,
                  1e-4 * 800 * 385);
      expect_useful_as_in_summary(run);
    }
  }
}

TEST(GpuUseOfServers, TheirRanksWaitInTheCardiogram) {
  ScenarioRun run{served_gang("flow", "rate"), {}, {}};
  const auto rows = run.recorder.rows<CardiogramRow>("/timeline/cardiogram");
  ASSERT_EQ(rows.size(), 240u);
  for (const CardiogramRow& row : rows) {
    const bool serves = row.node.index > 0;
    EXPECT_NEAR(row.reported, 100, 1e-6);
    EXPECT_NEAR(row.computing, serves ? 0 : 0.98, serves ? 0 : 0.02);
    EXPECT_NEAR(row.power_watts, serves ? 77 : 380, serves ? 1e-6 : 5);
  }
}

TEST(GpuUseOfServers, WhatAFailureUndoesIsOfTheWorkersAlone) {
  ScenarioRun run{served_gang("flow", "rate") +
                  "faults: {list: [{node: gpu-2, at: 50s, repair: 1min}]}\n"};
  const JobRow job = run.jobs().at(0);
  EXPECT_NEAR(job.gpu_s_useful, 8 * 100, 1e-6);
  EXPECT_GT(job.gpu_s_lost, 8 * 40);
  EXPECT_LT(job.gpu_s_lost, 8 * 50);
  expect_useful_as_in_summary(run);
}

// ---- services

TEST(GpuUseOfServices, FollowsTheirLoad) {
  ScenarioRun run{R"(
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 2}]}
workload:
  sources:
    - {kind: service, name: s, replicas: 2, pod: {gpus: 8},
       load: [{at: 0s, load: 0}, {at: 30min, load: 0.5}, {at: 50min, load: 3}]}
policy: {cost: {per_cycle: 0s, per_node: 0s, per_pod: 0s, bind: 0s}}
run: {until: 1h}
)"};
  // The load of 3 at 50 min exceeds what both replicas can do.
  const double busy = 0.5 * 8 * 1200 + 16 * 600;
  const JobRow job = run.jobs().at(0);
  EXPECT_NEAR(job.gpu_s_useful, busy, 1e-3);
  EXPECT_NEAR(job.gpu_s_idle, 16 * 3600 - busy, 1e-3);
  EXPECT_NEAR(figure_of(run, "gpu_s_allocated"), 16 * 3600, 1e-3);
  EXPECT_NEAR(figure_of(run, "gpu_s_reported"), busy, 1e-3);
  EXPECT_NEAR(figure_of(run, "gpu_s_power"), busy, 1e-3);
  EXPECT_NEAR(figure_of(run, "gpu_energy_kwh") * 3.6e6, 16 * 58 * 3600 + busy * (385 - 58), 1e-3);
  expect_useful_as_in_summary(run);
  const auto rows = run.recorder.rows<ClusterSample>("/timeline/cluster");
  ASSERT_EQ(rows.size(), 60u);
  EXPECT_NEAR(rows[10].gpu_power_watts, 16 * 58, 1e-3);
  EXPECT_NEAR(rows[10].gpus_reported, 0, 1e-3);
  EXPECT_NEAR(rows[40].gpus_reported, 4, 1e-3);
  EXPECT_NEAR(rows[40].gpus_computing, 4, 1e-3);
  EXPECT_NEAR(rows[55].gpu_power_watts, 16 * 385, 1e-3);
}

TEST(GpuUseOfServices, StaysUsefulWhenTheirNodesFail) {
  ScenarioRun run{R"(
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 2}]}
workload:
  sources:
    - {kind: service, name: s, replicas: 2, pod: {gpus: 4}, lasts: 1h,
       load: [{at: 0s, load: 1.5}]}
faults: {list: [{node: gpu-0, at: 20min, repair: 10min}, {node: gpu-1, at: 20min, repair: 10min}]}
policy: {cost: {per_cycle: 0s, per_node: 0s, per_pod: 0s, bind: 0s}}
)"};
  expect_useful_as_in_summary(run);
  const JobRow job = run.jobs().at(0);
  EXPECT_EQ(job.outcome, JobOutcome::Completed);
  const double allocated = figure_of(run, "gpu_s_allocated");
  EXPECT_NEAR(job.gpu_s_useful + job.gpu_s_idle, allocated, 1e-3);
  EXPECT_GE(job.gpu_s_useful, 0.75 * allocated - 1e-3) << "one alone is full, two are at 75 %";
  EXPECT_EQ(job.gpu_s_lost, 0);
  EXPECT_EQ(job.gpu_s_exchange, 0);
}

}  // namespace
}  // namespace orrery
