// Jobs of one GPU through the engine, the controller and the real scheduler, against Erlang's
// formula.
#include <gtest/gtest.h>

#include "models/cluster.hpp"
#include "sim/config/node.hpp"

namespace orrery {
namespace {

// Arrivals of rate lambda, exponential times of rate mu, c GPUs, first come first served; with
// a = lambda / mu and rho = a / c < 1:
//   C = P(wait > 0) = (a^c / (c! (1 - rho))) / (sum_{k<c} a^k / k! + a^c / (c! (1 - rho)))
//   W = C / (c mu - lambda)
double mean_wait(double a, int c) {  // in units of 1 / mu
  double term = 1, sum = 0;          // a^k / k!
  for (int k = 0; k < c; ++k) {
    sum += term;
    term *= a / (k + 1);
  }
  const double waiting = term / (1 - a / c);
  return waiting / (sum + waiting) / (c - a);
}

struct Load {
  int servers;
  bool is_one_node;
  int arrivals_per_hour;  // of jobs of 10 s: rho = arrivals / 360 / servers
};

class Mmc : public testing::TestWithParam<Load> {};

// For one server the mean of n successive waits has the variance (in units of 1 / mu^2)
//   rho (2 + 5 rho - 4 rho^2 + rho^3) / (n (1 - rho)^4),
// a standard error of 0.27 % at rho 0.5 and n = 4 million. With c servers those who wait see one
// server of rate c mu, but only C of all wait instead of rho: times sqrt(rho / C), estimated, it is
// 0.33 % for c = 2 and 0.4 % for c = 3 at rho 0.6.
constexpr int64_t kJobs = 4'000'000;

TEST_P(Mmc, MeanWaitIsErlangs) {
  const Load load = GetParam();
  const int gpus = load.is_one_node ? load.servers : 1;
  const int nodes = load.is_one_node ? 1 : load.servers;
  std::string yaml = R"(
workload:
  sources:
  - kind: generator
    shape:
      kind: classes
      classes: [{gpus: {kind: fixed, value: 1}, duration: {kind: exponential, mean: 10s}}]
)";
  yaml += "    jobs_max: " + std::to_string(kJobs) + "\n";
  yaml += "    arrival_rate: " + std::to_string(load.arrivals_per_hour) + "\n";
  yaml += "cluster:\n  machines: [{name: box, base: hgx-h100, gpus: " + std::to_string(gpus) +
          "}]\n  pools: [{name: n, machine: box, count: " + std::to_string(nodes) + "}]\n";
  yaml += "policy:\n  cost: {per_cycle: 0s, per_node: 0s, per_pod: 0s}\n";
  // First come, first served: who does not fit holds back who comes after.
  yaml += "  queue: {head_of_line: block}\nrun: {seed: 3}\n";
  Diagnostics diagnostics;
  const config::Document document = config::load_text(yaml, "mmc.yaml", diagnostics);
  const Scenario scenario = read_scenario(document, diagnostics);
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();

  Engine engine;
  const RngStreams rng{scenario.run.seed};
  NullRecorder recorder;
  Ground ground{scenario.cluster, scenario.run.seed};
  Cluster cluster{Sim{engine, rng, recorder}, scenario, ground};
  recorder.start();
  cluster.start();
  engine.run(Time::max());
  cluster.finish(engine.now());
  EXPECT_EQ(cluster.controller().counters().completed, static_cast<uint64_t>(kJobs));
  double wait = -1;
  for (const SummaryValue& value : recorder.summary()) {
    if (value.name == "wait_mean") wait = std::get<double>(value.value);
  }
  const double a = load.arrivals_per_hour / 360.0;
  EXPECT_NEAR(wait / 10 / mean_wait(a, load.servers), 1, 0.01);
}
INSTANTIATE_TEST_SUITE_P(Loads, Mmc,
                         testing::Values(Load{1, true, 180}, Load{2, false, 360},
                                         Load{3, true, 648}));

}  // namespace
}  // namespace orrery
