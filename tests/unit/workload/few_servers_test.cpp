// Warnings about gangs that run on fewer nodes than their parameter servers need.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> warnings(const std::string& level, const std::string& sizes,
                                  const std::string& servers) {
  ScenarioRun run{
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}\nnetwork: {level: " + level +
      "}\nworkload:\n  training: {step: {compute: 1s, exchanges: [{collective: push_pull, bytes: "
      "1GB, servers: {" +
      servers +
      "}}]}}\n  sources:\n    - {kind: generator, arrival_rate: 60, jobs_max: 20, shape: {kind: "
      "classes, classes: [{gpus: {kind: " +
      sizes +
      "}, duration: {kind: fixed, value: 1min}}]}}\npolicy: {base: strict_gang}\n"
      "faults: {list: [{node: n-0, at: 5min, repair: 1min}, {node: n-1, at: 10min, repair: "
      "1min}]}\n"};
  EXPECT_EQ(run.result.end, SimulationResult::End::Done);
  EXPECT_EQ(run.jobs().size(), 20U);
  return run.result.warnings;
}

TEST(FewServers, OfJobsThatVaryInSizeAreReportedAtTheEnd) {
  for (const std::string level : {"alpha_beta", "flow"}) {
    SCOPED_TRACE(level);
    EXPECT_THAT(warnings(level, "fixed, value: 32", "count: 4"), IsEmpty());
    EXPECT_THAT(warnings(level, "discrete, values: [16, 32], weights: [1, 0]",
                         "count: 3, placement: dedicated"),
                ElementsAre("job 'job-0' (0) has 1 of the 3 parameter servers that training.step "
                            "asks for: it runs on 2 nodes; 20 jobs in all have too few of them"));
    EXPECT_THAT(warnings(level, "discrete, values: [8], weights: [1]", "count: 4"),
                ElementsAre("job 'job-0' (0) has 0 of the 4 parameter servers that training.step "
                            "asks for: it runs on 1 node; 20 jobs in all have too few of them"));
  }
}

}  // namespace
}  // namespace orrery
