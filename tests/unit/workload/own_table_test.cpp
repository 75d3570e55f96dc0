// Traces in the user's own tables (CSV or JSON lines): columns, units and mistakes.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "models/workload/traces/tables/openb_nodes.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::read_text;
using test::ReadTrace;
using Strings = std::vector<std::string>;
using namespace literals;

std::string error_of(const std::string& text, const TraceParams& params = {}) {
  return read_text(text, params).error;
}

TEST(OwnTable, ThreeColumnsAreEnough) {
  const ReadTrace trace = read_text("submit,duration,gpus\n60,3600,8\n0,90min,12\n");
  ASSERT_EQ(trace.error, "");
  EXPECT_EQ(trace.format, TraceFormat::Csv);
  ASSERT_EQ(trace.jobs.size(), 2U);  // jobs are sorted by their submission
  EXPECT_EQ(trace.jobs[0].submit, Time{});
  EXPECT_EQ(trace.jobs[0].duration, 90_min);
  EXPECT_EQ(trace.jobs[0].pods, 2);
  EXPECT_EQ(trace.jobs[0].gpus(), 12);
  EXPECT_EQ(trace.names[0], "3");  // the number of its row; the header is row 1
  EXPECT_EQ(trace.jobs[1].submit, Time{} + 60_s);
  EXPECT_EQ(trace.jobs[1].duration, 1_h);
  EXPECT_EQ(trace.jobs[1].pods, 1);
}

TEST(OwnTable, EveryColumnIsRead) {
  TraceParams params{.file = "jobs.csv", .recorded_nodes = true};
  const std::string text =
      "name,submit,start,end,duration,gpus,pods,user,team,application,priority,status,"
      "requested_time,cpus,memory,gpu_model,node,mood\n"
      "a,100,160,999,50,2,1,ann,nlp,bert,High,FAILED,2h,12.5,64,A100|H100,n1,good\n";
  const auto reader = open_trace_text(params, text);
  const TraceJob* const job = reader->next();
  ASSERT_NE(job, nullptr) << reader->error().value_or("");
  EXPECT_EQ(job->name.view(), "a");
  EXPECT_EQ(job->submit, Time{} + 100_s);
  EXPECT_EQ(job->wait_recorded, 60_s);
  EXPECT_EQ(job->duration, 50_s);
  EXPECT_EQ(job->user, "ann");
  EXPECT_EQ(job->queue, "nlp");
  EXPECT_EQ(job->application, "bert");
  EXPECT_EQ(job->priority, TracePriority::High);
  EXPECT_EQ(job->status, TraceStatus::Failed);
  EXPECT_EQ(job->requested_time, 2_h);
  EXPECT_EQ(job->cpu_milli_per_pod, 12'500);
  EXPECT_EQ(job->memory_per_pod.count, int64_t{64} << 30U);
  EXPECT_EQ(job->gpu_models, "A100|H100");
  EXPECT_EQ(job->node, "n1");
  const TraceColumnUse use = reader->columns();
  EXPECT_EQ(use.read.size(), 17U);
  EXPECT_EQ(use.passed_over, (Strings{"mood"}));
}

TEST(OwnTable, ColumnsMayBeCalledOtherwise) {
  TraceParams params{.file = "jobs.csv"};
  params.columns.submit = "Submitted At";
  params.columns.gpus = "n_gpu";
  params.columns.user = params.columns.team = "owner";
  const std::string text = "owner,Submitted At,duration,n_gpu\nann,5,10,1\n";
  const auto reader = open_trace_text(params, text);
  const TraceJob* const job = reader->next();
  ASSERT_NE(job, nullptr) << reader->error().value_or("");
  EXPECT_EQ(reader->format(), TraceFormat::Csv);
  EXPECT_EQ(job->user, "ann");
  EXPECT_EQ(job->queue, "ann");

  params.columns.pods = "nodes";  // the parameter names the column, so it must exist
  EXPECT_EQ(error_of(text, params),
            "jobs.csv:1: missing column 'nodes'; the parameter columns says what each is called; "
            "its columns are owner, Submitted At, duration, n_gpu");
}

TEST(OwnTable, ANumberInAColumnOfHoursIsRemarkedOn) {
  TraceParams params{.file = "jobs.csv"};
  params.columns.duration = "Hours";
  const auto reader = open_trace_text(params, "submit,Hours,gpus\n0,2.5,8\n0,2.5h,8\n");
  while (reader->next() != nullptr) continue;
  ASSERT_FALSE(reader->error());
  ASSERT_EQ(reader->notes().size(), 1U);
  EXPECT_EQ(reader->notes()[0].what,
            "read as seconds, although its column is named after another unit");
  EXPECT_EQ(reader->notes()[0].rows, 1);
}

TEST(OwnTable, JsonLinesHaveTheSameColumns) {
  const ReadTrace trace = read_text(
      "{\"submit\": 3, \"gpus\": 0.25, \"duration\": \"1h\", \"name\": \"x\", \"tags\": [1, {}]}\n"
      "{\"submit\": 1, \"gpus\": 16, \"duration\": null, \"name\": \"y\"}\n",
      {.default_duration = 5_s});
  ASSERT_EQ(trace.error, "");
  EXPECT_EQ(trace.format, TraceFormat::JsonLines);
  EXPECT_EQ(trace.names, (Strings{"y", "x"}));
  EXPECT_EQ(trace.jobs[0].duration, 5_s);
  EXPECT_EQ(trace.jobs[0].pods, 2);
  EXPECT_EQ(trace.jobs[1].gpu_milli, 250);
}

TEST(OwnTable, DatesStartTheRunAtMidnightAndAllowWindowsInDates) {
  const std::string text =
      "submit,start,end,gpus\n"
      "2024-03-01T10:00:00Z,2024-03-01 10:05:00,2024-03-01 11:05:00,1\n"
      "2024-03-02,2024-03-02,2024-03-02 01:00:00,1\n";
  const ReadTrace trace = read_text(text);
  ASSERT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[0].submit, Time{} + 10_h);
  EXPECT_EQ(trace.jobs[0].duration, 1_h);
  EXPECT_EQ(trace.jobs[0].wait_recorded, 5_min);
  EXPECT_EQ(trace.jobs[1].submit, Time{} + 24_h);
  EXPECT_EQ(read_text(text, {.window_start = "2024-03-02"}).jobs.size(), 1U);
  EXPECT_EQ(error_of("submit,duration,gpus\n5,1,1\n", {.window_start = "2024-03-02"}),
            "window_start: found '2024-03-02', expected seconds as the trace counts them: it has "
            "no dates");
}

TEST(OwnTable, AJobCancelledBeforeItsStartIsKnownByItsEnd) {
  const std::string text =
      "submit,start,end,gpus,status\n10,,70,1,cancelled\n20,30,90,1,completed\n30,,,1,pending\n";
  const ReadTrace kept = read_text(text, {.default_duration = 9_s, .cancelled_unstarted = true});
  ASSERT_EQ(kept.error, "");
  ASSERT_EQ(kept.jobs.size(), 3U);
  EXPECT_EQ(kept.jobs[0].cancelled_after, 60_s);
  EXPECT_EQ(kept.jobs[2].duration, 9_s);
  const ReadTrace without = read_text(text);
  EXPECT_EQ(without.jobs.size(), 1U);
  EXPECT_EQ(without.counts.left_out, 2);
}

struct Wrong {
  std::string text, error;
};
TEST(OwnTable, MistakesHaveTheirPlace) {
  const std::string head = "submit,duration,gpus,pods,status,start,memory\n";
  const Wrong all[] = {
      {head + "0,1,many,1,,,\n",
       ":2:3 (gpus): found 'many', expected a whole number of GPUs, or a share of one, such as "
       "0.25"},
      {head + "0,1,1.5,1,,,\n",
       ":2:3 (gpus): found '1.5', expected a whole number of GPUs, or a share of one, such as "
       "0.25"},
      {head + "0,1,17,1,,,\n", ":2:3 (gpus): found '17', expected at most 16 GPUs per pod"},
      {head + "0,1,2,3,,,\n", ":2:4 (pods): found '3', expected at most as many pods as GPUs"},
      {head + "noon,1,2,1,,,\n",
       ":2:1 (submit): found 'noon', expected seconds >= 0, or a date and time such as 2020-04-01 "
       "12:00:00"},
      {head + "0,1,1,,,,\n2024-01-01,1,1,,,,\n",
       ":3:1 (submit): found '2024-01-01', expected seconds, as in the rows before"},
      {head + "0,-1,2,1,,,\n",
       ":2:2 (duration): found '-1', expected seconds, or a duration such as 90min, from 0 to "
       "3660d"},
      {head + "0,1,2,1,done,,\n",
       ":2:5 (status): found 'done', expected one of completed cancelled canceled failed timeout "
       "node_fail running pending unknown"},
      {head + "9,1,2,1,,8,\n", ":2:6 (start): found '8', expected a time not before submit"},
      {head + "0,1,2,1,,,much\n",
       ":2:7 (memory): found 'much', expected a number of GiB, or a size such as 512GB"},
      {"submit,gpus\n1,2\n",
       ": no column says how long jobs ran: expected duration, or start and end, or the parameter "
       "default_duration"},
  };
  for (const Wrong& wrong : all) {
    EXPECT_EQ(error_of(wrong.text, {.format = TraceFormat::Csv}), "jobs.csv" + wrong.error);
  }
  const Wrong lines[] = {
      {"{\"submit\": 0, \"duration\": 5}\n",
       ":1: missing 'gpus', expected a whole number of GPUs, or a share of one, such as 0.25"},
      {"{\"submit\": 0, \"duration\": 5, \"gpus\": true}\n",
       ":1:38 (gpus): found 'another value', expected a number or a text"},
      {"[1]\n", ":1: expected an object"},
  };
  for (const Wrong& wrong : lines) {
    EXPECT_EQ(error_of(wrong.text, {.format = TraceFormat::JsonLines}), "jobs.csv" + wrong.error);
  }
}

TEST(OwnTable, AFileOfNoKnownFormatIsReportedWithItsColumns) {
  const std::string error = error_of("when,long,n\n1,2,3\n");
  EXPECT_TRUE(error.ends_with(
      "Its first line has when, long, n. For a table of your own, the parameter columns says "
      "which of them are submit, duration and gpus"))
      << error;
}

TEST(OwnTable, AGuessedFormatIsNamedWhereAColumnIsMissing) {
  EXPECT_EQ(error_of("job_id,num_gpu,submit_time,duration\n1,1,1,1\n"),
            "jobs.csv:1: missing column 'model_name' (format tiresias was guessed from the columns "
            "that are there; `format` can name another format)");
}

TEST(OwnTable, ColumnsOfAKnownLogCannotBeNamed) {
  TraceParams params{.format = TraceFormat::Tiresias};
  params.columns.gpus = "num_gpu";
  EXPECT_EQ(error_of("job_id,num_gpu,submit_time,model_name,duration\n1,1,1,m,1\n", params),
            "columns: a trace of format tiresias has columns of its own");
}

TEST(OwnTable, StartsNeedAColumn) {
  const TraceParams at_start{.arrive_at = TraceArrival::Start};
  EXPECT_EQ(error_of("submit,duration,gpus\n0,1,1\n", at_start),
            "arrive_at: jobs.csv has no column start");
  const TraceParams csv{.format = TraceFormat::Csv, .arrive_at = TraceArrival::Start};
  EXPECT_THAT(error_of("submit,duration,gpus,start,start\n0,1,1,0,0\n", csv),
              ::testing::HasSubstr("start"))
      << "the reading stops before columns are known";
  EXPECT_EQ(read_text("submit,start,duration,gpus\n0,7,1,1\n", at_start).jobs.at(0).submit,
            Time{} + 7_s);
}

TEST(OwnTable, NodesHaveAListOfTheirOwn) {
  const OpenbNodeList list = parse_openb_nodes(
      "name,gpus,gpu_model,cpus,memory\na,8,A100,128,1024\nb,0,,64.5,\n", "nodes.csv");
  ASSERT_EQ(list.errors, Strings{});
  ASSERT_EQ(list.nodes.size(), 2U);
  EXPECT_EQ(list.nodes[0].cpu_milli, 128'000);
  EXPECT_EQ(list.nodes[0].memory.count, int64_t{1} << 40U);
  EXPECT_EQ(list.nodes[1].memory.count, 0);
  EXPECT_EQ(parse_openb_nodes("name,gpus,gpu_model,cpus,memory\na,8,,128,1024\n", "n.csv").errors,
            (Strings{"n.csv:2:3 (gpu_model): found '', expected a GPU model, as there are GPUs"}));
}

}  // namespace
}  // namespace orrery
