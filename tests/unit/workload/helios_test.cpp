// The three Helios formats, and features of all readers: windows, filters, order.
#include <string>
#include <vector>

#include "tests/unit/workload/trace_support.hpp"

namespace orrery::helios_test {
namespace {

using test::read_text;
using test::ReadTrace;
using Strings = std::vector<std::string>;
using namespace literals;

const std::string kHeader =
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
    "queue\n";

// One row of a log. Fields that a test does not set are well formed.
struct Row {
  std::string id = "1";
  std::string vc = "vcA";
  std::string gpus = "8";
  std::string cpus = "64";
  std::string nodes = "1";
  std::string state = "COMPLETED";
  std::string submit = "2020-04-01 10:00:00";
  std::string start = "2020-04-01 10:00:05";
  std::string end = "2020-04-01 11:00:05";
  std::string text() const {
    return id + ",u1," + vc + "," + gpus + "," + cpus + "," + nodes + "," + state + "," + submit +
           "," + start + "," + end + ",3600,5\n";
  }
};

std::string log(const std::vector<Row>& rows) {
  std::string text = kHeader;
  for (const Row& row : rows) text += row.text();
  return text;
}

TEST(HeliosLog, ARowBecomesAJob) {
  TraceParams params;
  params.file = "jobs.csv";
  const std::string text = log({{.id = "77", .gpus = "32", .cpus = "130", .nodes = "4"}});
  const auto reader = open_trace_text(params, text);
  const TraceJob* job = reader->next();
  ASSERT_NE(job, nullptr) << *reader->error();
  EXPECT_EQ(reader->format(), TraceFormat::Helios);
  EXPECT_EQ(job->id, 77);
  EXPECT_EQ(job->row, 2);
  EXPECT_EQ(job->submit, Time{} + 10_h);  // time 0 is midnight before the first job
  EXPECT_EQ(job->duration, 1_h);
  EXPECT_EQ(job->wait_recorded, 5_s);
  EXPECT_EQ(job->pods, 4);
  EXPECT_EQ(job->gpus_per_pod, 8);
  EXPECT_EQ(job->gpus(), 32);
  EXPECT_EQ(job->cpu_milli_per_pod, 32'500);
  EXPECT_EQ(job->user, "u1");
  EXPECT_EQ(job->queue, "vcA");
  EXPECT_EQ(job->status, TraceStatus::Completed);
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_FALSE(reader->error());
}

TEST(HeliosLog, GpusSpreadOverNodesWithTheRestOnTheLast) {
  const ReadTrace trace = read_text(log({{.gpus = "12", .nodes = "2"},
                                         {.gpus = "9", .nodes = "2"},
                                         {.gpus = "7", .nodes = "5"},
                                         {.gpus = "0", .nodes = "3"}}));
  ASSERT_EQ(trace.jobs.size(), 4U) << trace.error;
  EXPECT_EQ(trace.jobs[0].gpus_per_pod, 6);
  EXPECT_EQ(trace.jobs[0].gpus_last_pod, 6);
  EXPECT_EQ(trace.jobs[1].gpus_per_pod, 5);
  EXPECT_EQ(trace.jobs[1].gpus_last_pod, 4);
  EXPECT_EQ(trace.jobs[2].gpus(), 9);  // 4 * 2 + 1: the last pod gets at least one GPU
  EXPECT_EQ(trace.jobs[3].gpus(), 0);
  EXPECT_EQ(trace.jobs[3].pods, 3);
}

TEST(HeliosLog, EveryStateIsKnownInBothSpellings) {
  std::vector<TraceStatus> seen;
  for (const char* state :
       {"COMPLETED", "CANCELLED", "CANCELED", "FAILED", "TIMEOUT", "NODE_FAIL", "SUSPENDED"}) {
    const ReadTrace trace = read_text(log({{.state = state}}));
    ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
    seen.push_back(trace.jobs[0].status);
  }
  EXPECT_EQ(seen, (std::vector{TraceStatus::Completed, TraceStatus::Cancelled,
                               TraceStatus::Cancelled, TraceStatus::Failed, TraceStatus::Timeout,
                               TraceStatus::NodeFail, TraceStatus::Unknown}));
}

TEST(HeliosLog, WrongFieldsAreReportedByRowColumnAndName) {
  struct Case {
    Row row;
    std::string error;
  };
  const std::vector<Case> cases = {
      {{.gpus = "x"}, "4 (gpu_num): found 'x', expected an integer from 0 to 1000000"},
      {{.gpus = "-1"}, "4 (gpu_num): found '-1', expected an integer from 0 to 1000000"},
      {{.gpus = "99999999999999999999"},
       "4 (gpu_num): found '99999999999999999999', expected an integer from 0 to 1000000"},
      {{.gpus = "17"}, "4 (gpu_num): found '17', expected at most 16 GPUs per pod"},
      {{.cpus = "nan"}, "5 (cpu_num): found 'nan', expected an integer from 0 to 100000000"},
      {{.nodes = "0"}, "6 (node_num): found '0', expected an integer from 1 to 100000"},
      {{.state = "DONE"},
       "7 (state): found 'DONE', expected one of COMPLETED CANCELLED CANCELED FAILED TIMEOUT "
       "NODE_FAIL SUSPENDED"},
      {{.submit = "2020-02-30 00:00:00"},
       "8 (submit_time): found '2020-02-30 00:00:00', expected a date and time such as 2020-04-01 "
       "12:00:00"},
      {{.submit = "2020-04-01"},
       "8 (submit_time): found '2020-04-01', expected a date and time such as 2020-04-01 12:00:00"},
      {{.start = "2020-04-01 09:59:59"},
       "9 (start_time): found '2020-04-01 09:59:59', expected a time not before submit_time"},
      {{.end = "2020-04-01 10:00:04"},
       "10 (end_time): found '2020-04-01 10:00:04', expected a time not before start_time"},
      {{.id = ""}, "1 (job_id): found '', expected a name"},
  };
  for (const Case& c : cases) {
    const ReadTrace trace = read_text(log({{}, c.row, {}}));
    EXPECT_EQ(trace.error, "jobs.csv:3:" + c.error);
    EXPECT_TRUE(trace.jobs.empty());  // a file with mistakes delivers no jobs
  }
}

TEST(HeliosLog, QueuesAndCpuJobsAreFiltered) {
  const std::string text = log({{.id = "1", .vc = "vcA"},
                                {.id = "2", .vc = "vcB", .gpus = "0"},
                                {.id = "3", .vc = "vca"},
                                {.id = "4", .vc = "vcB"}});
  EXPECT_EQ(read_text(text, {.queues = {"vcA"}}).names, (Strings{"1"}));
  EXPECT_EQ(read_text(text, {.queues = {"vcB"}}).names, (Strings{"2", "4"}));
  const ReadTrace gpus = read_text(text, {.gpu_jobs_only = true});
  EXPECT_EQ(gpus.names, (Strings{"1", "3", "4"}));
  EXPECT_EQ(gpus.counts.without_gpus, 1);
  EXPECT_EQ(read_text(text, {.queues = {"vcAA"}}).error,
            "queues: no job of jobs.csv is in queue 'vcAA'; did you mean 'vcA'?");
}

TEST(HeliosLog, AWindowTakesInWhatWasAliveAtItsStart) {
  const std::string day = "2020-04-01 ";
  const auto row = [&](const char* id, const char* submit, const char* start, const char* end) {
    return Row{.id = id, .submit = day + submit, .start = day + start, .end = day + end};
  };
  const std::string text = log({row("gone", "01:00:00", "02:00:00", "09:00:00"),
                                row("running", "01:00:00", "02:00:00", "12:00:00"),
                                row("waiting", "02:00:00", "11:00:00", "12:00:00"),
                                row("inside", "10:30:00", "10:30:00", "13:00:00"),
                                row("late", "11:00:00", "11:00:00", "12:00:00")});
  TraceParams params{.window_start = day + "10:00:00", .window_end = day + "11:00:00"};
  const ReadTrace warm = read_text(text, params);
  ASSERT_EQ(warm.names, (Strings{"running", "waiting", "inside"})) << warm.error;
  EXPECT_EQ(warm.jobs[0].submit, Time{});
  // What is left of the job's run at the start of the trace's window.
  EXPECT_EQ(warm.jobs[0].duration, 2_h);
  EXPECT_EQ(warm.jobs[1].submit, Time{});
  EXPECT_EQ(warm.jobs[1].duration, 1_h);
  EXPECT_EQ(warm.jobs[2].submit, Time{} + 30_min);
  EXPECT_EQ(warm.counts.warm_started, 2);
  EXPECT_EQ(warm.counts.outside_window, 2);
  params.warm_start = false;
  EXPECT_EQ(read_text(text, params).names, (Strings{"inside"}));
}

TEST(HeliosLog, JobsMayArriveWhenTheyWereStarted) {
  const ReadTrace trace = read_text(log({{}}), {.arrive_at = TraceArrival::Start});
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.jobs[0].submit, Time{} + 10_h + 5_s);
}

TEST(HeliosLog, InversionsAreSortedAndTiesKeepTheOrderOfTheFile) {
  const ReadTrace trace = read_text(log({{.id = "1", .submit = "2020-04-01 09:00:00"},
                                         {.id = "3", .submit = "2020-04-01 09:30:00"},
                                         {.id = "4", .submit = "2020-04-01 09:30:00"},
                                         {.id = "2", .submit = "2020-04-01 09:10:00"}}));
  EXPECT_EQ(trace.names, (Strings{"1", "2", "3", "4"})) << trace.error;
}

TEST(HeliosDerived, ARowBecomesWholeNodes) {
  const ReadTrace trace = read_text(
      "gpu_count,job_id,arrival_s,service_sec\r\n32,363167#0,0.0,172800.0\r\n12,9#1,5.5,1.0\r\n"
      "3,10#2,6,0\r\n");
  ASSERT_EQ(trace.jobs.size(), 3U) << trace.error;
  EXPECT_EQ(trace.format, TraceFormat::HeliosDerived);
  EXPECT_EQ(trace.jobs[0].id, 363167);
  EXPECT_EQ(trace.jobs[0].pods, 4);
  EXPECT_EQ(trace.jobs[0].gpus_per_pod, 8);
  EXPECT_EQ(trace.jobs[0].duration, 172'800_s);
  EXPECT_EQ(trace.jobs[0].wait_recorded, TraceJob::kUnknownWait);
  EXPECT_EQ(trace.jobs[1].submit, Time{} + 5500_ms);
  EXPECT_EQ(trace.jobs[1].pods, 2);
  EXPECT_EQ(trace.jobs[1].gpus_per_pod, 6);
  EXPECT_EQ(trace.jobs[2].pods, 1);
  EXPECT_EQ(trace.jobs[2].gpus_per_pod, 3);
}

TEST(HeliosCanonical, CommentsAndMicrosecondsAreRead) {
  const std::string text =
      "# slice\njob_id,user,tenant,class,submit_time,num_chips,chip_type,num_nodes,duration_s,"
      "walltime_limit_s,final_status\n# "
      "more\n7,u,vcX,finetune,1500000,8,V100,1,20.5,20.5,CANCELED\n";
  const ReadTrace trace = read_text(text);
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.format, TraceFormat::HeliosCanonical);
  EXPECT_EQ(trace.jobs[0].submit, Time{} + 1500_ms);
  EXPECT_EQ(trace.jobs[0].duration, 20'500_ms);
  EXPECT_EQ(trace.jobs[0].status, TraceStatus::Cancelled);
}

TEST(TraceReader, RowsTooLateForTheWindowNeedTheWholeFileSorted) {
  std::string text = "job_id,arrival_s,service_sec,gpu_count\n";
  for (int i = 0; i < 5000; ++i)
    text += std::to_string(i) + "," + std::to_string(i + 10) + ",1,1\n";
  text += "late,0,1,1\n";
  EXPECT_EQ(read_text(text).error,
            "jobs.csv:5002:2 (arrival_s): the row is at least 4096 rows late: set sort: all");
  const ReadTrace sorted = read_text(text, {.sort = TraceSort::All});
  ASSERT_EQ(sorted.names.size(), 5001U) << sorted.error;
  EXPECT_EQ(sorted.names.front(), "late");
}

TEST(TraceReader, TimeScaleStretchesArrivalsOnly) {
  const std::string text = "job_id,arrival_s,service_sec,gpu_count\n1,100,7,1\n2,200,7,1\n";
  const ReadTrace trace = read_text(text, {.time_scale = 0.5, .jobs_max = 1});
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.jobs[0].submit, Time{} + 50_s);
  EXPECT_EQ(trace.jobs[0].duration, 7_s);
}

TEST(TraceReader, OptionsThatCannotWorkAreErrors) {
  const std::string text = "job_id,arrival_s,service_sec,gpu_count\n1,100,7,1\n";
  const std::string format = "a trace of format helios_derived ";
  EXPECT_EQ(read_text(text, {.queues = {"a"}}).error, "queues: " + format + "names no queues");
  EXPECT_EQ(read_text(text, {.arrive_at = TraceArrival::Start}).error,
            "arrive_at: " + format + "does not say when jobs started");
  EXPECT_EQ(read_text(text, {.openb = {.pending_jobs = false}}).error,
            "openb.pending_jobs: " + format + "has no pending jobs");
  EXPECT_EQ(read_text(text, {.window_start = "2020-04-01"}).error,
            "window_start: found '2020-04-01', expected seconds as the trace counts them: it has "
            "no dates");
  EXPECT_EQ(read_text(text, {.window_start = "9", .window_end = "9"}).error,
            "window_end: expected a time after window_start");
  EXPECT_EQ(read_text(text, {.time_scale = 0}).error,
            "time_scale: expected a number from 0.001 to 1000");
  EXPECT_EQ(read_text(text, {.jobs_max = -1}).error, "jobs_max: expected 0 (all) or more");
  EXPECT_EQ(read_text(log({{}}), {.window_start = "77"}).error,
            "window_start: found '77', expected a date such as 2020-04-01 or 2020-04-01 12:00:00");
}

TEST(TraceReader, AForeignHeaderIsNoTrace) {
  EXPECT_TRUE(
      read_text("name,colour\na,b\n")
          .error.starts_with("jobs.csv: the file is of no known trace format (openb, helios,"));
  EXPECT_EQ(
      read_text("job_id,arrival,service_sec,gpu_count\n").error,
      "jobs.csv:1: missing column 'arrival_s'; did you mean 'arrival'? (format helios_derived was "
      "guessed from the columns that are there; `format` can name another format)");
  EXPECT_EQ(read_text("a,b\n", {.format = TraceFormat::HeliosDerived}).error.substr(0, 36),
            "jobs.csv:1: missing column 'job_id'");
}

TEST(TraceReader, ValidationShowsTwentyMistakesAtMost) {
  std::string text = "job_id,arrival_s,service_sec,gpu_count\n1,0,1,1\n";
  for (int i = 0; i < 30; ++i) text += "1,-5,1,1\n";
  const test::TemporaryFile file{text};
  TraceParams params;
  params.file = file.path();
  const TraceReport report = validate_trace(params);
  EXPECT_EQ(report.format, TraceFormat::HeliosDerived);
  EXPECT_EQ(report.counts.rows, 21);
  EXPECT_EQ(report.counts.delivered, 1);
  ASSERT_EQ(report.errors.size(), 20U);
  EXPECT_EQ(report.errors[19],
            file.path() + ":22:2 (arrival_s): found '-5', expected a number of seconds >= 0");
}

}  // namespace
}  // namespace orrery::helios_test
