// A gang that requires all its nodes under one leaf switch drops this requirement after some time
// or some failed attempts, like jobs at Philly.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

// Two leaves of two nodes each. Long jobs hold one node under each leaf, so no leaf has two free
// nodes for job `pair`.
std::string scenario(const std::string& args) {
  return R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 4}]
  pools:
  - {name: left, machine: box, count: 2, nodes_per_leaf: 2}
  - {name: right, machine: box, count: 2, nodes_per_leaf: 2}
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: hold, work: 100h, pod: {gpus: 4, node_selector: {pool: left}}}
    - {name: hold, work: 100h, pod: {gpus: 4, node_selector: {pool: right}}}
    - {name: pair, submit: 1min, pods: 2, pod: {gpus: 4}, work: 1h}
policy:
  base: strict_gang
  cost: {per_cycle: 0s, per_node: 0s, per_pod: 0s}
  plugins: [{name: TopologyPlacement, args: )" +
         args + R"(}]
  queue: {initial_backoff: 2min, max_backoff: 3min, pop_from_backoff: false, unschedulable_max: 30s}
run: {until: 10h}
)";
}

Time start_of_pair(const std::string& args) {
  ScenarioRun run{scenario(args)};
  for (const JobRow& job : run.jobs()) {
    if (job.name.view() == "pair") return job.running;
  }
  return Time::max();
}

TEST(LocalityRelaxation, WithoutItTheGangWaitsForItsLeaf) {
  EXPECT_LT(start_of_pair("{level: leaf}"), Time{}) << "never";
}

TEST(LocalityRelaxation, AfterWaitingItTakesAnyNodes) {
  const Time start = start_of_pair("{level: leaf, relax_after: 10min}");
  EXPECT_GE(start, Time{} + 11_min);
  EXPECT_LE(start, Time{} + 15_min) << "a retry comes every 3 min or so";
}

// The pair fails at 1 min, and again after a backoff of 2 min. The next backoff is 3 min
// (max_backoff). So the third attempt, the first that may take any nodes, is at 6 min. The test
// allows for one attempt more.
TEST(LocalityRelaxation, AfterAttemptsInVainItTakesAnyNodes) {
  const Time start = start_of_pair("{level: leaf, relax_attempts: 2}");
  EXPECT_GE(start, Time{} + 1_min + 2_min + 3_min);
  EXPECT_LE(start, Time{} + 1_min + 2_min + 3_min + 3_min);
}

}  // namespace
}  // namespace orrery
