// Training steps of gangs in whole runs: the time of exchanges and of reading data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "models/telemetry/storage_usage.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery::gang_steps_test {
namespace {

std::string scenario(const std::string& network, const std::string& training,
                     const std::string& jobs, const std::string& more = "") {
  return "cluster: {pools: [{name: n, machine: dgx-a100, count: 32, nodes_per_leaf: 8}]}\n"
         "network: {" +
         network + "}\n" + more + "workload:\n  training: {" + training +
         "}\n  sources: [{kind: jobs, jobs: [" + jobs + "]}]\npolicy: {base: strict_gang}\n";
}

double run_of(ScenarioRun& run, size_t job = 0) {
  return Duration{run.jobs().at(job).run}.seconds();
}

constexpr const char* kAllReduce =
    "step: {compute: 1s, exchanges: [{collective: all_reduce, bytes: 10GB, among: all}]}";
constexpr const char* kEight = "{name: a, pods: 8, pod: {gpus: 8}, work: 1000s}";

// With `overlap: 1` the exchange begins with the step, so compute hides it.
TEST(GangSteps, TracedStepsGoOnWhoseExchangesBeginWithThem) {
  const std::string hidden = std::string{kAllReduce}.insert(7, "overlap: 1, ");
  for (const char* const steps : {"rate", "traced"}) {
    ScenarioRun run{
        scenario("level: flow", hidden + "}\n  steps: " + steps + "\n  controller: {", kEight)};
    EXPECT_NEAR(run_of(run), 1000, 1e-6) << steps;
  }
}

// A ring of 64 ranks moves 2 * 63 / 64 * 10 GB out of each node, over its 8 NICs of 24 GB/s.
TEST(GangSteps, ARingMovesItsBytesAtTheRateOfTheNics) {
  ScenarioRun alone{scenario("level: alpha_beta", kAllReduce, kEight), {}, {}};
  EXPECT_NEAR(run_of(alone), 1000 * (1 + 2 * 63.0 / 64 * 10 / 192), 2);
  ScenarioRun flow{scenario("level: flow", kAllReduce, kEight), {}, {}};
  EXPECT_DOUBLE_EQ(run_of(flow), run_of(alone));
  const JobRow row = flow.jobs().at(0);
  EXPECT_NEAR(row.gpu_s_useful, 64 * 1000, 1e-3);
  EXPECT_NEAR(row.gpu_s_useful + row.gpu_s_exchange, 64 * run_of(flow), 1e-3);
}

TEST(GangSteps, ComputeHidesExchangesWhereTheyOverlap) {
  const std::string step =
      "step: {compute: 1s, overlap: 0.5, "
      "exchanges: [{collective: all_reduce, bytes: 10GB, among: all}]}";
  ScenarioRun run{scenario("level: flow", step, kEight), {}, {}};
  EXPECT_DOUBLE_EQ(run_of(run), 1000);
  EXPECT_DOUBLE_EQ(run.jobs().at(0).gpu_s_exchange, 0);
}

// A second of work takes 1 s * (1 + 3 / 8) with the bubble of the pipeline, 1.1 times as long with
// stragglers, and 0.15 s more for optimizer and data.
TEST(GangSteps, AllThatAStepSpendsBesideComputeLengthensTheRun) {
  const std::string step =
      "step: {compute: 1s, parallel: {pipeline: 4, microbatches: 8}, optimizer: 100ms, "
      "data: 50ms, stragglers: {fraction: 1, slowdown: 0.1}}";
  for (const std::string steps : {"rate", "traced"}) {
    ScenarioRun run{scenario("level: alpha_beta", step, kEight), {"workload.steps=" + steps}, {}};
    const JobRow row = run.jobs().at(0);
    EXPECT_NEAR(run_of(run), 1662.5, 0.2) << steps;
    EXPECT_NEAR(row.gpu_s_useful, 64 * 1000, 1e-3) << steps;
    EXPECT_NEAR(row.gpu_s_exchange, 64 * 662.5, 64 * 0.2) << steps;
  }
}

// Each of the eight up-cables of the first leaf fails in turn. The ring of the first gang uses one
// of them.
TEST(GangSteps, OnlyGangsOverADeadCableAreReroutedAndComeBack) {
  std::string faults = "faults: {links: {list: [";
  for (int i = 0; i < 8; ++i) {
    faults += "{on: leaf-0.up-" + std::to_string(i) + ", at: " + std::to_string(100 + 20 * i) +
              "s, until: " + std::to_string(110 + 20 * i) + "s, flaw: {kind: dead}},";
  }
  faults.back() = ']';
  const std::string two = "{name: a, pods: 16, pod: {gpus: 8}, work: 1000s, count: 2}";
  const auto rerouted = [&](const std::string& engine) {
    const ScenarioRun run{scenario("level: flow, routing: {engine: " + engine + "}", kAllReduce,
                                   two, faults + "}}\n"),
                          {},
                          {}};
    const auto found = std::ranges::find(run.result.summary, "gangs_rerouted", &SummaryValue::name);
    return std::get<int64_t>(found->value);
  };
  EXPECT_EQ(rerouted("dmodk"), 2) << "there, and back again";
  // Each of the 8 failures and 8 repairs reroutes the first gang at most once.
  EXPECT_GE(rerouted("adaptive_local"), 2);
  EXPECT_LE(rerouted("adaptive_local"), 16);
}

// Each gang has 12 of the 32 nodes. A leaf has 8 nodes and a quarter of the up-links that these
// nodes could fill.
TEST(GangSteps, GangsThatShareLinksSlowEachOtherDown) {
  const std::string thin = "level: flow, fabric: {oversubscription: 4}";
  const std::string one = "{name: a, pods: 12, pod: {gpus: 8}, work: 1000s}";
  const std::string two = "{name: a, pods: 12, pod: {gpus: 8}, work: 1000s, count: 2}";
  ScenarioRun alone{scenario(thin, kAllReduce, one), {}, {}};
  ScenarioRun both{scenario(thin, kAllReduce, two), {}, {}};
  EXPECT_GT(run_of(both, 1), run_of(alone) * 1.02);
}

TEST(GangSteps, TooFewCoresSlowDownOnlyWhatLeavesTheNode) {
  const auto job = [](int pods, int cpus) {
    return "{name: a, pods: " + std::to_string(pods) +
           ", pod: {gpus: 8, cpus: " + std::to_string(cpus) + "}, work: 1000s}";
  };
  ScenarioRun enough{scenario("level: flow", kAllReduce, job(8, 32)), {}, {}};
  ScenarioRun few{scenario("level: flow", kAllReduce, job(8, 8)), {}, {}};
  EXPECT_NEAR((run_of(few) - 1000) / (run_of(enough) - 1000), 4, 0.1);
  ScenarioRun one_node{scenario("level: flow", kAllReduce, job(1, 32)), {}, {}};
  ScenarioRun one_node_few{scenario("level: flow", kAllReduce, job(1, 8)), {}, {}};
  EXPECT_DOUBLE_EQ(run_of(one_node), run_of(one_node_few));
}

TEST(GangSteps, ALauncherWithoutGpusIsNoRank) {
  const std::string gpus = "{pods: 2, pod: {gpus: 8}}";
  const auto job = [&](const std::string& roles) {
    return "{name: a, work: 1000s, gangs: [{roles: [" + roles + "]}]}";
  };
  ScenarioRun ranks{scenario("level: flow", kAllReduce, job(gpus)), {}, {}};
  ScenarioRun launched{
      scenario("level: flow", kAllReduce, job("{pods: 1, pod: {cpus: 4}}, " + gpus)), {}, {}};
  EXPECT_GT(run_of(ranks), 1000);
  EXPECT_DOUBLE_EQ(run_of(launched), run_of(ranks));
}

// Two pods share each of two nodes. Which pods share a node depends on the policy.
TEST(GangSteps, RanksOfANodeAreNeighboursWhateverPodTheyAreIn) {
  const auto run = [](const std::string& policy) {
    std::string yaml = scenario("level: flow", kAllReduce,
                                "{name: a, work: 1000s, pods: 4, pod: {gpus: 4, cpus: 60}}");
    yaml.replace(yaml.find("count: 32"), 9, "count: 2");
    yaml.replace(yaml.find("strict_gang"), 11, policy);
    ScenarioRun done{yaml, {}, {}};
    return run_of(done);
  };
  EXPECT_DOUBLE_EQ(run("default"), run("strict_gang"));
}

// The long interval keeps timeline samples, which are events too, out of the runs.
TEST(GangSteps, GangsThatRunCostNoEvents) {
  const auto events = [](const std::string& work) {
    const std::string jobs = "{name: a, count: 4, pods: 8, pod: {gpus: 8}, work: " + work + "}";
    const ScenarioRun run{scenario("level: flow", kAllReduce, jobs),
                          {"record.timeline={interval: 3600d, teams_interval: 0s}"},
                          {}};
    return run.result.events;
  };
  EXPECT_EQ(events("1h"), events("500h"));
}

// A cable of the second node is damaged before the gang arrives.
TEST(GangSteps, APolicyMayKeepThemOffNodesWithSymbolErrors) {
  const std::string late = "{name: a, submit: 60s, pods: 2, pod: {gpus: 8}, work: 100s}";
  const std::string bent =
      "faults: {links: {list: [{on: host-1.nic-3, at: 10s, flaw: {kind: degraded}}]}}\n";
  ScenarioRun hit{scenario("level: flow", kAllReduce, late, bent), {}, {}};
  EXPECT_GT(run_of(hit), 1000);
  ScenarioRun spared{scenario("level: flow", kAllReduce, late, bent),
                     {"policy.plugins=[{name: SymbolErrors}]"},
                     {}};
  EXPECT_LT(run_of(spared), 115);
}

constexpr const char* kSlowStore =
    "storage: {stores: [{name: blob, write: 3200MBps, read: 3200MBps}]}\n";

constexpr const char* kFew = "{name: a, pods: 8, pod: {gpus: 8}, work: 100s}";

double bytes_read(ScenarioRun& run) {
  double read = 0;
  Time before{};
  for (const StorageSample& row : run.recorder.rows<StorageSample>("/timeline/storage")) {
    EXPECT_EQ(row.write_rate, 0);
    read += row.read_rate * (row.time - before).seconds();
    before = row.time;
  }
  return read;
}

// 64 GPUs read 100 MB each for a step of 1 s. The store delivers 6.4 GB in 2 s.
TEST(GangSteps, AStepTakesAtLeastAsLongAsReadingItsData) {
  const std::string step = "step: {compute: 1s}, dataset: {store: blob, per_step: 100MB";
  const std::string all = "level: flow";
  for (const std::string steps : {"rate", "traced"}) {
    const std::string set = "workload.steps=" + steps;
    ScenarioRun slow{scenario(all, step + "}", kFew, kSlowStore), {set}, {}};
    EXPECT_NEAR(run_of(slow), 200, 1e-6) << steps;
    EXPECT_NEAR(bytes_read(slow), 100 * 6.4e9, 1e6) << steps;
    // The first ten steps read one epoch from the store. Later steps read it from local disks.
    ScenarioRun cached{scenario(all, step + ", cache: true, size: 64GB}", kFew, kSlowStore),
                       {"storage.local={}", set},
                       {}};
    EXPECT_NEAR(run_of(cached), 110, 1e-6) << steps;
  }
}

// A step is 1 s of compute and 0.1 s of exchange. The gang's 64 GPUs read 6.4 GB in each step, so
// the readers request 6.4 GB every 1.1 s, not every 1 s.
TEST(GangSteps, ReadersAskForWhatStepsWithTheirExchangesNeed) {
  const std::string step = std::string{kAllReduce} + ", dataset: {store: blob, per_step: 100MB}";
  ScenarioRun run{scenario("level: flow", step, kFew,
                           "storage: {stores: [{name: blob, write: 90GBps, read: 90GBps}]}\n"),
                  {},
                  {}};
  EXPECT_NEAR(bytes_read(run), 100 * 6.4e9, 0.01 * 100 * 6.4e9);
}

// The NICs of the A100 nodes have 200 Gbit/s, those of the H100 nodes 400.
TEST(GangSteps, TheSlowestMachineSetsThePaceOfExchanges) {
  const auto run = [](const std::string& pools) {
    std::string yaml = scenario("level: alpha_beta", kAllReduce, kFew);
    const size_t from = yaml.find("pools: [");
    yaml.replace(from, yaml.find("]", from) - from + 1, "pools: [" + pools + "]");
    ScenarioRun done{yaml, {}, {}};
    return run_of(done);
  };
  const std::string fast = "{name: f, machine: dgx-h100, count: ";
  const std::string slow = "{name: s, machine: dgx-a100, count: ";
  EXPECT_LT(run(fast + "8}"), run(slow + "8}"));
  EXPECT_DOUBLE_EQ(run(fast + "4}, " + slow + "4}"), run(slow + "8}"));
}

TEST(GangSteps, YearsOfWorkAreExact) {
  ScenarioRun run{scenario("level: flow", kAllReduce, kEight), {}, {}};
  ScenarioRun years{
      scenario("level: flow", kAllReduce, "{name: a, pods: 8, pod: {gpus: 8}, work: 30000000s}"),
      {},
      {}};
  EXPECT_EQ(years.jobs().at(0).run.ns, run.jobs().at(0).run.ns * 30'000);
}

TEST(GangSteps, MistakesAreReported) {
  const auto errors = [](const std::string& yaml) {
    Diagnostics diagnostics;
    const config::Document document = config::load_text(yaml, "s.yaml", diagnostics);
    static_cast<void>(read_scenario(document, diagnostics));
    return diagnostics.text();
  };
  using testing::HasSubstr;
  const auto rank = [&](const std::string& fault) {
    return errors(
        scenario("level: flow", kAllReduce, kEight, "faults: {ranks: [{" + fault + "}]}\n"));
  };
  EXPECT_THAT(rank("job: b, at: 1s"), HasSubstr("faults.ranks[0].job: no job is called 'b'"));
  EXPECT_THAT(rank("job: a, pod: 8, at: 1s"), HasSubstr("ranks[0].pod: no gang called 'a' has"));
  EXPECT_THAT(rank("job: a, gpus: 9, at: 1s"),
              HasSubstr("ranks[0].gpus: the pods of gang 'a' have fewer"));
  EXPECT_THAT(errors(scenario(
                  "level: flow",
                  "step: {compute: 1s, exchanges: [{bytes: 1MB}], parallel: {tensor: 3}}", kEight)),
              HasSubstr("64 GPUs cannot be shared out evenly among 3 ranks"));
  EXPECT_THAT(errors(scenario("level: flow", kAllReduce,
                              "{name: a, pods: 8, min_available: 4, pod: {gpus: 8}, work: 1h}")),
              HasSubstr("a gang with a step needs all of its pods"));
}

}  // namespace
}  // namespace orrery::gang_steps_test
