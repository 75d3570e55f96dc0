// A change of the profile during the run: which pods keep their nodes, and which are scheduled
// again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

constexpr std::string_view kLargeBeforeSmall =
    "cluster: {pools: [{name: n, machine: dgx-a100, count: 2}]}\n"
    "workload:\n"
    "  sources:\n"
    "    - kind: jobs\n"
    "      jobs:\n"
    "        - {name: first, submit: 0s, work: 5h, pods: 1, pod: {gpus: 8}}\n"
    "        - {name: large, submit: 10min, work: 1h, pods: 2, pod: {gpus: 8}}\n"
    "        - {name: small, submit: 20min, work: 1h, pods: 1, pod: {gpus: 8}}\n"
    "policy: {base: strict_gang, queue: {head_of_line: block}}\n";

Time start_of(ScenarioRun& run, std::string_view name) {
  for (const JobRow& job : run.jobs()) {
    if (job.name.view() == name) return job.running;
  }
  ADD_FAILURE() << name;
  return {};
}

TEST(ProfileChange, WhatWaitedIsDecidedAgainAndWhatRunsStays) {
  ScenarioRun before{std::string{kLargeBeforeSmall}};
  EXPECT_GE(start_of(before, "small"), Time{} + 5_h);
  ScenarioRun after{std::string{kLargeBeforeSmall},
                    {"run.changes=[{at: 40min, policy: {base: strict_gang}}]"}};
  EXPECT_GE(start_of(after, "small"), Time{} + 40_min);
  EXPECT_LT(start_of(after, "small"), Time{} + 41_min);
  EXPECT_EQ(start_of(after, "first"), start_of(before, "first"));
  EXPECT_EQ(start_of(after, "large"), start_of(before, "large"));
}

// One member of the gang has a reserved node and waits in Permit for the other member. A change of
// the profile must release the reserved node.
TEST(ProfileChange, ReservationsAreGivenUp) {
  const std::string gang =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 2}]}\n"
      "workload:\n"
      "  sources:\n"
      "    - kind: jobs\n"
      "      jobs:\n"
      "        - {name: first, submit: 0s, work: 30s, pods: 1, pod: {gpus: 8}}\n"
      "        - {name: gang, submit: 1s, work: 1h, pods: 2, pod: {gpus: 8}}\n"
      "policy: {base: coscheduling}\n"
      "record: {attempts: true}\n";
  ScenarioRun run{gang, {"run.changes=[{at: 5s, policy: {base: default}}]"}};
  const auto jobs = run.jobs();
  ASSERT_EQ(jobs.size(), 2U);
  for (const JobRow& job : jobs) EXPECT_EQ(job.outcome, JobOutcome::Completed) << job.name.view();
}

struct Pair {
  const char* from;
  const char* to;
};

class ProfileChanges : public ::testing::TestWithParam<Pair> {};

// Every job must have a row, audits check the accounts throughout the run, and a second run,
// without audits, must have the same digest.
TEST_P(ProfileChanges, LoseNoPod) {
  const std::string world =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 6}]}\n"
      "workload:\n"
      "  sources:\n"
      "    - {kind: generator, arrival_rate: 30, jobs_max: 60, gpus_per_pod_max: 8, shape: {kind: "
      "classes, classes: [{gpus: {kind: discrete, values: [1, 8, 16, 32], weights: [4, 2, 2, 1]}, "
      "duration: {kind: exponential, mean: 20min}}]}}\n"
      "faults: {nodes: [{name: node, rate: 400, repair: {kind: exponential, mean: 10min}}]}\n"
      "run: {until: 4d}\n";
  for (int minute = 7; minute < 120; minute += 23) {
    std::string change = "run.changes=[{at: ";
    change += std::to_string(minute) + "min, policy: {base: " + GetParam().to;
    change += "}}, {at: " + std::to_string(minute + 31) + "min, policy: {base: ";
    change += std::string{GetParam().from} + "}}]";
    const std::vector<std::string> sets{std::string{"policy.base="} + GetParam().from, change,
                                        "run.seed=" + std::to_string(minute)};
    ScenarioRun once{world, sets, {.audit_every = 20}}, twice{world, sets, {.audit_every = 0}};
    EXPECT_EQ(once.result.digest, twice.result.digest);
    EXPECT_EQ(once.jobs().size(), 60U) << change;
    // Each run ends with the policy `from`. Under `default`, gangs may deadlock.
    if (GetParam().from == std::string_view{"default"}) continue;
    for (const JobRow& job : once.jobs()) EXPECT_EQ(job.outcome, JobOutcome::Completed) << change;
  }
}

INSTANTIATE_TEST_SUITE_P(Bases, ProfileChanges,
                         ::testing::Values(Pair{"default", "strict_gang"},
                                           Pair{"strict_gang", "native_gang"},
                                           Pair{"native_gang", "default"}));

}  // namespace
}  // namespace orrery
