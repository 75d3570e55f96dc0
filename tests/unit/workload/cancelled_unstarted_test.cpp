// Jobs that were cancelled before they started, according to their trace.
#include <string>
#include <vector>

#include "models/workload/sources/trace_source.hpp"
#include "models/workload/traces/native/native_writer.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::read_text;
using test::ReadTrace;
using test::TemporaryFile;
using namespace literals;

const std::string kSerenUnstarted =
    "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,"
    "queue,gpu_time\n"
    "1,u,1,8,8,Debug,CANCELLED,2023-03-01 00:10:00+08:00,,2023-03-01 00:15:00+08:00,,,\n"
    "2,u,1,8,8,Debug,FAILED,2023-03-01 00:10:00+08:00,,2023-03-01 00:15:00+08:00,,,\n"
    "3,u,1,8,8,Debug,CANCELLED,2023-03-01 00:10:00+08:00,,,,,\n"
    "4,u,1,8,8,Debug,CANCELLED,2023-03-01 00:10:00+08:00,,2023-03-01 00:05:00+08:00,,,\n"
    "5,u,1,8,8,Debug,CANCELLED,2023-03-01 00:20:00+08:00,2023-03-01 00:21:00+08:00,"
    "2023-03-01 00:31:00+08:00,,,\n";

TraceParams with_unstarted() {
  TraceParams params;
  params.cancelled_unstarted = true;
  params.default_duration = 1_h;
  return params;
}

TEST(CancelledUnstarted, AcmeTellsWhenTheyWereCancelled) {
  const ReadTrace trace = read_text(kSerenUnstarted, with_unstarted());
  ASSERT_EQ(trace.jobs.size(), 2U) << trace.error;
  EXPECT_EQ(trace.jobs[0].id, 1);
  EXPECT_EQ(trace.jobs[0].cancelled_after, 5_min);
  EXPECT_EQ(trace.jobs[0].duration, 1_h);
  EXPECT_EQ(trace.jobs[1].id, 5);
  EXPECT_EQ(trace.jobs[1].cancelled_after, TraceJob::kUnknown);
  EXPECT_EQ(trace.jobs[1].duration, 10_min);
}

TEST(CancelledUnstarted, TheyAreLeftOutUnlessAskedForAndWhereNoDurationIsKnown) {
  EXPECT_EQ(read_text(kSerenUnstarted).jobs.size(), 1U);
  TraceParams params = with_unstarted();
  params.default_duration.reset();
  EXPECT_EQ(read_text(kSerenUnstarted, params).jobs.size(), 1U);
  params = with_unstarted();
  params.arrive_at = TraceArrival::Start;
  EXPECT_EQ(read_text(kSerenUnstarted, params).jobs.size(), 1U);
}

TEST(CancelledUnstarted, GoogleTellsOfThoseThatWereKilled) {
  const std::string text =
      "600000000,,8,0,userB,0,name,logical\n"
      "601000000,,9,0,userB,0,name,logical\n"
      "603000000,,8,5,userB,0,name,logical\n"
      "604000000,,9,2,userB,0,name,logical\n";
  const ReadTrace trace = read_text(text, with_unstarted());
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.jobs[0].id, 8);
  EXPECT_EQ(trace.jobs[0].cancelled_after, 3_s);
  EXPECT_EQ(trace.jobs[0].status, TraceStatus::Cancelled);
  EXPECT_EQ(read_text(text).jobs.size(), 0U);
}

// A job that waits at the start of the trace's window is cancelled after the rest of its recorded
// wait.
TEST(CancelledUnstarted, OnesThatWaitAtTheStartOfTheWindowAreCancelledAtTheirTime) {
  TraceParams params = with_unstarted();
  params.window_start = "2023-03-01 00:12:00";
  ReadTrace trace = read_text(kSerenUnstarted, params);
  ASSERT_EQ(trace.jobs.size(), 2U) << trace.error;
  EXPECT_EQ(trace.jobs[0].submit, Time{});
  EXPECT_EQ(trace.jobs[0].cancelled_after, 3_min);
  params.window_start = "2023-03-01 00:16:00";
  trace = read_text(kSerenUnstarted, params);
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
}

TEST(CancelledUnstarted, TheNativeFormatKeepsThem) {
  const TemporaryFile file{""};
  TraceParams params = with_unstarted();
  params.file = "jobs.csv";
  const auto source = open_trace_text(params, kSerenUnstarted);
  NativeWriter writer{file.path(), source->facts()};
  while (const TraceJob* job = source->next()) writer.add(*job);
  ASSERT_TRUE(writer.finish()) << writer.error();
  params = {.file = file.path()};
  int jobs = 0;
  for (auto reader = open_trace(params); reader->next() != nullptr;) ++jobs;
  EXPECT_EQ(jobs, 1);
  params.cancelled_unstarted = true;
  const auto reader = open_trace(params);
  const TraceJob* const job = reader->next();
  ASSERT_NE(job, nullptr) << reader->error().value_or("");
  EXPECT_EQ(job->cancelled_after, 5_min);
  EXPECT_EQ(job->duration, 1_h);
}

TEST(CancelledUnstarted, TheirUsersCancelThemIfEndsAreReplayed) {
  TraceSourceParams params;
  static_cast<TraceParams&>(params) = with_unstarted();
  params.file = "jobs.csv";
  auto source = make_trace_source(open_trace_text(params, kSerenUnstarted), params, {});
  ASSERT_NE(source->peek(), nullptr);
  EXPECT_EQ(source->peek()->cancel_after, 5_min);
  EXPECT_FALSE(source->peek()->ending);
  EXPECT_EQ(source->peek()->work, 1_h);
  source->pop();
  EXPECT_FALSE(source->peek()->cancel_after);
  EXPECT_EQ(source->peek()->ending->cause, EndCause::Cancelled);
  params.ends = TraceEnds::Completed;
  source = make_trace_source(open_trace_text(params, kSerenUnstarted), params, {});
  EXPECT_FALSE(source->peek()->cancel_after);
}

}  // namespace
}  // namespace orrery
