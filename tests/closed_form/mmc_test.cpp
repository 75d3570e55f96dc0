// Compares the mean wait of simulated jobs with Erlang's formula. Each job requests one GPU. The
// engine, the controller and the scheduler are the real ones.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "models/cluster/cluster.hpp"
#include "sim/config/node.hpp"
#include "tests/support/report.hpp"

namespace orrery {
namespace {

// The mean wait W by Erlang's formula. Jobs arrive at rate lambda and run for exponential times of
// rate mu on c GPUs, first come first served. With a = lambda / mu and rho = a / c < 1:
//   C = P(wait > 0) = (a^c / (c! (1 - rho))) / (sum_{k<c} a^k / k! + a^c / (c! (1 - rho)))
//   W = C / (c mu - lambda)
double mean_wait(double a, int c) {  // the wait in units of 1 / mu
  double term = 1, sum = 0;          // term is a^k / k!, at the end a^c / c!
  for (int k = 0; k < c; ++k) {
    sum += term;
    term *= a / (k + 1);
  }
  const double waiting = term / (1 - a / c);
  return waiting / (sum + waiting) / (c - a);
}

class Mmc : public testing::TestWithParam<std::string> {};

// Enough jobs for the tolerance of 1 %. On one server of load rho, the mean of n successive waits
// has the variance (in units of 1 / mu^2)
//   rho (2 + 5 rho - 4 rho^2 + rho^3) / (n (1 - rho)^4).
// At rho 0.5 and n = 4 million the standard error is 0.27 % of the mean wait. For jobs that wait, c
// servers act like one server of rate c mu. But only a share C of all jobs waits; with one server
// a share rho waits. So the error is larger by about sqrt(rho / C): 0.33 % for c = 2 at rho 0.5,
// and 0.4 % for c = 3 at rho 0.6.
constexpr int64_t kJobsPerLoad = 4'000'000;

TEST_P(Mmc, MeanWaitIsErlangs) {
  const auto row =
      nlohmann::json::parse(test::case_of("tests/closed_form/data/closed_form.json", GetParam()));
  const nlohmann::json& load = row["input"];
  const int servers = load["servers"], nodes = load["nodes"];
  const int arrivals_per_hour = load["arrivals_per_hour"];
  const int gpus = servers / nodes;
  std::string yaml = R"(
workload:
  sources:
  - kind: generator
    shape:
      kind: classes
      classes: [{gpus: {kind: fixed, value: 1}, duration: {kind: exponential, mean: 10s}}]
)";
  yaml += "    jobs_max: " + std::to_string(kJobsPerLoad) + "\n";
  yaml += "    arrival_rate: " + std::to_string(arrivals_per_hour) + "\n";
  yaml += "cluster:\n  machines: [{name: box, base: hgx-h100, gpus: " + std::to_string(gpus) +
          "}]\n  pools: [{name: n, machine: box, count: " + std::to_string(nodes) + "}]\n";
  yaml += "policy:\n  cost: {per_cycle: 0s, per_node: 0s, per_pod: 0s}\n";
  // First come, first served: a job that does not fit blocks later ones.
  yaml += "  queue: {head_of_line: block}\nrun: {seed: 3}\n";
  Diagnostics diagnostics;
  const config::Document document = config::load_text(yaml, "mmc.yaml", diagnostics);
  const Scenario scenario = read_scenario(document, diagnostics);
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.text();

  Engine engine;
  const RngStreams rng{scenario.run.seed};
  NullRecorder recorder;
  Ground ground{scenario};
  Cluster cluster{Sim{engine, rng, recorder}, scenario, ground};
  recorder.start();
  cluster.start();
  engine.run(Time::max());
  cluster.finish(engine.now());
  EXPECT_EQ(cluster.controller().counters().completed, static_cast<uint64_t>(kJobsPerLoad));
  double wait = -1;
  for (const SummaryValue& value : recorder.summary()) {
    if (value.name == "wait_mean") wait = std::get<double>(value.value);
  }
  const auto service = load["service_s"].get<double>();
  const double expected = service * mean_wait(arrivals_per_hour * service / 3600, servers);
  test::report({.id = GetParam()}, wait, expected);
  EXPECT_NEAR(wait / expected, 1, row["tolerance"].get<double>());
}
INSTANTIATE_TEST_SUITE_P(Loads, Mmc, testing::Values("MMC.1", "MMC.2", "MMC.3"));

}  // namespace
}  // namespace orrery
