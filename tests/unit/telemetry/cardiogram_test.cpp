// Activity of a job's ranks, recorded at fine time steps; and GPU use of a job that hangs.
#include "models/telemetry/cardiogram.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/hardware/machine_catalogue.hpp"
#include "models/telemetry/timeline_rows.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using End = SimulationResult::End;

// A node of 8 A100, and a job on all of them.
struct OneNode {
  std::string job, cardiogram, controller = "pod_start: {median: 0s}", more = {};
  std::string yaml() const {
    std::string text =
        "cluster: {pools: [{name: n, machine: dgx-a100, count: 1}]}\n"
        "policy: {base: strict_gang}\n"
        "workload:\n";
    text += "  controller: {" + controller + "}\n";
    text += "  sources: [{kind: jobs, jobs: [{name: train, pod: {gpus: 8}, " + job + "}]}]\n";
    text += "record: {cardiogram: {" + cardiogram + "}}\n";
    return text + more;
  }
};

std::vector<CardiogramRow> rows_of(ScenarioRun& run) {
  return run.recorder.rows<CardiogramRow>("/timeline/cardiogram");
}

GpuPower a100() {
  const GpuModel& gpu = find_machine("dgx-a100")->gpu;
  return {gpu.idle_watts, gpu.spin_watts, gpu.training_watts};
}

constexpr const char* kSteps = "work: 5min, training: {step: {compute: 300ms, optimizer: 200ms}}";

TEST(Cardiogram, ARateIsExpandedIntoItsSteps) {
  ScenarioRun run{
      OneNode{.job = kSteps,
              .cardiogram = "jobs: [train], window: {from: 1min, to: 61s}, resolution: 50ms",
              .more = "network: {level: alpha_beta}\n"}
          .yaml()};
  const auto rows = rows_of(run);
  ASSERT_EQ(rows.size(), 160u);  // eight ranks with 20 rows each
  EXPECT_EQ(rows.front().time, Time{} + 60_s + 50_ms);
  EXPECT_EQ(rows.back().time, Time{} + 61_s);
  double computing = 0, watts = 0;
  int changes = 0;
  for (size_t i = 0; i < rows.size(); i += 8) {
    const CardiogramRow& row = rows[i];
    EXPECT_DOUBLE_EQ(row.reported, 100);
    EXPECT_NEAR(row.computing + row.exchange, 1, 1e-9);
    EXPECT_THAT(row.phase, testing::AnyOf(RankPhase::Compute, RankPhase::Wait));
    computing += row.computing / 20;
    watts += row.power_watts / 20;
    if (i > 0 && row.phase != rows[i - 8].phase) ++changes;
  }
  EXPECT_NEAR(computing, 0.6, 1e-9);
  EXPECT_NEAR(watts, 0.6 * a100().busy + 0.4 * a100().spin, 1e-6);
  EXPECT_GE(changes, 3);
  EXPECT_LE(changes, 4);
}

TEST(Cardiogram, RowsLongerThanAStepAreMeans) {
  ScenarioRun run{
      OneNode{.job = kSteps,
              .cardiogram = "jobs: [train], window: {from: 1min, to: 75s}, resolution: 10s",
              .more = "network: {level: alpha_beta}\n"}
          .yaml()};
  const auto rows = rows_of(run);
  ASSERT_EQ(rows.size(), 16u);  // eight rows for 10 s, and eight for the remaining 5 s
  for (const CardiogramRow& row : rows) EXPECT_NEAR(row.computing, 0.6, 1e-9);
  EXPECT_EQ(rows.back().time, Time{} + 75_s);
}

TEST(Cardiogram, SevenRanksSpinBusilyAndTheDeadOneIdles) {
  ScenarioRun run{
      OneNode{.job = "work: 5min",
              .cardiogram = "jobs: [train], window: {from: 1min, to: 3min}, resolution: 1min",
              .controller = "hang_timeout: null, pod_start: {median: 0s}",
              .more = "faults: {ranks: [{job: train, at: 2min}]}\n"}
          .yaml()};
  EXPECT_EQ(run.result.end, End::Stalled);
  const auto rows = rows_of(run);
  ASSERT_EQ(rows.size(), 16u);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(rows[i].phase, RankPhase::Compute);
    EXPECT_NEAR(rows[i].power_watts, a100().busy, 1e-6);
    const CardiogramRow& hung = rows[8 + i];
    EXPECT_EQ(hung.phase, i == 0 ? RankPhase::Dead : RankPhase::Hung);
    EXPECT_DOUBLE_EQ(hung.reported, i == 0 ? 0 : 100);
    EXPECT_NEAR(hung.power_watts, i == 0 ? a100().idle : a100().spin, 1e-6);
    EXPECT_DOUBLE_EQ(hung.computing, 0);
  }
}

TEST(Cardiogram, AStartIsInitThenRestoreAndAGpuOfNobodyDrawsNothing) {
  ScenarioRun run{
      OneNode{.job = "submit: 1s, work: 10s, training: {init: 4s}",
              .cardiogram = "jobs: [train], window: {from: 0s, to: 30s}, resolution: 1s"}
          .yaml()};
  const auto rows = rows_of(run);
  ASSERT_GE(rows.size(), 8u * 14);
  std::vector<RankPhase> phases;
  for (size_t i = 0; i < rows.size(); i += 8) phases.push_back(rows[i].phase);
  EXPECT_EQ(std::ranges::count(phases, RankPhase::Init), 4);
  // The 10 s of compute begin within the interval of a row, so they may span 11 rows.
  EXPECT_GE(std::ranges::count(phases, RankPhase::Compute), 10);
  EXPECT_NEAR(rows[8].power_watts, a100().idle, 1e-6);
}

struct Sent {
  double bytes = 0, most_bps = 0;  // bytes of all GPUs; the highest rate of one GPU
};
Sent sent_of(const std::string& steps) {
  ScenarioRun run{R"(
cluster: {pools: [{name: n, machine: dgx-a100, count: 2}]}
network: {level: flow}
policy: {base: strict_gang}
workload:
  controller: {pod_start: {median: 0s}}
  steps: )" + steps +
                  R"(
  sources:
    - kind: jobs
      jobs:
        - name: train
          pods: 2
          pod: {gpus: 8}
          work: 30s
          training: {step: {compute: 300ms, overlap: 0.2, exchanges: [{bytes: 20GB}]}}
record: {cardiogram: {jobs: [train], window: {to: 2min}, resolution: 20ms}}
)"};
  Sent sent;
  for (const CardiogramRow& row : rows_of(run)) {
    sent.bytes += row.network_bps / 8 * 0.02;
    sent.most_bps = std::max(sent.most_bps, row.network_bps);
  }
  return sent;
}

// An all-reduce of 20 GB over 16 ranks. In each step a node sends 2 * 15 / 16 * 20 GB = 37.5 GB
// through its eight NICs.
TEST(Cardiogram, NicsSendWhatStepsExchangeAtARateOrPlayedOneByOne) {
  for (const char* const steps : {"rate", "traced"}) {
    SCOPED_TRACE(steps);
    const Sent sent = sent_of(steps);
    EXPECT_NEAR(sent.bytes / (100 * 2 * 37.5e9), 1, 0.01);
    EXPECT_LE(sent.most_bps, 200e9);
    EXPECT_GE(sent.most_bps, 150e9);
  }
}

TEST(Cardiogram, OutsideOfItsWindowNothingIsRecorded) {
  ScenarioRun run{OneNode{.job = "submit: 10s, work: 1min",
                          .cardiogram = "jobs: [train], window: {from: 30min, to: 40min}"}
                      .yaml()};
  EXPECT_TRUE(rows_of(run).empty());
  EXPECT_EQ(run.result.end, End::Done) << "a window that never begins keeps no run alive";
}

TEST(Cardiogram, NamesThatNoGangHasAreReportedAtTheEnd) {
  std::string text =
      OneNode{.job = "work: 1min", .cardiogram = "jobs: [train, trian], window: {to: 10s}"}.yaml();
  const std::string_view listed = "{kind: jobs";
  text.insert(text.find(listed),
              "{kind: generator, arrival_rate: 60, jobs_max: 1, "
              "shape: {kind: preset, preset: helios}}, ");
  ScenarioRun run{text};
  EXPECT_THAT(run.result.warnings,
              testing::ElementsAre(testing::HasSubstr("no job that arrived was called 'trian'")));
}

// A rank dies at 2 min. The job hangs for the rest of the run, and its 7 other GPUs report 100 %.
TEST(GpuUsage, FourWaysOfAJobThatHangs) {
  ScenarioRun run{
      OneNode{.job = "work: 5min, training: {checkpoint_interval: 30s}",
              .cardiogram = "jobs: [train], window: {to: 1s}",
              .controller = "hang_timeout: null, pod_start: {median: 0s}",
              .more = "faults: {ranks: [{job: train, at: 2min}]}\nrun: {until: 10min}\n"}
          .yaml()};
  const auto rows = run.recorder.rows<ClusterSample>("/timeline/cluster");
  ASSERT_EQ(rows.size(), 10u);
  EXPECT_NEAR(rows[0].gpus_reported, 8, 1e-3);
  const ClusterSample& hung = rows[5];
  EXPECT_DOUBLE_EQ(hung.gpus_allocated, 8);
  EXPECT_DOUBLE_EQ(hung.gpus_reported, 7);
  EXPECT_DOUBLE_EQ(hung.gpus_computing, 0);
  EXPECT_NEAR(hung.gpu_power_watts, 7 * a100().spin + a100().idle, 1e-6);
  EXPECT_LT(hung.gpus_power, 0.5);
  EXPECT_DOUBLE_EQ(run.jobs().at(0).gpu_s_hung, 8 * 480.0);
}

}  // namespace
}  // namespace orrery
