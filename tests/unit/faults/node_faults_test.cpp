#include "models/faults/node_faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/config/reader.hpp"
#include "sim/core/check.hpp"
#include "tests/support/job_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

struct FaultWorld : JobWorld {
  FaultWorld(const Options& options, FaultParams params)
      : JobWorld{options},
        faults{{engine, rng, recorder}, cluster, presence, controller, jobs, params} {
    if (options.binds) presence.node_up.connect([this](NodeId) { bind_all(); });
  }
  void run_until(Time end) {
    faults.start();
    run(end);
    faults.finish();
  }
  std::vector<FaultRow> fault_rows() {
    recorder.flush_all();
    return recorder.rows<FaultRow>("/events/faults");
  }
  NodeFaults faults;
};

FaultParams random_faults(double rate, RepairDistribution repair) {
  NodeFailureParams node;
  node.rate = rate;
  node.repair = repair;
  FaultParams params;
  params.nodes.push_back(node);
  return params;
}

FaultParams listed(std::vector<ListedFaultParams> list) {
  FaultParams params;
  params.list = std::move(list);
  return params;
}

TEST(NodeFaults, AListedFaultStopsAJobAndItsRepairBringsTheNodeBack) {
  FaultWorld world{{.nodes = 2, .gpus = 8}, listed({{.node = "n0", .at = 100_s, .repair = 50_s}})};
  world.add({make_job(JobKind::MpiGang, 2, 8, 200_s), make_job(JobKind::Pods, 1, 0, 1000_s)});
  std::vector<std::pair<std::string, Time>> news;
  world.presence.node_down.connect([&](NodeId n, NodeReason) {
    EXPECT_FALSE(world.cluster.up().contains(n));
    // The job controller was connected to the signal first, so it has handled the failure.
    EXPECT_EQ(world.jobs.job({0}).phase, JobPhase::Hung);
    news.emplace_back("down", world.engine.now());
  });
  world.presence.node_up.connect([&](NodeId n) {
    EXPECT_TRUE(world.cluster.up().contains(n));
    news.emplace_back("up", world.engine.now());
  });
  world.run_until(Time{} + 1000_s);
  EXPECT_THAT(news, ElementsAre(Pair("down", Time{} + 100_s), Pair("up", Time{} + 150_s)));
  const auto rows = world.fault_rows();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].node, NodeId{0});
  EXPECT_EQ(rows[0].kind, FaultKind::Listed);
  EXPECT_EQ(rows[0].cause.view(), "list");
  EXPECT_EQ(rows[0].at, Time{} + 100_s);
  EXPECT_EQ(rows[0].repaired_at, Time{} + 150_s);
  EXPECT_EQ(rows[0].jobs_hit, 2);
  EXPECT_EQ(rows[0].gpus_hit, 8);
}

TEST(NodeFaults, AFaultOnANodeAlreadyDownIsRepairedInParallel) {
  FaultWorld world{{.nodes = 1, .gpus = 8},
                   listed({{.node = "0", .at = 10_s, .repair = 100_s},
                           {.node = "n0", .at = 50_s, .repair = 10_s},
                           {.node = "n0", .at = 60_s, .repair = 100_s}})};
  std::vector<int64_t> ups;
  world.presence.node_up.connect([&](NodeId) { ups.push_back(world.engine.now().ns); });
  world.run_until(Time{} + 1000_s);
  EXPECT_THAT(ups, ElementsAre(160'000'000'000));
  EXPECT_EQ(world.faults.counters().faults, 3u);
  EXPECT_EQ(world.faults.counters().nodes_failed, 1u);
  EXPECT_GT(mark_count("faults.node_was_down_already"), 0u);
}

TEST(NodeFaults, AFaultNotRepairedInTheRunHasARow) {
  FaultWorld world{{.nodes = 1, .gpus = 8},
                   listed({{.node = "n0", .at = 10_s, .repair = Duration::max()}})};
  world.run_until(Time{} + 1000_s);
  ASSERT_EQ(world.fault_rows().size(), 1u);
  EXPECT_EQ(world.fault_rows()[0].repaired_at, Time{-1});
  EXPECT_EQ(world.presence.nodes_down(), 1u);
}

std::vector<std::tuple<NodeId, Time, Time>> times(FaultWorld& world) {
  std::vector<std::tuple<NodeId, Time, Time>> all;
  for (const FaultRow& row : world.fault_rows())
    all.emplace_back(row.node, row.at, row.repaired_at);
  return all;
}

TEST(NodeFaults, TwoPoliciesSeeTheSameFaults) {
  const FaultParams params = random_faults(100, LognormalRepair{});
  FaultWorld busy{{.nodes = 20, .gpus = 8}, params};
  FaultWorld idle{{.nodes = 20, .gpus = 8, .binds = false}, params};
  for (FaultWorld* world : {&busy, &idle}) {
    world->add(std::vector<JobSpec>(20, make_job(JobKind::MpiGang, 2, 4, 48_h)));
    world->run_until(Time{} + 60_d);
  }
  EXPECT_GT(busy.controller.counters().pods_lost, 0u);
  EXPECT_EQ(idle.controller.counters().pods_lost, 0u);
  EXPECT_EQ(times(busy), times(idle));
}

TEST(NodeFaults, AnotherKindOfFailureDoesNotShiftTheFirst) {
  FaultParams params = random_faults(100, FixedRepair{});
  FaultWorld one{{.nodes = 5, .gpus = 8}, params};
  params.nodes.push_back(params.nodes[0]);
  params.nodes[1].name = "other";
  FaultWorld two{{.nodes = 5, .gpus = 8}, params};
  one.run_until(Time{} + 100_d);
  two.run_until(Time{} + 100_d);
  std::vector<Time> alone, beside;
  for (const FaultRow& row : one.fault_rows()) alone.push_back(row.at);
  for (const FaultRow& row : two.fault_rows()) {
    if (row.cause.view() == "node") beside.push_back(row.at);
  }
  EXPECT_EQ(alone, beside);
  EXPECT_GT(two.fault_rows().size(), alone.size());
}

// Times to failure have mean m and coefficient of variation c. In a long span T a node fails about
// T / m times, with a variance of c^2 T / m. Nodes are independent.
struct Renewal {
  FailureDistribution distribution;
  double shape;
  double variation;  // coefficient of variation of the time to failure
};
class NodeFaultRate : public ::testing::TestWithParam<Renewal> {};

TEST_P(NodeFaultRate, FailuresAreAsManyAsTheRateSays) {
  FaultParams params = random_faults(50, FixedRepair{.duration = {}});
  params.nodes[0].distribution = GetParam().distribution;
  params.nodes[0].weibull_shape = GetParam().shape;
  FaultWorld world{{.nodes = 500, .gpus = 8}, params};
  world.run_until(Time{} + 2000_d);
  const double expected = 500 * 2000 * 50 / 1000.0;
  // The time to failure has the mean m and the variation c. Then the mean number of failures of a
  // node in a long time T is T / m + (c^2 - 1) / 2. The second term arises because every node is
  // new at time 0.
  const double start = 500 * (GetParam().variation * GetParam().variation - 1) / 2;
  EXPECT_NEAR(static_cast<double>(world.faults.counters().faults), expected + start,
              4 * GetParam().variation * std::sqrt(expected));
}
INSTANTIATE_TEST_SUITE_P(Distributions, NodeFaultRate,
                         ::testing::Values(Renewal{FailureDistribution::Exponential, 1, 1},
                                           Renewal{FailureDistribution::Weibull, 1, 1},
                                           // For shape k the variation is sqrt(Gamma(1 + 2/k) /
                                           // Gamma(1 + 1/k)^2 - 1).
                                           Renewal{FailureDistribution::Weibull, 2, 0.522723},
                                           Renewal{FailureDistribution::Weibull, 0.7, 1.462445}));

// A node alternates between up and down. It is up for the share MTBF / (MTBF + MTTR) of the time.
TEST(NodeFaults, AvailabilityIsMtbfOverMtbfPlusMttr) {
  FaultWorld world{{.nodes = 400, .gpus = 8}, random_faults(100, ExponentialRepair{.mean = 24_h})};
  double down_s = 0;
  std::vector<Time> since(400);
  world.presence.node_down.connect(
      [&](NodeId n, NodeReason) { since[n.index] = world.engine.now(); });
  world.presence.node_up.connect(
      [&](NodeId n) { down_s += (world.engine.now() - since[n.index]).seconds(); });
  world.run_until(Time{} + 4000_d);
  const double availability = 1 - down_s / 86400 / (400 * 4000.0);
  EXPECT_NEAR(availability, 10.0 / 11.0, 0.002);
}

TEST(RepairDistributions, DrawsKeepMedianMeanAndCut) {
  Rng rng{7};
  const LognormalRepair lognormal;
  const ExponentialRepair exponential;
  int below_median = 0, beyond_a_day = 0, cut = 0;
  double sum_s = 0;
  for (int i = 0; i < 100'000; ++i) {
    const Duration drawn = lognormal.draw(rng);
    below_median += drawn < lognormal.median;
    beyond_a_day += drawn > 1_d;
    cut += drawn == lognormal.max;
    EXPECT_LE(drawn, 60_d);
    sum_s += exponential.draw(rng).seconds();
  }
  EXPECT_NEAR(below_median / 1e5, 0.5, 0.007);
  EXPECT_NEAR(beyond_a_day / 1e5, 0.381, 0.007);  // 1 - Phi(ln(24 h / median) / sigma)
  EXPECT_GT(cut, 0);
  EXPECT_NEAR(sum_s / 1e5 / 60, 355, 5);
}

FaultParams read(std::string_view text, const ClusterState& cluster, Diagnostics& diagnostics) {
  const config::Document document = config::load_text(text, "s.yaml", diagnostics);
  const config::Node& section = document.root["faults"];
  auto params = read_params<FaultParams>(section, "faults", diagnostics);
  if (diagnostics.ok()) params.check(cluster, section, diagnostics);
  return params;
}

TEST(FaultParams, AreReadFromAScenario) {
  JobWorld world;
  Diagnostics diagnostics;
  const FaultParams params = read(R"(
faults:
  nodes:
    - rate: 2.34
      distribution: weibull
      weibull_shape: 0.8
      repair: {kind: lognormal, median: 54min, sigma: 1.94}
    - {name: reboot, rate: 20, repair: {kind: fixed, duration: 15min}}
  list:
    - {node: n1, at: 2h, repair: 1h}
    - {node: 2, at: 3h, repair: 0s}
)",
                                  world.cluster, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  ASSERT_EQ(params.nodes.size(), 2u);
  EXPECT_EQ(std::get<LognormalRepair>(params.nodes[0].repair).median, 54_min);
  EXPECT_EQ(params.nodes[1].name, "reboot");
  EXPECT_EQ(find_node(world.cluster, params.list[1].node), NodeId{2});
}

TEST(FaultParams, MistakesAreReportedWithTheirPosition) {
  struct Case {
    const char* text;
    const char* message;
  };
  const JobWorld world;
  for (const Case& c :
       {Case{"faults:\n  list:\n    - {node: m0, at: 1h, repair: 1h}",
             "s.yaml:3:14: faults.list[0].node: the cluster has no node 'm0'; did you mean 'n0'?"},
        Case{"faults: {list: [{node: 4, at: 1h, repair: 1h}]}", "has no node '4'"},
        Case{"faults: {nodes: [{node_selector: {rack: x}}]}",
             "s.yaml:1:34: faults.nodes[0].node_selector: no node of the cluster has these labels"},
        Case{"faults: {nodes: [{rate: -1}]}", "faults.nodes[0].rate"},
        Case{"faults: {nodes: [{repair: {kind: lognormal, median: 0s}}]}", "median"},
        Case{"faults: {nodes: [{name: ''}]}", "must not be empty"},
        Case{"faults: {list: [{at: 1h}]}", "node"}}) {
    Diagnostics diagnostics;
    static_cast<void>(read(c.text, world.cluster, diagnostics));
    EXPECT_THAT(diagnostics.text(), HasSubstr(c.message)) << c.text;
  }
}

FailureLog small_log() {
  FailureLog log;
  log.nodes = {"a", "b"};
  log.causes = {"hardware", "software"};
  log.outages = {{.start = Time{} + 10_s, .length = 5_s, .node = 0, .cause = 0},
                 {.start = Time{} + 10_s, .length = 2_s, .node = 1, .cause = 1},
                 {.start = Time{} + 12_s, .length = 1_s, .node = 0, .cause = 1},
                 {.start = Time{} + 60_s, .node = 1, .cause = 0}};
  return log;
}

TEST(NodeFaults, ALogIsReplayedOnTheNodesInItsOrder) {
  FaultWorld world{{.nodes = 3, .gpus = 8}, {}};
  FailureLogParams params;
  params.file = "log";
  params.repair = FixedRepair{.duration = 7_s};
  EXPECT_THAT(
      world.faults.replay(small_log(), params),
      ElementsAre("log: 2 nodes in the log are replayed on 3: the other nodes have no failures "
                  "from this log"));
  world.run_until(Time{} + 100_s);
  const auto rows = world.fault_rows();
  ASSERT_EQ(rows.size(), 4U);
  using Fault = std::tuple<uint32_t, Time, Time, std::string>;
  std::vector<Fault> seen;
  for (const FaultRow& row : rows) {
    EXPECT_EQ(row.kind, FaultKind::Logged);
    seen.emplace_back(row.node.index, row.at, row.repaired_at, std::string{row.cause.view()});
  }
  EXPECT_THAT(seen, ElementsAre(Fault{1, Time{} + 10_s, Time{} + 12_s, "software"},
                                Fault{0, Time{} + 12_s, Time{} + 13_s, "software"},
                                Fault{0, Time{} + 10_s, Time{} + 15_s, "hardware"},
                                Fault{1, Time{} + 60_s, Time{} + 67_s, "hardware"}));
  EXPECT_EQ(world.faults.counters().nodes_failed, 3U) << "one fault struck a node already down";
  EXPECT_EQ(world.presence.nodes_down(), 0U);
}

TEST(NodeFaults, ALogIsRepeatedOverALargerClusterOrCutToASmallerOne) {
  FaultWorld large{{.nodes = 5, .gpus = 8}, {}};
  FailureLogParams params;
  params.file = "log";
  params.repeat = true;
  EXPECT_THAT(large.faults.replay(small_log(), params), ::testing::IsEmpty());
  large.run_until(Time{} + 30_s);
  EXPECT_EQ(large.faults.counters().faults, 3U + 2U + 3U) << "a of 0, 2, 4; b of 1, 3; a again";
  FaultWorld small{{.nodes = 1, .gpus = 8}, {}};
  EXPECT_THAT(small.faults.replay(small_log(), params),
              ElementsAre(HasSubstr("failures of the others are left out")));
  small.run_until(Time{} + 100_s);
  EXPECT_EQ(small.faults.counters().faults, 2U);
}

TEST(NodeFaults, ShuffledLogsStrikeOtherNodesWithEachSeed) {
  FailureLog log = small_log();
  FailureLogParams params;
  params.nodes = LogNodes::Shuffled;
  std::vector<uint32_t> first;
  for (const uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    FaultWorld world{{.nodes = 500, .gpus = 8, .seed = seed}, {}};
    static_cast<void>(world.faults.replay(log, params));
    world.run_until(Time{} + 11_s);
    for (const FaultRow& row : world.fault_rows()) {
      if (row.cause.view() == "hardware") first.push_back(row.node.index);
    }
  }
  ASSERT_EQ(first.size(), 5U);
  std::sort(first.begin(), first.end());
  EXPECT_GE(std::unique(first.begin(), first.end()) - first.begin(), 4);
}

}  // namespace
}  // namespace orrery
