// Time that jobs without pods take to start and to end: policy.job_queue.costs.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

std::string counted_jobs(const std::string& costs) {
  return "cluster: {machines: [{name: box, base: v100m32-8, gpus: 1}], pools: [{name: gpu, "
         "machine: box, count: 2}]}\n"
         "workload: {sources: [{kind: jobs, jobs: [{work: 100s, count: 4, pod: {gpus: 1}}]}]}\n"
         "policy: {driver: counting, job_queue: {policies: [{name: FIFO}], costs: {" +
         costs + "}}}\n";
}

TEST(CountedCosts, WhatAJobHeldIsFreeAfterTheReleaseDelay) {
  ScenarioRun run{counted_jobs("release_delay: 20s")};
  const auto jobs = run.jobs();
  ASSERT_EQ(jobs.size(), 4U);
  EXPECT_EQ(jobs[0].ended, Time{} + 100_s);
  EXPECT_EQ(jobs[2].running, Time{} + 120_s);
  EXPECT_EQ(jobs[3].ended, Time{} + 220_s);
}

TEST(CountedCosts, ABatchOfStartsTakesItsTimeHoweverLargeItIs) {
  ScenarioRun run{counted_jobs("batch_start: 5s")};
  const auto jobs = run.jobs();
  ASSERT_EQ(jobs.size(), 4U);
  EXPECT_EQ(jobs[0].running, Time{} + 5_s);
  EXPECT_EQ(jobs[1].running, Time{} + 5_s);
  EXPECT_EQ(jobs[2].running, Time{} + 110_s);
  EXPECT_EQ(jobs[3].ended, Time{} + 210_s);
}

TEST(CountedCosts, ThePlanThatFollowsWaitsForTheBatch) {
  const std::string two =
      "cluster: {machines: [{name: box, base: v100m32-8, gpus: 1}], pools: [{name: gpu, "
      "machine: box, count: 2}]}\n"
      "workload: {sources: [{kind: jobs, jobs: [{work: 100s, count: 2, every: 3s, pod: {gpus: "
      "1}}]}]}\n"
      "policy: {driver: counting, job_queue: {policies: [{name: FIFO}], costs: {batch_start: "
      "10s}}}\n";
  ScenarioRun run{two};
  EXPECT_EQ(run.jobs().at(0).running, Time{} + 10_s);
  // Job 1 arrived at 3 s. The next plan waited for the first batch of starts, until 10 s. The
  // second batch took 10 s, too.
  EXPECT_EQ(run.jobs().at(1).running, Time{} + 20_s);
}

}  // namespace
}  // namespace orrery
