// Activity of ranks in the cardiogram adds up to the GPU time in the accounts of their jobs.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "models/hardware/machine_catalogue.hpp"
#include "models/telemetry/cardiogram_rows.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

struct RandomRun {
  std::string yaml;
  double step = 0, write = 0;  // seconds by which sums may differ at each change of pace
  int changes = 0;             // at most this many changes of pace, see the first test
  bool is_traced = false;
};

std::string ms(int64_t value) { return std::to_string(value) + "ms"; }

// One gang on all GPUs of the cluster, so its energy is that of the cluster. The window of the
// cardiogram ends with the run, while the gang is still at work. In a third of the runs a rank
// dies.
RandomRun random_run(Rng rng) {
  RandomRun run;
  const auto between = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(rng.below(static_cast<uint64_t>(high - low + 1)));
  };
  const int64_t compute = between(50, 900), optimizer = between(0, 1) * between(0, 100);
  const int64_t interval = between(3, 40) * 1000, write = between(0, 1) * between(1, 2000);
  const int64_t until = between(100'000, 300'000);
  run.is_traced = between(0, 2) == 0;
  const bool is_flow = between(0, 1) == 0, dies = between(0, 2) == 0;
  run.step = static_cast<double>(compute + optimizer) * 1e-3 + (run.is_traced ? 0 : 0.3);
  run.write = static_cast<double>(write) * 1e-3;
  run.changes = dies ? 4 : 2;
  std::string& y = run.yaml;
  y = "cluster:\n  pools: [{name: n, machine: dgx-a100, count: 2}]\n";
  y += "  power: {node_spread: 0.0" + std::to_string(between(0, 9));
  y += ", training_spread: 0.0" + std::to_string(between(0, 9)) + "}\n";
  y += "policy: {base: strict_gang}\n";
  y += "network: {level: " + std::string{is_flow ? "flow" : "alpha_beta"} + "}\n";
  y += "workload:\n  steps: " + std::string{run.is_traced ? "traced" : "rate"} + "\n";
  y += "  controller: {" + std::string{dies ? "hang_timeout: 20s, restart_delay: 1s, " : ""} +
       "pod_start: {median: 1s}}\n";
  y += "  sources:\n    - kind: jobs\n      jobs:\n        - name: train\n          pods: 2\n";
  y += "          pod: {gpus: 8}\n          work: 1h\n          training:\n";
  y += "            init: " + ms(between(0, 5000)) + "\n";
  if (dies) y += "            restart_scope: pod\n            restore: 2s\n";
  if (dies || write > 0) y += "            checkpoint_interval: " + ms(interval) + "\n";
  if (write > 0) y += "            checkpoint_write: " + ms(write) + "\n";
  y += "            step: {compute: " + ms(compute) + ", optimizer: " + ms(optimizer);
  y += ", overlap: 0." + std::to_string(between(0, 9));
  y += ", exchanges: [{bytes: " + std::to_string(between(1, 20)) + "GB}]}\n";
  if (dies) y += "faults: {ranks: [{job: train, at: " + ms(between(20'000, 50'000)) + "}]}\n";
  y += "record: {cardiogram: {jobs: [train], window: {to: " + ms(until) +
       "}, resolution: " + ms(between(10, 700)) + "}}\n";
  y += "run: {until: " + ms(until) + "}\n";
  return run;
}

double energy_j(const ScenarioRun& run) {
  for (const SummaryValue& value : run.result.summary) {
    if (value.name == "gpu_energy_kwh") return std::get<double>(value.value) * 3.6e6;
  }
  return NAN;
}

struct Sums {
  // Seconds (joules for `energy`), summed over all ranks.
  double computing = 0, exchange = 0, checkpoint = 0, energy = 0, all = 0;
};
Sums sums_of(ScenarioRun& run) {
  Sums sums;
  Time from{}, to{};
  for (const CardiogramRow& row : run.recorder.rows<CardiogramRow>("/timeline/cardiogram")) {
    if (row.time != to) from = to;
    to = row.time;
    const double span = (to - from).seconds();
    sums.computing += row.computing * span;
    sums.exchange += row.exchange * span;
    sums.checkpoint += row.checkpoint * span;
    sums.energy += row.power_watts * span;
    sums.all += span;
    EXPECT_LE(row.computing + row.exchange + row.checkpoint, 1 + 1e-9);
  }
  return sums;
}

// With `steps: rate`, the accounts spread each step evenly over time. The account of energy also
// spreads checkpoint writes. The cardiogram shows the real steps and writes. So the sums differ
// when the pace changes: at a start, hang or restart of the gang, and at the end of the window.
// For each change of pace, the sums of compute and of exchange may differ by up to one step, and
// the sum of energy by up to one step and one checkpoint write. With `steps: traced`, the test
// allows the same differences.
TEST(CardiogramProperty, SumsAreThoseOfTheAccounts) {
  constexpr int kRanks = 16;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const RandomRun random = random_run(RngStreams{seed}.stream("test.cardiogram"));
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + random.yaml);
    ScenarioRun run{random.yaml, {}, {.audit_every = 1000}};
    const Sums sums = sums_of(run);
    const JobRow job = run.jobs().at(0);
    const double exact = 1e-6 * sums.all;
    const double step = kRanks * random.step * random.changes;
    EXPECT_NEAR(sums.computing, job.gpu_s_useful + job.gpu_s_lost, step);
    EXPECT_NEAR(sums.exchange, job.gpu_s_exchange, step);
    EXPECT_NEAR(sums.checkpoint, job.gpu_s_checkpoint, exact);
    const GpuModel& gpu = find_machine("dgx-a100")->gpu;
    const double smeared = step + kRanks * random.write * random.changes;
    EXPECT_NEAR(sums.energy, energy_j(run), smeared * gpu.training_watts);
    EXPECT_GT(sums.energy, 3 * smeared * gpu.training_watts) << "else it would say nothing";
    if (testing::Test::HasFailure()) break;
  }
}

// The run has only whole steps and checkpoint cycles, so the sums equal the accounts up to
// rounding.
TEST(CardiogramProperty, InWholeStepsTheyAreExact) {
  ScenarioRun run{R"(
cluster: {pools: [{name: n, machine: dgx-a100, count: 1}]}
network: {level: alpha_beta}
workload:
  controller: {pod_start: {median: 0s}}
  sources:
    - kind: jobs
      jobs:
        - name: train
          pod: {gpus: 8}
          work: 100s
          training:
            checkpoint_interval: 10s
            checkpoint_write: 700ms
            step: {compute: 400ms, optimizer: 100ms, exchanges: [{bytes: 1GB}]}
record: {cardiogram: {jobs: [train], window: {to: 10min}, resolution: 37ms}}
)"};
  const Sums sums = sums_of(run);
  const JobRow job = run.jobs().at(0);
  EXPECT_EQ(job.outcome, JobOutcome::Completed);
  EXPECT_GT(job.gpu_s_exchange, 8 * 20.0);
  EXPECT_NEAR(sums.computing, job.gpu_s_useful, 1e-5);
  EXPECT_NEAR(sums.exchange, job.gpu_s_exchange, 1e-5);
  EXPECT_NEAR(sums.checkpoint, job.gpu_s_checkpoint, 1e-5);
}

}  // namespace
}  // namespace orrery
