// Users cancel jobs that wait in the job queue or have pending pods. Started jobs are not
// cancelled.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "models/scheduling/job_queue/job_queue_log.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

const std::string kTwoBoxes = R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 4}]
  pools: [{name: n, machine: box, count: 2}]
)";
const std::string kFree = "  cost: {per_cycle: 0s, per_node: 0s, per_pod: 0s}\n";

std::vector<JobRow> by_serial(ScenarioRun& run) {
  std::vector<JobRow> jobs = run.jobs();
  std::ranges::sort(jobs, {}, &JobRow::job);
  return jobs;
}

void expect_cancelled(const JobRow& job, Time when) {
  EXPECT_EQ(job.outcome, JobOutcome::Cancelled) << job.name.view();
  EXPECT_EQ(job.cause, EndCause::Cancelled) << job.name.view();
  EXPECT_EQ(job.ended, when) << job.name.view();
  EXPECT_EQ(job.running, kNever) << job.name.view();
}

// The first job holds both nodes for an hour. `others` are jobs that wait behind it.
std::string first_and(const std::string& others) {
  return kTwoBoxes + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: first, pods: 2, pod: {gpus: 4}, work: 1h}
)" + others;
}

const std::string kThreeWait = R"(
    - {name: half, submit: 1s, pods: 1, pod: {gpus: 4}, work: 2h, cancel_after: 20min}
    - {name: second, submit: 2s, pods: 2, pod: {gpus: 4}, work: 1h, cancel_after: 20min}
    - {name: last, submit: 3s, pods: 2, pod: {gpus: 4}, work: 1h}
)";

TEST(JobCancellation, AJobThatWaitsInTheJobQueueLeavesIt) {
  for (const char* const driver : {"driver: counting\n", "base: strict_gang\n"}) {
    for (const char* const plan :
         {"Strict", "Skip", "EASY", "Conservative", "DRF", "KubeDL", "SlurmBackfill"}) {
      ScenarioRun run{first_and(kThreeWait) + "policy:\n  " + driver +
                      "  job_queue: {policies: [{name: " + plan + "}]}\n"};
      ASSERT_EQ(run.result.end, SimulationResult::End::Done) << driver << plan;
      const auto jobs = by_serial(run);
      expect_cancelled(jobs[1], Time{} + 1_s + 20_min);
      expect_cancelled(jobs[2], Time{} + 2_s + 20_min);
      EXPECT_EQ(jobs[3].outcome, JobOutcome::Completed) << driver << plan;
    }
  }
}

// Plans such as SRTF and Gavel stop running jobs to start waiting ones. So a waiting job may start
// before its cancellation is due. A started job is not cancelled.
TEST(JobCancellation, PlansThatShareTimeForgetCancelledJobs) {
  for (const char* const plan : {"SRTF", "Tiresias", "Gavel", "Themis", "Lucid"}) {
    ScenarioRun run{first_and(kThreeWait) + R"(
    - {name: later, submit: 3h, count: 9, every: 7min, pods: 2, pod: {gpus: 4}, work: 1h,
       cancel_after: 3min}
policy: {driver: counting, job_queue: {policies: [{name: )" +
                    plan + "}]}}\n"};
    ASSERT_EQ(run.result.end, SimulationResult::End::Done) << plan;
    for (const JobRow& job : run.jobs()) {
      const bool is_cancelled = job.outcome == JobOutcome::Cancelled;
      EXPECT_TRUE(is_cancelled || job.outcome == JobOutcome::Completed) << plan;
      EXPECT_EQ(is_cancelled, job.running == kNever) << plan << job.name.view();
    }
  }
}

// The head needs more GPUs than are free. Once it is cancelled, the job behind it starts.
TEST(JobCancellation, AJobBehindACancelledHeadStarts) {
  ScenarioRun run{kTwoBoxes + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: half, pods: 1, pod: {gpus: 4}, work: 1h}
    - {name: head, submit: 1s, pods: 2, pod: {gpus: 4}, work: 1h, cancel_after: 10min}
    - {name: next, submit: 2s, pods: 1, pod: {gpus: 4}, work: 1h}
policy: {driver: counting, job_queue: {}}
)"};
  const auto jobs = by_serial(run);
  expect_cancelled(jobs[1], Time{} + 1_s + 10_min);
  EXPECT_EQ(jobs[2].running, Time{} + 1_s + 10_min);
}

TEST(JobCancellation, AJobThatAnAdmitHoldsIsForgotten) {
  for (const char* const react : {"each_instant", "each_event"}) {
    ScenarioRun run{kTwoBoxes + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: first, user: a, pods: 1, pod: {gpus: 4}, work: 1h}
    - {name: held, user: a, submit: 1s, pods: 1, pod: {gpus: 4}, work: 1h, cancel_after: 10min}
    - {name: later, user: a, submit: 30min, pods: 1, pod: {gpus: 4}, work: 1h}
record: {attempts: true}
policy:
  driver: counting
  job_queue:
    policies: [{name: Quota, args: {of: user, others: 4}}]
    react: )" + std::string{react} +
                    "\n"};
    ASSERT_EQ(run.result.end, SimulationResult::End::Done);
    const auto jobs = by_serial(run);
    expect_cancelled(jobs[1], Time{} + 1_s + 10_min);
    EXPECT_EQ(jobs[2].running, Time{} + 1_h);
    // Job 2 gets the table slot of the cancelled job 1. Nevertheless "held" must be recorded for
    // job 2, too.
    std::string logged;
    for (const QueueRow& row : run.recorder.rows<QueueRow>("/events/job_queue")) {
      if (row.job > 0) logged += std::string{name_of(row.decision)} + std::to_string(row.job) + " ";
    }
    EXPECT_EQ(logged, "held1 cancelled1 held2 started2 ");
  }
}

TEST(JobCancellation, PendingPodsAreDeletedAndTheirNodesGivenBack) {
  const std::string jobs_yaml = R"(
    - {name: gang, submit: 1s, pods: 2, pod: {gpus: 4}, work: 1h, cancel_after: 20min}
    - {name: pods, kind: pods, submit: 2s, pods: 2, pod: {gpus: 4}, work: 1h, cancel_after: 20min}
    - {name: last, submit: 3s, pods: 2, pod: {gpus: 4}, work: 1h}
)";
  for (const char* const base :
       {"base: strict_gang\n", "base: coscheduling\n", "base: default\n"}) {
    for (const char* const queue : {"", "  job_queue: {counts: [pods]}\n"}) {
      ScenarioRun run{first_and(jobs_yaml) + "policy:\n  " + base + kFree + queue};
      ASSERT_EQ(run.result.end, SimulationResult::End::Done) << base << queue;
      const auto jobs = by_serial(run);
      expect_cancelled(jobs[1], Time{} + 1_s + 20_min);
      EXPECT_EQ(jobs[1].created, Time{} + 1_s) << base << queue;
      expect_cancelled(jobs[2], Time{} + 2_s + 20_min);
      EXPECT_EQ(jobs[3].outcome, JobOutcome::Completed) << base << queue;
    }
  }
}

// Without a gang plugin, gangs a and b hold one node each, which is a deadlock. It ends when b is
// cancelled, because the pods of b are deleted.
TEST(JobCancellation, AGangWithSomeOfItsNodesGivesThemBackAndEndsItsDeadlock) {
  ScenarioRun run{kTwoBoxes + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: a, pods: 2, pod: {gpus: 3}, work: 1h}
    - {name: b, pods: 2, pod: {gpus: 3}, work: 1h, cancel_after: 20min}
    - {name: c, submit: 30min, pods: 2, pod: {gpus: 1}, work: 1h}
  controller: {pod_creation_interval: 1s}
policy:
  base: default
)" + kFree};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  const auto jobs = by_serial(run);
  expect_cancelled(jobs[1], Time{} + 20_min);
  EXPECT_EQ(jobs[0].outcome, JobOutcome::Completed);
  EXPECT_EQ(jobs[2].outcome, JobOutcome::Completed);
  const auto deadlocks = run.deadlocks();
  ASSERT_EQ(deadlocks.size(), 1U);
  EXPECT_EQ(deadlocks[0].resolution, DeadlockEnd::PodsDeleted);
  EXPECT_EQ(deadlocks[0].resolved_at, Time{} + 20_min);
  EXPECT_GT(jobs[1].gpu_s_held, 0);
}

TEST(JobCancellation, AJobThatHasStartedIsNotCancelled) {
  for (const char* const policy :
       {"{driver: counting, job_queue: {}}", "{base: strict_gang}", "{base: default}"}) {
    ScenarioRun run{kTwoBoxes + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: gang, pods: 2, pod: {gpus: 2}, work: 1h, cancel_after: 20min}
    - {name: pods, kind: pods, pods: 2, pod: {gpus: 2}, work: 1h, cancel_after: 20min}
policy: )" + std::string{policy} +
                    "\n"};
    ASSERT_EQ(run.result.end, SimulationResult::End::Done);
    for (const JobRow& job : run.jobs()) EXPECT_EQ(job.outcome, JobOutcome::Completed) << policy;
  }
}

// Only a job that has never started is cancelled. A job that was stopped for another job is not,
// even if its cancellation is due at the instant at which it stops.
TEST(JobCancellation, AJobThatWasStoppedIsNotCancelled) {
  for (const char* const driver : {"driver: counting", "base: strict_gang"}) {
    for (const char* const cancel_after : {"20min", "25min", "27min"}) {
      for (const char* const write : {"0s", "5min"}) {
        ScenarioRun run{kTwoBoxes + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: long, pods: 2, pod: {gpus: 4}, work: 60min, cancel_after: )" +
                        cancel_after + R"(}
    - {name: short, submit: 20min, pods: 2, pod: {gpus: 4}, work: 10min}
policy: {)" + driver + R"(, job_queue: {policies: [{name: SRTF}], estimates: {kind: exact},
         stops: {write: )" +
                        write + "}}}\n"};
        SCOPED_TRACE(std::string{driver} + " " + cancel_after + " " + write);
        for (const JobRow& job : run.jobs()) EXPECT_EQ(job.outcome, JobOutcome::Completed);
        const auto stops =
            std::ranges::find(run.result.summary, "jobs_stopped", &SummaryValue::name);
        ASSERT_NE(stops, run.result.summary.end());
        EXPECT_EQ(std::get<int64_t>(stops->value), 1);
      }
    }
  }
}

TEST(JobCancellation, AtTheInstantOfItsStartTheCancellationIsFirst) {
  const std::string second =
      "    - {name: second, pods: 2, pod: {gpus: 4}, work: 1h, cancel_after: 1h}\n";
  ScenarioRun counted{first_and(second) + "policy: {driver: counting, job_queue: {}}\n"};
  expect_cancelled(by_serial(counted)[1], Time{} + 1_h);
  ScenarioRun at_once{first_and("    - {name: second, cancel_after: 0s, work: 1h, pods: 1}\n") +
                      "policy: {driver: counting, job_queue: {}}\n"};
  expect_cancelled(by_serial(at_once)[1], Time{});
}

}  // namespace
}  // namespace orrery
