// Algorithms and durations of exchanges, as set in scenarios.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/scheduler_world.hpp"
#include "tests/support/shipped_run.hpp"

namespace orrery {
namespace {

using testing::HasSubstr;

// A gang on eight nodes. Each step computes for 1 s and makes one exchange.
std::string scenario(const std::string& machine, const std::string& network,
                     const std::string& exchange) {
  return "cluster: {pools: [{name: n, machine: " + machine +
         ", count: 8}]}\n"
         "network: {" +
         network +
         "}\n"
         "workload:\n"
         "  training: {step: {compute: 1s, exchanges: [{among: all, bytes: 10GB, " +
         exchange +
         "}]}}\n"
         "  sources: [{kind: jobs, jobs: [{name: a, pods: 8, pod: {gpus: 8}, work: 1000s}]}]\n"
         "policy: {base: strict_gang}\n";
}

double exchange_s(const std::string& machine, const std::string& network,
                  const std::string& exchange) {
  ScenarioRun run{scenario(machine, network, exchange), {}, {}};
  return run.jobs().at(0).run.seconds() / 1000 - 1;
}

TEST(ExchangeChoice, OfAnAlgorithmChangesTheTimeOfAStep) {
  const auto seconds = [](const std::string& algorithm, const std::string& more = "") {
    return exchange_s("hgx-h100", "level: flow" + more, "algorithm: " + algorithm);
  };
  EXPECT_DOUBLE_EQ(seconds("auto"), seconds("nvls"));
  EXPECT_NEAR(seconds("ring"), 10 * 2 * 63 / 64.0 / 370.8, 2e-3);
  EXPECT_NEAR(seconds("tree"), 10 * 2 / (370.8 * 0.92), 2e-3);
  EXPECT_NEAR(seconds("hierarchical"), 10 * 1.75 / 370.8 + 10 * 1.75 / 384, 1e-3);
  // NVLS without SHARP uses two trees, and the busiest NICs send the buffer twice. With SHARP they
  // send it once, and NVLink limits the rate.
  EXPECT_NEAR(seconds("nvls"), 10 * 2 / 384.0, 1e-3);
  EXPECT_NEAR(seconds("nvls", ", sharp: true"), 10 * 2 * 63 / 64.0 / 490.1, 1e-3);
}

TEST(ExchangeChoice, OfAKnownTimeHoldsOnTheFabricToo) {
  const std::string known =
      ", exchanges: [{latency: 100ms, bandwidth: 100GBps}, "
      "{collective: all_gather, latency: 1s, bandwidth: 1GBps}]";
  const std::string gather = "}, {among: all, bytes: 1B, collective: all_gather";
  for (const std::string level : {"level: alpha_beta", "level: flow"}) {
    EXPECT_NEAR(exchange_s("dgx-a100", level + known, "count: 1" + gather),
                0.1 + 10 * 2 * 63 / 64.0 / 100 + 1, 1e-6)
        << level;
  }
}

// ECMP chooses a path by hash for each queue pair. Many small flows spread over the links more
// evenly than few large ones.
TEST(ExchangeChoice, OfMoreQueuePairsEvensOutWhatEcmpDoes) {
  const auto seconds = [](const std::string& pairs) {
    ShippedRun run{"leaf-scaling",
                   {"network.routing.engine=ecmp", "network.routing.queue_pairs=" + pairs}};
    return run.job("nodes-64").run.seconds();
  };
  EXPECT_LT(seconds("4"), seconds("1"));
  EXPECT_LT(seconds("16"), seconds("4"));
}

TEST(ExchangeChoice, OfImpossibleValuesAreRejected) {
  const auto errors = [](const std::string& machine, const std::string& network,
                         const std::string& exchange) {
    Diagnostics diagnostics;
    const config::Document document =
        config::load_text(scenario(machine, network, exchange), "s.yaml", diagnostics);
    const Scenario read = read_scenario(document, diagnostics);
    MemoryRecorder recorder;
    if (diagnostics.ok()) {
      static_cast<void>(simulate(read, document, recorder, {}, diagnostics));
    }
    return diagnostics.text();
  };
  EXPECT_THAT(errors("dgx-a100", "level: flow", "algorithm: nvls"),
              HasSubstr("s.yaml:4:83: workload.training.step.exchanges[0].algorithm: no machine of "
                        "the cluster has NVSwitches that reduce data"));
  EXPECT_EQ(errors("dgx-a100", "level: flow, exchanges: [{latency: 1us, bandwidth: 1GBps}]",
                   "algorithm: tree"),
            "");
  EXPECT_THAT(errors("dgx-a100", "level: flow", "collective: push_pull, servers: {count: 65}"),
              HasSubstr("servers.count: is more than 64"));
}

TEST(ExchangeChoice, OfParameterServersIsWorseThanAnAllReduceAsTheScenarioSays) {
  const auto longer_by = [](ShippedRun& run, const std::string& job) {
    return run.job(job).run.seconds() / 600 - 1;
  };
  ShippedRun run{"parameter-servers"};
  EXPECT_NEAR(longer_by(run, "servers-1"), 0.80, 0.005);
  EXPECT_NEAR(longer_by(run, "servers-2"), 0.44, 0.005);
  EXPECT_NEAR(longer_by(run, "servers-4"), 0.26, 0.005);
  EXPECT_NEAR(longer_by(run, "servers-8"), 0.16, 0.005);
  EXPECT_NEAR(longer_by(run, "hierarchical"), longer_by(run, "servers-8"), 0.001);
  EXPECT_NEAR(longer_by(run, "eight-nodes-more"), 0.13, 0.005);
  EXPECT_NEAR(longer_by(run, "all-reduce"), 0.10, 0.005);
  ShippedRun thin{"parameter-servers", {"network.fabric.oversubscription=4"}};
  EXPECT_NEAR(longer_by(thin, "eight-nodes-more"), 0.20, 0.005);
  EXPECT_DOUBLE_EQ(longer_by(thin, "servers-1"), longer_by(run, "servers-1"));
}

}  // namespace
}  // namespace orrery
