// Output of `sacct --parsable2` as jobs. Field formats: sacct(1) of Slurm 25.11.
#include <string>
#include <vector>

#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::read_text;
using test::ReadTrace;
using Strings = std::vector<std::string>;
using namespace literals;

const std::string kHead =
    "JobID|User|Account|Partition|Submit|Start|End|Elapsed|State|Timelimit|ReqTRES|AllocTRES\n";

std::string row(const std::string& id, const std::string& start, const std::string& end,
                const std::string& elapsed, const std::string& state, const std::string& held) {
  return id + "|ann|nlp|gpu|2024-03-01T10:00:00|" + start + "|" + end + "|" + elapsed + "|" +
         state + "|1-00:00:00|cpu=8,mem=64G,node=2,billing=8,gres/gpu=16|" + held + "\n";
}
const std::string kHeld = "billing=32,cpu=32,gres/gpu:a100=16,gres/gpu=16,mem=100G,node=2";

TEST(Sacct, AnAllocationIsAJobAndItsStepsAreNot) {
  const std::string text =
      kHead +
      row("12", "2024-03-01T10:30:00", "2024-03-02T11:30:01", "1-01:00:01", "COMPLETED", kHeld) +
      row("12.batch", "2024-03-01T10:30:00", "2024-03-02T11:30:01", "1-01:00:01", "COMPLETED",
          "cpu=16,mem=50G,node=1") +
      row("12.0", "2024-03-01T10:30:00", "2024-03-02T11:30:01", "1-01:00:01", "COMPLETED", kHeld);
  TraceParams params{.file = "jobs.txt"};
  const auto reader = open_trace_text(params, text);
  const TraceJob* const job = reader->next();
  ASSERT_NE(job, nullptr) << reader->error().value_or("");
  EXPECT_EQ(reader->format(), TraceFormat::Sacct);
  EXPECT_EQ(job->id, 12);
  EXPECT_EQ(job->submit, Time{} + 10_h);
  EXPECT_EQ(job->wait_recorded, 30_min);
  EXPECT_EQ(job->duration, 25_h + 1_s);
  EXPECT_EQ(job->requested_time, 24_h);
  EXPECT_EQ(job->pods, 2);
  EXPECT_EQ(job->gpus_per_pod, 8);
  EXPECT_EQ(job->cpu_milli_per_pod, 16'000);
  EXPECT_EQ(job->memory_per_pod.count, int64_t{50} << 30U);
  EXPECT_EQ(job->user, "ann");
  EXPECT_EQ(job->group, "nlp");
  EXPECT_EQ(job->queue, "gpu");
  EXPECT_EQ(job->gpu_models, "");  // "a100" is a name of the site, not of the catalogue
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_EQ(reader->counts().left_out, 2);
}

TEST(Sacct, StatesSayHowJobsEnded) {
  const std::string start = "2024-03-01T10:00:00", end = "2024-03-01T10:00:10";
  std::string text = kHead;
  for (const char* state :
       {"COMPLETED", "CANCELLED by 1001", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED"}) {
    text += row("7_1", start, end, "00:10", state, kHeld);
  }
  const ReadTrace trace = read_text(text);
  ASSERT_EQ(trace.error, "");
  std::vector<TraceStatus> statuses;
  for (const TraceJob& job : trace.jobs) statuses.push_back(job.status);
  using enum TraceStatus;
  EXPECT_EQ(statuses, (std::vector{Completed, Cancelled, Timeout, NodeFail, Failed, Cancelled}));
  EXPECT_EQ(trace.jobs[0].duration, 10_s);
  EXPECT_EQ(trace.names[0], "7_1");
}

TEST(Sacct, UnusedResourcesMayHaveAnyCount) {
  const std::string energy = ",energy=18446744073709551614";  // what Slurm writes if it is unknown
  const ReadTrace trace = read_text(kHead + row("1", "2024-03-01T10:00:00", "2024-03-01T10:00:10",
                                                "00:10", "COMPLETED", kHeld + energy));
  ASSERT_EQ(trace.error, "");
  EXPECT_EQ(trace.jobs.at(0).gpus(), 16);
}

TEST(Sacct, WhatNeverStartedOrHasNotEndedIsCounted) {
  const std::string text =
      kHead + row("1", "Unknown", "Unknown", "00:00:00", "PENDING", "") +
      row("2", "None", "2024-03-01T10:05:00", "00:00:00", "CANCELLED by 7", "") +
      row("3", "2024-03-01T10:01:00", "Unknown", "00:09:00", "RUNNING", kHeld);
  const ReadTrace none = read_text(text);
  EXPECT_EQ(none.error, "");
  EXPECT_EQ(none.counts.left_out, 3);
  const ReadTrace kept = read_text(text, {.default_duration = 1_h, .cancelled_unstarted = true});
  ASSERT_EQ(kept.jobs.size(), 2U) << kept.error;
  EXPECT_EQ(kept.jobs[0].cancelled_after, 5_min);
  EXPECT_EQ(kept.jobs[0].duration, 24_h);  // the job never started: its time limit
  EXPECT_EQ(kept.jobs[0].gpus(), 16);      // the requested GPUs
  EXPECT_EQ(kept.jobs[1].duration, 1_h);
}

TEST(Sacct, TypesOfGpusAreTakenIfAsked) {
  const std::string text = kHead + row("1", "2024-03-01T10:00:00", "2024-03-01T10:00:10", "00:10",
                                       "COMPLETED", "cpu=1,node=1,gres/gpu:h100=2");
  TraceParams params{.file = "jobs.txt"};
  params.sacct.gpu_types = true;
  const auto reader = open_trace_text(params, text);
  const TraceJob* const job = reader->next();
  ASSERT_NE(job, nullptr) << reader->error().value_or("");
  EXPECT_EQ(job->gpu_models, "h100");
  EXPECT_EQ(job->gpus(), 2);
}

TEST(Sacct, MistakesHaveTheirPlace) {
  const std::string at = "2024-03-01T10:00:00";
  const auto error = [](const std::string& text) { return read_text(text).error; };
  EXPECT_EQ(error(kHead + row("1", at, at, "5s", "COMPLETED", kHeld)),
            "jobs.csv:2:8 (Elapsed): found '5s', expected a time such as 1-02:03:04, 02:03:04 or "
            "03:04");
  EXPECT_EQ(error(kHead + row("1", at, at, "00:05", "DONE", kHeld)),
            "jobs.csv:2:9 (State): found 'DONE', expected a sacct state like COMPLETED");
  EXPECT_EQ(error(kHead + row("1", at, at, "00:05", "COMPLETED", "gpu")),
            "jobs.csv:2:12 (AllocTRES): found 'gpu', expected resources such as "
            "cpu=16,mem=100G,node=2,gres/gpu=8");
  EXPECT_EQ(error(kHead + row("1", "10:00:00", at, "00:05", "COMPLETED", kHeld)),
            "jobs.csv:2:6 (Start): found '10:00:00', expected a time such as 2024-04-01T12:00:00 "
            "(SLURM_TIME_FORMAT=standard)");
  EXPECT_EQ(error("JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode\n"),
            "jobs.csv:1: missing column 'Submit': run sacct --allusers --allocations --parsable2 "
            "--starttime ... --format JobID,Submit,Start,End,State,Elapsed,ReqTRES,AllocTRES,User,"
            "Account,Partition,Timelimit");
}

}  // namespace
}  // namespace orrery
