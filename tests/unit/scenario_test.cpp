// tests/unit/scenario_test.cpp -- warnings and mistakes of whole scenarios.
#include "models/scenario/scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace orrery::scenario_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPools = "cluster: {pools: [{name: gpu, machine: dgx-a100, count: 4}]}\n";
constexpr const char* kJobs = "workload: {sources: [{kind: jobs, jobs: [{work: 1min}]}]}\n";

Diagnostics read(const std::string& text, const std::vector<std::string>& overrides = {}) {
  Diagnostics diagnostics;
  config::Document document = config::load_text(text, "s.yaml", diagnostics);
  for (const std::string& one : overrides) config::apply_override(document, one, diagnostics);
  static_cast<void>(read_scenario(document, diagnostics));
  return diagnostics;
}

std::vector<std::string> warnings(const std::string& text,
                                  const std::vector<std::string>& overrides = {}) {
  const Diagnostics diagnostics = read(text, overrides);
  EXPECT_THAT(diagnostics.messages(), IsEmpty());
  return diagnostics.warnings();
}

TEST(Scenario, ASoundOneHasNoWarnings) {
  EXPECT_THAT(warnings(std::string{kPools} + kJobs + "run: {until: 1h}\n"), IsEmpty());
}

TEST(Scenario, WhatLiesAfterItsEndIsWarnedOf) {
  const std::string text = std::string{kPools} + R"(workload:
  sources:
    - {kind: jobs, jobs: [{work: 1min, submit: 1h}, {work: 1min, submit: 61min}]}
    - {kind: generator, arrival_rate: 1, start: 2h, shape: {kind: preset, preset: helios}}
faults: {list: [{node: gpu-0, at: 1h, repair: 1h}, {node: gpu-0, at: 3h, repair: 1h}]}
)";
  EXPECT_THAT(warnings(text + "run: {until: 10h}\n"), IsEmpty());
  constexpr const char* kLate = ": has no effect: the run ends before, at 1h";
  EXPECT_THAT(
      warnings(text + "run: {until: 1h}\n"),
      ElementsAre("s.yaml:4:74: warning: workload.sources[0].jobs[1].submit" + std::string{kLate},
                  "s.yaml:5:49: warning: workload.sources[1].start" + std::string{kLate},
                  "s.yaml:6:70: warning: faults.list[1].at" + std::string{kLate}));
}

TEST(Scenario, AStallLimitBesideUntilIsWarnedOf) {
  const std::string text = std::string{kPools} + kJobs + "run: {stall_limit: 3h}\n";
  EXPECT_THAT(warnings(text), IsEmpty());
  EXPECT_THAT(warnings(text, {"run.until=1h"}),
              ElementsAre("s.yaml:3:20: warning: run.stall_limit: has no effect: the run "
                          "ends at `until`"));
}

TEST(Scenario, AMachineInNoPoolIsWarnedOf) {
  const std::string text = R"(cluster:
  machines: [{name: small, base: dgx-a100, gpus: 4}, {base: dgx-1v, gpus: 4}]
  pools: [{name: gpu, machine: small, count: 4}]
)";
  EXPECT_THAT(warnings(text + kJobs), ElementsAre("s.yaml:2:54: warning: cluster.machines[1]: no "
                                                  "pool uses this machine, 'dgx-1v'"));
}

TEST(Scenario, FailuresThatNeverStrikeAndRepairsThatTakeNoTimeAreWarnedOf) {
  const std::string text = std::string{kPools} + kJobs + R"(faults:
  nodes: [{rate: 0, repair: {kind: fixed, duration: 0s}}]
  list: [{node: gpu-0, at: 1s, repair: 0s}]
)";
  EXPECT_THAT(
      warnings(text),
      ElementsAre(HasSubstr("s.yaml:4:18: warning: faults.nodes[0].rate: this kind"),
                  HasSubstr("s.yaml:4:53: warning: faults.nodes[0].repair.duration: the "),
                  HasSubstr("s.yaml:5:40: warning: faults.list[0].repair: the repair takes ")));
}

TEST(Scenario, JobsThatNeverEndNeedAnEndOfTheRun) {
  const std::string text = std::string{kPools} +
                           "workload: {sources: [{kind: trace, file: t.csv, departures: false}]}\n";
  EXPECT_THAT(read(text).messages(), ElementsAre("s.yaml:2:61: workload.sources[0].departures: "
                                                 "jobs that never end need run.until"));
  EXPECT_THAT(warnings(text + "run: {until: 1h}\n"), IsEmpty());
}

TEST(Scenario, AnOverrideMayRefineAnEarlierOneButNotTakeItBack) {
  const std::string text = std::string{kPools} + kJobs;
  EXPECT_THAT(warnings(text, {"run={until: 2h}", "run.seed=3"}), IsEmpty());
  EXPECT_THAT(read(text, {"run.seed=3", "run.until=1h", "run={until: 2h}"}).messages(),
              ElementsAre("--set #3:1:1: takes back what 'run.seed=3' has set"));
}

}  // namespace
}  // namespace orrery::scenario_test
