// The Standard Workload Format: unknown values, variants, and rows that are no jobs.
#include <string>
#include <vector>

#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::read_text;
using test::ReadTrace;
using Strings = std::vector<std::string>;
using namespace literals;

const TraceParams kSwf{.format = TraceFormat::Swf};
const std::string kHeader = "; UnixStartTime: 843480031\n; MaxProcs: 100\n; Note: a\n;\n";

std::vector<std::string> swf_notes(std::string_view text, TraceParams params = {}) {
  params.file = "log.swf";
  params.format = TraceFormat::Swf;
  const auto reader = open_trace_text(params, text);
  while (reader->next() != nullptr) {
  }
  Strings out;
  for (const TraceNote& note : reader->notes())
    out.push_back(std::to_string(note.rows) + " " + note.what);
  if (reader->error()) out.push_back(*reader->error());
  return out;
}

TEST(Swf, ARowBecomesAJobOfOneCorePods) {
  const std::string text =
      kHeader +
      "    7      100 30  600   4     -1    -1    8   900 1024  1   3   2  11  5  1  6 60\n";
  TraceParams params;
  params.file = "log.swf";
  const auto reader = open_trace_text(params, text);
  const TraceJob* job = reader->next();
  ASSERT_NE(job, nullptr) << *reader->error();
  EXPECT_EQ(reader->format(), TraceFormat::Swf);
  EXPECT_EQ(job->id, 7);
  EXPECT_EQ(job->name.view(), "7");
  EXPECT_EQ(job->row, 5);
  EXPECT_EQ(job->submit, Time{} + 100_s);
  EXPECT_EQ(job->wait_recorded, 30_s);
  EXPECT_EQ(job->duration, 600_s);
  EXPECT_EQ(job->requested_time, 900_s);
  EXPECT_EQ(job->pods, 8);
  EXPECT_EQ(job->cpu_milli_per_pod, 1000);
  EXPECT_EQ(job->cpu_milli(), 8000);
  EXPECT_EQ(job->memory_per_pod, 1_MiB);
  EXPECT_EQ(job->gpus(), 0);
  EXPECT_EQ(job->user, "3");
  EXPECT_EQ(job->group, "2");
  EXPECT_EQ(job->application, "11");
  EXPECT_EQ(job->queue, "5");
  EXPECT_EQ(job->after, 6);
  EXPECT_EQ(job->think_time, 60_s);
  EXPECT_EQ(job->status, TraceStatus::Completed);
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_FALSE(reader->error());
  ASSERT_EQ(reader->facts().size(), 3U);
  EXPECT_EQ(reader->facts()[1].first, "MaxProcs");
  EXPECT_EQ(reader->facts()[1].second, "100");
}

TEST(Swf, WhatIsUnknownIsLeftEmpty) {
  const std::string text = "1\t5094 -1  12072.5  16.0 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n";
  TraceParams params = kSwf;
  params.file = "log.swf";
  const auto reader = open_trace_text(params, text);
  const TraceJob* job = reader->next();
  ASSERT_NE(job, nullptr) << *reader->error();
  EXPECT_EQ(job->pods, 16);
  EXPECT_EQ(job->duration, 12'072'500_ms);
  EXPECT_EQ(job->wait_recorded, TraceJob::kUnknownWait);
  EXPECT_EQ(job->requested_time, TraceJob::kUnknown);
  EXPECT_EQ(job->think_time, TraceJob::kUnknown);
  EXPECT_EQ(job->after, TraceJob::kNone);
  EXPECT_TRUE(job->user.empty());
  EXPECT_TRUE(job->queue.empty());
  EXPECT_EQ(job->status, TraceStatus::Unknown);
}

TEST(Swf, TheSizeIsWhatWasRequestedOrWhatWasGiven) {
  const std::string text =
      "1 0 0 10 9 -1 -1 72 20 -1 1 1 1 -1 1 -1 -1 -1\n"
      "2 0 0 10 9 -1 -1 -1 20 -1 1 1 1 -1 1 -1 -1 -1\n"
      "3 0 0 10 -1 -1 -1 5 20 -1 1 1 1 -1 1 -1 -1 -1\n"
      "4 0 0 10 0 -1 -1 -1 20 -1 1 1 1 -1 1 -1 -1 -1\n";
  const auto pods = [&](TraceProcessors which) {
    TraceParams params = kSwf;
    params.swf.processors = which;
    std::vector<int32_t> out;
    for (const TraceJob& job : read_text(text, params).jobs) out.push_back(job.pods);
    return out;
  };
  EXPECT_EQ(pods(TraceProcessors::Requested), (std::vector{72, 9, 5}));
  EXPECT_EQ(pods(TraceProcessors::Allocated), (std::vector{9, 9, 5}));
  EXPECT_EQ(swf_notes(text),
            (Strings{"1 left out: neither requested nor allocated processors are known",
                     "1 requested and allocated processors differ"}));
}

TEST(Swf, AJobMayBeOnePodOfManyCores) {
  TraceParams params = kSwf;
  params.swf.one_pod = true;
  const ReadTrace trace = read_text("1 0 0 10 8 -1 -1 8 20 1024 1 1 1 -1 1 -1 -1 -1\n", params);
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.jobs[0].pods, 1);
  EXPECT_EQ(trace.jobs[0].cpu_milli_per_pod, 8000);
  EXPECT_EQ(trace.jobs[0].memory_per_pod, 8_MiB);
}

TEST(Swf, WhatIsNoJobIsCountedByItsReason) {
  EXPECT_EQ(
      swf_notes("1 0 0 -1 8 -1 -1 8 20 -1 -1 1 1 -1 1 -1 -1 -1\n"
                "2 0 -1 0 8 -1 -1 8 20 -1 5 1 1 -1 1 -1 -1 -1\n"
                "3 0 4 9 8 -1 -1 8 20 -1 2 1 1 -1 1 -1 -1 -1\n"
                "3 0 4 9 8 -1 -1 8 20 -1 3 1 1 -1 1 -1 -1 -1\n"
                "4 0 4 0 8 -1 -1 8 20 -1 5 1 1 -1 1 -1 -1 -1\n"),
      (Strings{"1 left out: the run time is unknown", "1 left out: cancelled before it started",
               "2 left out: part of a job; the whole job has no row above (status 2, 3 or 4)"}));
}

TEST(Swf, PartsOfASwappedJobFollowItsOwnRow) {
  const std::string part = " 0 4 9 8 -1 -1 8 20 -1 ";
  const std::string rest = " 1 1 -1 1 -1 -1 -1\n";
  EXPECT_EQ(swf_notes("3" + part + "1" + rest + "3" + part + "2" + rest + "3" + part + "3" + rest +
                      "9" + part + "4" + rest),
            (Strings{"2 left out: part of a job; the whole job has a row above (status 2, 3 or 4)",
                     "1 left out: part of a job; the whole job has no row above (status 2, 3 or "
                     "4)"}));
}

TEST(Swf, ACancelledJobOfUnknownWaitNeverStartedUnlessItRan) {
  const std::string text =
      "1 0 -1 0 8 -1 -1 8 20 -1 5 1 1 -1 1 -1 -1 -1\n"
      "2 0 -1 7 8 -1 -1 8 20 -1 5 1 1 -1 1 -1 -1 -1\n";
  EXPECT_EQ(read_text(text, kSwf).names, (Strings{"2"}));
  EXPECT_EQ(swf_notes(text), (Strings{"1 left out: cancelled before it started",
                                      "1 cancelled, and ran although its wait is unknown"}));
}

TEST(Swf, WhatAJobUsedIsCheckedAndComparedWithWhatItAskedFor) {
  EXPECT_EQ(swf_notes("1 0 0 10 4 9.75 1024 4 20 2048.5 1 1 1 -1 1 -1 -1 -1\n"), Strings{});
  EXPECT_EQ(swf_notes("1 0 0 10 4 12 4096.5 4 20 2048 1 1 1 -1 1 -1 -1 -1\n"),
            (Strings{"1 used more CPU time on each processor than it ran",
                     "1 used more memory than it requested"}));
  EXPECT_EQ(read_text("1 0 0 10 4 x -1 4 20 -1 1 1 1 -1 1 -1 -1 -1\n", kSwf).error,
            "jobs.csv:1:6 (CPU time used): found 'x', expected a number of seconds, or -1");
  EXPECT_EQ(read_text("1 0 0 10 4 -1 1.5k 4 20 -1 1 1 1 -1 1 -1 -1 -1\n", kSwf).error,
            "jobs.csv:1:7 (used memory): found '1.5k', expected a number up to 1099511627776, or "
            "-1");
}

TEST(Swf, RequestedMemoryMayBeAFraction) {
  const ReadTrace trace = read_text("1 0 0 10 4 -1 -1 4 20 1024.5 1 1 1 -1 1 -1 -1 -1\n", kSwf);
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.jobs[0].memory_per_pod.count, 1'049'088);
}

TEST(Swf, TheNodeListOfTheVariantMayHoldBlanks) {
  const auto queue = [](const std::string& variant) {
    TraceParams params{.file = "jobs.csv", .format = TraceFormat::Swf};
    const std::string text = "1 0 5 9 1 -1 -1 1 20 -1 1 9 1 -1 4 -1 -1 -1 " + variant + "\n";
    const auto reader = open_trace_text(params, text);
    const TraceJob* const job = reader->next();
    return job != nullptr ? std::string{job->queue} : reader->error().value_or("");
  };
  EXPECT_EQ(queue("{n1;n2} q_long 1:ppn=64"), "q_long");
  EXPECT_EQ(queue("{n1 n2  n3} q_long 1:ppn=64"), "q_long");
  EXPECT_EQ(queue("{} q_long 1:ppn=64"), "q_long");
  EXPECT_EQ(queue("-1 q_long 1:ppn=64"), "q_long");
  EXPECT_EQ(queue("77"), "4");  // 19 fields: the queue is field 15
  EXPECT_EQ(queue("{n1 n2 q_long 1:ppn=64"),
            "jobs.csv:1:19 (nodes): found '{n1 n2 q_long 1:ppn=64', expected a list that ends with "
            "'}'");
}

struct Overrun {
  Duration ran, requested;
};
Overrun read_overrun(const std::string& text, TraceOverruns overruns,
                     std::optional<Duration> default_duration = {}) {
  TraceParams params = kSwf;
  params.swf.overruns = overruns;
  params.default_duration = default_duration;
  const TraceJob job = read_text(text, params).jobs.at(0);
  return {job.duration, job.requested_time};
}

TEST(Swf, JobsThatOverranAreKeptOrCutOrTheirRequestIsRaised) {
  const std::string text = "1 0 0 30 8 -1 -1 8 20 -1 1 1 1 -1 1 -1 -1 -1\n";
  const Overrun kept = read_overrun(text, TraceOverruns::Keep);
  EXPECT_EQ(kept.ran, 30_s);
  EXPECT_EQ(kept.requested, 20_s);
  const Overrun cut = read_overrun(text, TraceOverruns::Cut);
  EXPECT_EQ(cut.ran, 20_s);
  EXPECT_EQ(cut.requested, 20_s);
  const Overrun raised = read_overrun(text, TraceOverruns::Raise);
  EXPECT_EQ(raised.ran, 30_s);
  EXPECT_EQ(raised.requested, 30_s);
  EXPECT_EQ(swf_notes(text), (Strings{"1 ran longer than requested"}));
}

TEST(Swf, RaisingChangesNoJobThatKeptToItsRequestOrMadeNone) {
  const std::string within = "1 0 0 10 8 -1 -1 8 20 -1 1 1 1 -1 1 -1 -1 -1\n";
  EXPECT_EQ(read_overrun(within, TraceOverruns::Raise).requested, 20_s);
  const std::string without = "1 0 0 10 8 -1 -1 8 -1 -1 1 1 1 -1 1 -1 -1 -1\n";
  EXPECT_EQ(read_overrun(without, TraceOverruns::Raise).requested, TraceJob::kUnknown);
}

TEST(Swf, AnUnknownRunTimeIsTheDefaultBeforeTheRequestIsRaised) {
  const std::string text = "1 0 0 -1 8 -1 -1 8 20 -1 1 1 1 -1 1 -1 -1 -1\n";
  const Overrun raised = read_overrun(text, TraceOverruns::Raise, 50_s);
  EXPECT_EQ(raised.ran, 50_s);
  EXPECT_EQ(raised.requested, 50_s);
  EXPECT_EQ(read_overrun(text, TraceOverruns::Raise, 5_s).requested, 20_s);
  EXPECT_EQ(read_overrun(text, TraceOverruns::Cut, 50_s).ran, 20_s);
  TraceParams params = kSwf;
  params.swf.overruns = TraceOverruns::Raise;
  const auto left_out = open_trace_text(params, text);
  EXPECT_EQ(test::notes_of(*left_out), (Strings{"1 left out: the run time is unknown"}));
  params.default_duration = 50_s;
  const auto given = open_trace_text(params, text);
  EXPECT_EQ(test::notes_of(*given),
            (Strings{"1 how long it ran is unknown: given the default duration"}));
}

TEST(Swf, LongerRowsBlankLinesAndEpochTimesAreRead) {
  const ReadTrace trace = read_text(
      "\n0 1356998400 5 9 1 -1 -1 1 20 -1 1 92605928607567 1 -1 -1 -1 -1 -1 {n1;n2} q_long "
      "1:ppn=64:x86_64\n\n"
      "0 1356998460 5 9 1 -1 -1 1 20 -1 0 1 1 -1 -1 -1 -1 -1 0\n   \n",
      kSwf);
  ASSERT_EQ(trace.jobs.size(), 2U) << trace.error;
  // The log counts seconds since 1970. Time 0 is the start of the day on which the first job
  // arrives.
  EXPECT_EQ(trace.jobs[0].submit, Time{});
  EXPECT_EQ(trace.jobs[1].submit, Time{} + 60_s);
  EXPECT_EQ(trace.jobs[1].status, TraceStatus::Failed);
  EXPECT_EQ(read_text("0 5 5 9 1 -1 -1 1 20 -1 1 9 1 -1 -1 -1 -1 -1 {n1;n2} q_long 1:ppn=64\n",
                      {.format = TraceFormat::Swf, .queues = {"q_long"}})
                .jobs.size(),
            1U);
}

TEST(Swf, WrongFieldsAreReportedByRowColumnAndName) {
  const std::string good = "1 0 0 10 9 -1 -1 9 20 -1 1 1 1 -1 1 -1 -1 -1\n";
  const auto error = [&](const std::string& row) { return read_text(good + row, kSwf).error; };
  EXPECT_EQ(error("2 0 0\n"), "jobs.csv:2: found 3 fields, expected at least 18 fields");
  EXPECT_EQ(error("2 x 0 10 9 -1 -1 9 20 -1 1 1 1 -1 1 -1 -1 -1\n"),
            "jobs.csv:2:2 (submit time): found 'x', expected a number of seconds, or -1");
  EXPECT_EQ(error("2 -1 0 10 9 -1 -1 9 20 -1 1 1 1 -1 1 -1 -1 -1\n"),
            "jobs.csv:2:2 (submit time): found '-1', expected a number of seconds >= 0");
  EXPECT_EQ(error("2 0 0 10 9 -1 -1 9.5 20 -1 1 1 1 -1 1 -1 -1 -1\n"),
            "jobs.csv:2:8 (requested processors): found '9.5', expected a whole number up to "
            "10000000, or -1");
  EXPECT_EQ(error("2 0 0 10 9 -1 -1 9 20 -1 6 1 1 -1 1 -1 -1 -1\n"),
            "jobs.csv:2:11 (status): found '6', expected a whole number up to 5, or -1");
  TraceParams lenient = kSwf;
  lenient.lenient = true;
  const ReadTrace trace = read_text(good + "2 0 0\n" + good, lenient);
  EXPECT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.counts.skipped, 1);
  EXPECT_EQ(trace.error, "");
}

}  // namespace
}  // namespace orrery
