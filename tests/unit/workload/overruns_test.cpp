// Jobs that compute for longer than requested, in scenarios that kill them.
#include <gtest/gtest.h>

#include <string>

#include "models/telemetry/timeline_rows.hpp"
#include "sim/core/check.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

// Runs the job on one node of four GPUs, with a scheduler that takes no time.
ScenarioRun run_of(const std::string& job) {
  return ScenarioRun{R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 4}]
  pools: [{name: n, machine: box, count: 1}]
workload:
  controller: {overruns: kill}
  sources: [{kind: jobs, jobs: [)" +
                     job + R"(]}]
policy: {base: strict_gang, cost: {per_cycle: 0s, per_node: 0s, per_pod: 0s, bind: 0s}}
)"};
}

TEST(Overruns, AGangThatOverranLosesWhatIsNotInACheckpoint) {
  ScenarioRun run = run_of(
      "{name: j, pods: 4, pod: {gpus: 1}, work: 60min, requested: 25min,"
      " training: {checkpoint_interval: 10min}}");
  const std::vector<JobRow> jobs = run.jobs();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].outcome, JobOutcome::Failed);
  EXPECT_EQ(jobs[0].run, 25_min);
  EXPECT_GT(jobs[0].gpu_s_useful, 0);
  EXPECT_GT(jobs[0].gpu_s_lost, 0);
  EXPECT_GT(mark_count("jobs.gang_overran"), 0u);
  EXPECT_NEAR(jobs[0].gpu_s_useful + jobs[0].gpu_s_lost + jobs[0].gpu_s_checkpoint, 4 * 1500, 1e-6);
}

TEST(Overruns, AJobThatNeedsJustWhatItRequestedIsDone) {
  ScenarioRun run = run_of("{name: j, pod: {gpus: 1}, work: 25min, requested: 25min}");
  EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Completed);
}

TEST(Overruns, AJobThatRequestedNothingGoesOn) {
  ScenarioRun run = run_of(
      "{name: j, pod: {gpus: 1}, work: 25min},"
      " {name: other, pod: {gpus: 1}, work: 25min, requested: 20min}");
  for (const JobRow& job : run.jobs()) {
    const bool is_other = job.name.view() == "other";
    EXPECT_EQ(job.outcome, is_other ? JobOutcome::Failed : JobOutcome::Completed);
  }
}

// A job without pods (driver: counting) runs at half or twice its usual speed, and is killed
// between two checkpoints.
TEST(Overruns, WhatAJobOfAnotherPaceHeldAddsUp) {
  for (const char* const speed : {"0.5", "2"}) {
    SCOPED_TRACE(speed);
    ScenarioRun run{std::string{R"(
cluster: {pools: [{name: n, machine: dgx-a100, count: 1}]}
workload:
  controller: {overruns: kill}
  sources:
    - kind: jobs
      jobs:
        - {name: j, pod: {gpus: 4}, submit: 10min, work: 60min, requested: 25min,
           training: {checkpoint_interval: 7min, checkpoint_write: 20s}}
policy:
  driver: counting
  job_queue:
    policies: [{name: Gavel, args: {speeds: {list: [{gpu: A100M80, speed: )"} +
                    speed + R"(}]}}}]
record: {timeline: {interval: 1min}}
)"};
    const JobRow job = run.jobs().at(0);
    EXPECT_EQ(job.outcome, JobOutcome::Failed);
    EXPECT_GT(job.gpu_s_lost, 0);
    EXPECT_NEAR(job.gpu_s_useful + job.gpu_s_lost + job.gpu_s_checkpoint, 4 * 1500, 1e-6);
    double useful = 0;
    Time before;
    for (const UsefulSample& row : run.recorder.rows<UsefulSample>("/timeline/useful")) {
      EXPECT_GE(row.gpus_useful, 0);
      EXPECT_LE(row.gpus_useful, 4);
      useful += row.gpus_useful * (row.time - before).seconds();
      before = row.time;
    }
    EXPECT_NEAR(useful, job.gpu_s_useful, 1e-6);
  }
}

TEST(Overruns, IndependentPodsEndTogetherWhenTheTimeOfTheirJobIsUp) {
  // Six pods of 10 min on four GPUs. Two pods begin at 10 min and compute until 15 min, when the
  // job is killed.
  ScenarioRun run =
      run_of("{name: j, kind: pods, pods: 6, pod: {gpus: 1}, work: 10min, requested: 15min}");
  const std::vector<JobRow> jobs = run.jobs();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].outcome, JobOutcome::Failed);
  EXPECT_EQ(jobs[0].ended - jobs[0].running, 15_min);
  EXPECT_NEAR(jobs[0].gpu_s_useful, 4 * 600, 1e-6);
  EXPECT_NEAR(jobs[0].gpu_s_lost, 2 * 300, 1e-6);
  EXPECT_GT(mark_count("jobs.pods_overran"), 0u);
}

}  // namespace
}  // namespace orrery
