// Logs with several rows for a job: Google 2011.
#include <string>
#include <vector>

#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::notes_of;
using test::read_text;
using test::ReadTrace;
using Strings = std::vector<std::string>;
using namespace literals;

TEST(Google, AJobGoesFromItsSubmissionOverItsSchedulingToItsEnd) {
  const std::string text =
      "0,,7,0,userA,3,name,logical\n"
      "600000000,,8,0,userB,0,name,logical\n"
      "601000000,,8,1,userB,0,name,logical\n"
      "611500000,,8,4,userB,0,name,logical\n"
      "612000000,2,9,1,userC,1,name,logical\n"
      "613000000,,9,3,userC,1,name,logical\n"
      "614000000,,10,4,userC,1,name,logical\n"
      "615000000,,11,0,userC,1,name,logical\n"
      "616000000,,11,5,userC,1,name,logical\n"
      "9223372036854775807,,7,4,userA,3,name,logical\n";
  TraceParams params;
  params.file = "jobs.csv";
  const auto reader = open_trace_text(params, text);
  const TraceJob* job = reader->next();
  ASSERT_NE(job, nullptr) << *reader->error();
  EXPECT_EQ(reader->format(), TraceFormat::GoogleJobs);
  EXPECT_EQ(job->id, 8);
  EXPECT_EQ(job->submit, Time{} + 600_s);
  EXPECT_EQ(job->wait_recorded, 1_s);
  EXPECT_EQ(job->duration, 10'500_ms);
  EXPECT_EQ(job->user, "userB");
  EXPECT_EQ(job->queue, "0");
  EXPECT_EQ(job->status, TraceStatus::Completed);
  job = reader->next();
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->id, 9);
  EXPECT_EQ(job->status, TraceStatus::Failed);
  EXPECT_EQ(
      notes_of(*reader),
      (Strings{"1 left out: an end without a submission",
               "1 left out: ended before it was scheduled",
               "1 left out: an event after the log ends, at an unknown time",
               "1 left out: still pending when the log ends",
               "1 an event before the log begins, at an unknown time",
               "1 an event that was missing and was made up", "1 scheduled without a submission"}));
}

TEST(Google, ATaskThatIsSubmittedAgainLivesAgain) {
  const std::string life =
      "1000000,,5,2,,0,user,1,9,0.25,0.125,0.001,0\n2000000,,5,2,33,1,user,1,9,0.25,0.125,0.001,"
      "0\n";
  const ReadTrace trace =
      read_text(life + "3000000,,5,2,33,2,user,1,9,0.25,0.125,0.001,0\n" +
                "4000000,,5,2,,0,user,1,9,,,,\n5000000,,5,2,33,1,user,1,9,,,,\n" +
                "9000000,,5,2,33,4,user,1,9,,,,\n");
  ASSERT_EQ(trace.jobs.size(), 2U) << trace.error;
  EXPECT_EQ(trace.format, TraceFormat::GoogleTasks);
  EXPECT_EQ(trace.names, (Strings{"5.2", "5.2"}));
  EXPECT_EQ(trace.jobs[0].duration, 1_s);
  EXPECT_EQ(trace.jobs[0].status, TraceStatus::Unknown);  // the task was evicted
  EXPECT_EQ(trace.jobs[0].cpu_milli_per_pod, 250);
  EXPECT_EQ(trace.jobs[0].memory_per_pod.count, 1 << 27);
  EXPECT_EQ(trace.jobs[0].priority, TracePriority::High);
  EXPECT_EQ(trace.jobs[1].duration, 4_s);
}

TEST(Google, TheCondensedTableHasAHeader) {
  const ReadTrace trace = read_text(
      "time_us,missing_info,job_id,event_type,user_idx,scheduling_class,logical_name_idx\n"
      "10,,5,0,3,2,9\n20,,5,1,3,2,9\n50,,5,5,3,2,9\n");
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.format, TraceFormat::GoogleCondensed);
  EXPECT_EQ(trace.jobs[0].duration, 30_us);
  EXPECT_EQ(trace.jobs[0].status, TraceStatus::Cancelled);
}

TEST(Google, WrongEventsAreReportedByRowAndColumn) {
  EXPECT_EQ(read_text("0,,7,0,u,3,n,l\n1,,7,9,u,3,n,l\n").error,
            "jobs.csv:2:4 (event type): found '9', expected an integer from 0 to 8");
  EXPECT_EQ(read_text("5,,7,0,u,3,n,l\n9,,7,1,u,3,n,l\n7,,7,4,u,3,n,l\n").error,
            "jobs.csv:3:1 (time): found '7', expected a time not before the job's last event");
}

TEST(Google, WhatATaskAsksForBesideCpuAndMemoryIsNotReplayedAndTold) {
  const std::string text =
      "1000000,,5,2,,0,user,1,9,0.25,0.125,0.001,1\n2000000,,5,2,33,1,user,1,9,0.25,0.125,0.001,1\n"
      "9000000,,5,2,33,4,user,1,9,0.25,0.125,0.001,1\n";
  TraceParams params;
  params.file = "jobs.csv";
  EXPECT_EQ(notes_of(*open_trace_text(params, text)),
            (Strings{"1 asks for disk: not replayed",
                     "1 may not share a machine with a task of its job: not replayed"}));
}

}  // namespace
}  // namespace orrery
