// Replays of traces that record the outcomes of jobs.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/support/scheduler_world.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

constexpr const char* kThreeEnds =
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
    "1,u,v,8,8,1,COMPLETED,2020-09-01 00:00:00,2020-09-01 00:00:00,2020-09-01 00:10:00,600,0\n"
    "2,u,v,8,8,1,CANCELLED,2020-09-01 00:00:00,2020-09-01 00:00:00,2020-09-01 00:05:00,300,0\n"
    "3,u,v,8,8,1,FAILED,2020-09-01 00:00:00,2020-09-01 00:00:00,2020-09-01 00:01:00,60,0\n"
    "4,u,v,8,8,1,TIMEOUT,2020-09-01 00:00:00,2020-09-01 00:00:00,2020-09-01 00:02:00,120,0\n"
    "5,u,v,8,8,1,NODE_FAIL,2020-09-01 00:00:00,2020-09-01 00:00:00,2020-09-01 00:03:00,180,0\n";

std::string replay_of(const std::string& file, const std::string& ends) {
  return "cluster: {pools: [{name: gpu, machine: dgx-a100, count: 5}]}\n"
         "workload: {sources: [{kind: trace, format: helios, file: " +
         file + ends + "}]}\n";
}

TEST(RecordedEndsOfTraces, JobsEndAsRecordedAfterTheRecordedTime) {
  const test::TemporaryFile file{kThreeEnds};
  ScenarioRun run{replay_of(file.path(), "")};
  const auto jobs = run.jobs();
  ASSERT_EQ(jobs.size(), 5U);
  for (const JobRow& job : jobs) {
    switch (job.external_id) {
      case 1:
        EXPECT_EQ(job.outcome, JobOutcome::Completed);
        EXPECT_EQ(job.exit_code, 0);
        EXPECT_EQ(job.cause, EndCause::None);
        break;
      case 2:
        EXPECT_EQ(job.outcome, JobOutcome::Cancelled);
        EXPECT_EQ(job.run, 300_s);
        break;
      case 3:
        EXPECT_EQ(job.outcome, JobOutcome::Failed);
        EXPECT_EQ(job.cause, EndCause::Error);
        EXPECT_EQ(job.exit_code, 1);
        EXPECT_EQ(job.run, 60_s);
        EXPECT_DOUBLE_EQ(job.gpu_s_lost, 480);
        break;
      case 4:
        EXPECT_EQ(job.cause, EndCause::TimeLimit);
        break;
      default:
        EXPECT_EQ(job.cause, EndCause::NodeFailed);
    }
    EXPECT_EQ(job.restarts, 0);
  }
}

TEST(RecordedEndsOfTraces, AllMayComplete) {
  const test::TemporaryFile file{kThreeEnds};
  ScenarioRun run{replay_of(file.path(), ", ends: completed")};
  for (const JobRow& job : run.jobs()) EXPECT_EQ(job.outcome, JobOutcome::Completed);
}

// One job is submitted each minute, and is cancelled after 30 s. So at most one
// submitted job at a time is not over.
TEST(RecordedEndsOfTraces, ProgressCountsCancelledJobsAsOver) {
  std::string rows =
      "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
      "queue\n";
  for (int i = 0; i < 24 * 60; ++i) {
    char row[160];
    std::snprintf(row, sizeof row,
                  "%d,u,v,8,8,1,CANCELLED,2020-09-01 %02d:%02d:00,2020-09-01 %02d:%02d:00,"
                  "2020-09-01 %02d:%02d:30,30,0\n",
                  i + 1, i / 60, i % 60, i / 60, i % 60, i / 60, i % 60);
    rows += row;
  }
  const test::TemporaryFile file{rows};
  SimulationProgress last{};
  const SimulationOptions options{.on_progress = [&](const SimulationProgress& p) { last = p; }};
  ScenarioRun run{replay_of(file.path(), ""), {}, options};
  ASSERT_GT(last.jobs_submitted, 100U);
  EXPECT_GE(last.jobs_over + 1, last.jobs_submitted);
}

}  // namespace
}  // namespace orrery
