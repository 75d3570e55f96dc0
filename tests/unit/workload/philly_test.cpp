// The Philly log, tables that others derived from it, and the job lists of Tiresias.
#include <string>
#include <vector>

#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::read_text;
using test::ReadTrace;
using Strings = std::vector<std::string>;
using namespace literals;

struct Attempt {
  std::string start = "\"2017-10-09 07:02:29\"";
  std::string end = "\"2017-10-09 08:02:29\"";
  std::string detail = R"([{"ip": "m1", "gpus": ["gpu0", "gpu1"]}])";
  std::string text() const {
    return "{\"start_time\": " + start + ", \"end_time\": " + end + ", \"detail\": " + detail + "}";
  }
};

std::string job(const std::string& number, const std::vector<Attempt>& attempts,
                const std::string& status = "Pass",
                const std::string& submitted = "2017-10-09 07:00:29") {
  std::string text = "{\"status\": \"" + status +
                     "\", \"vc\": \"ee9e8c\",\n \"jobid\": " + "\"application_1506638472019_" +
                     number + "\", \"attempts\": [";
  for (const Attempt& attempt : attempts) {
    text += (text.ends_with('[') ? "" : ",\n ") + attempt.text();
  }
  return text + "], \"submitted_time\": \"" + submitted + "\", \"user\": \"ce2ec1\"}";
}

std::string log(const Strings& jobs) {
  std::string text = "[\n";
  for (const std::string& one : jobs) text += (text == "[\n" ? "" : ",\n") + one;
  return text + "\n]\n";
}

Strings notes_of(const std::string& text, bool is_lenient = false) {
  TraceParams params{.file = "jobs.json", .lenient = is_lenient};
  const auto reader = open_trace_text(params, text);
  while (reader->next() != nullptr) {
  }
  Strings out;
  for (const TraceNote& note : reader->notes())
    out.push_back(std::to_string(note.rows) + " " + note.what);
  if (reader->error()) out.push_back(*reader->error());
  return out;
}

TEST(Philly, AnObjectBecomesAJobOfItsLastAttemptAndTheTimeOfAll) {
  const Attempt first;
  const Attempt second{.start = "\"2017-10-09 09:00:00\"",
                       .end = "\"2017-10-09 09:30:00\"",
                       .detail = R"([{"ip": "m1", "gpus": ["gpu0", "gpu1", "gpu2"]},
                                     {"ip": "m2", "gpus": ["gpu0", "gpu1"]}])"};
  TraceParams params;
  params.file = "jobs.json";
  const std::string text = log({job("1", {first, second}, "Killed")});
  const auto reader = open_trace_text(params, text);
  const TraceJob* found = reader->next();
  ASSERT_NE(found, nullptr) << *reader->error();
  EXPECT_EQ(reader->format(), TraceFormat::Philly);
  EXPECT_EQ(found->name.view(), "application_1506638472019_1");
  EXPECT_EQ(found->submit, Time{} + 7_h + 29_s);
  EXPECT_EQ(found->wait_recorded, 2_min);
  EXPECT_EQ(found->duration, 90_min);
  EXPECT_EQ(found->pods, 2);
  EXPECT_EQ(found->gpus_per_pod, 3);
  EXPECT_EQ(found->gpus_last_pod, 2);
  EXPECT_EQ(found->queue, "ee9e8c");
  EXPECT_EQ(found->user, "ce2ec1");
  EXPECT_EQ(found->status, TraceStatus::Cancelled);
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_FALSE(reader->error());
}

TEST(Philly, JobsThatNeverRanOrStillRunAreCounted) {
  EXPECT_EQ(
      notes_of(log({job("1", {}), job("2", {{.start = "null", .end = "null"}}),
                    job("3", {{.end = "\"None\""}}), job("4", {{.detail = "[]"}}),
                    job("5", {{}}, "Pass", "None"), job("6", {{}})})),
      (Strings{"2 left out: never started", "1 left out: still running when the recording stopped",
               "1 left out: the GPUs it held are unknown", "1 left out: its submission is unknown",
               "1 an attempt has no start and is not counted"}));
}

TEST(Philly, AnAttemptAcrossTheClockChangeIsLeftOutOfTheTime) {
  const std::string text =
      log({job("1", {{}, {.start = "\"2017-11-05 01:59:00\"", .end = "\"2017-11-05 01:10:00\""}})});
  const ReadTrace trace = read_text(text);
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.jobs[0].duration, 1_h);
  EXPECT_EQ(notes_of(text), (Strings{"1 an attempt ends before it starts and is not counted"}));
}

TEST(Philly, WrongValuesAreReportedByRowColumnAndKey) {
  EXPECT_EQ(read_text(log({job("1", {{}}), job("2", {{}}, "Done")})).error,
            "jobs.csv:4:12 (status): found 'Done', expected one of Pass Killed Failed");
  EXPECT_EQ(read_text(log({job("1", {{.start = "7"}})})).error,
            "jobs.csv:2:70 (start_time): found '7', expected a date and time, or None");
  EXPECT_EQ(notes_of(log({job("1", {{}}), job("2", {{}}, "Done"), "17"}), true),
            (Strings{"2 malformed, skipped; the first: jobs.json:4:12 (status): found 'Done', "
                     "expected one of Pass Killed Failed"}));
  EXPECT_EQ(read_text("[" + job("1", {{}}) + ", {\"jobid\"", {.format = TraceFormat::Philly}).error,
            "jobs.csv:2:250: expected ':' after a key");
}

TEST(PhillyPollux, RowsAreSortedByTheirTimes) {
  const ReadTrace trace = read_text(
      "timestamp,duration,num_gpus,gpu_time,cluster\n"
      "2017-10-09 06:13:03,2951.0,1,2951.0,6214e9\n"
      "2017-10-09 01:00:00,10.5,16,168.0,11cb48\n");
  ASSERT_EQ(trace.jobs.size(), 2U) << trace.error;
  EXPECT_EQ(trace.format, TraceFormat::PhillyPollux);
  EXPECT_EQ(trace.names, (Strings{"3", "2"}));
  EXPECT_EQ(trace.jobs[0].pods, 2);
  EXPECT_EQ(trace.jobs[0].gpus(), 16);
  EXPECT_EQ(trace.jobs[0].duration, 10'500_ms);
}

TEST(Chronus, TimesAreMinutesAndDeadlinesTheFirstOfTheList) {
  const ReadTrace trace = read_text(
      "job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,"
      "expect_value_list,best_effort,job_type\n"
      "0,vc_103959,4,10,6910,resnet101,211,8,282-300,10-5,0,soft\n"
      "1,vc_103959,0,2,6910,resnet101,3,8,0,0,1,best\n");
  ASSERT_EQ(trace.jobs.size(), 2U) << trace.error;
  EXPECT_EQ(trace.format, TraceFormat::Chronus);
  EXPECT_EQ(trace.jobs[0].submit, Time{} + 2_min);
  EXPECT_EQ(trace.jobs[0].priority, TracePriority::Low);
  EXPECT_EQ(trace.jobs[0].deadline, TraceJob::kUnknown);
  EXPECT_EQ(trace.jobs[0].gpus(), 0);
  EXPECT_EQ(trace.jobs[1].duration, 211_min);
  EXPECT_EQ(trace.jobs[1].deadline, 282_min);
}

TEST(ElasticFlow, DeadlinesAreInstants) {
  const ReadTrace trace = read_text(
      "job_id,submit_time,real_iteration,model_name,ddl,batch_size,num_gpu,real_duration,duration,"
      "iteration\n1,100,7,vgg16,250,64,4,90,95,7\n");
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.format, TraceFormat::ElasticFlow);
  EXPECT_EQ(trace.jobs[0].deadline, 150_s);
  EXPECT_EQ(trace.jobs[0].duration, 95_s);
}

TEST(Tiresias, AListOfItsSimulatorIsRead) {
  const ReadTrace trace = read_text(
      "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n1,8,30,133,vgg11,147,23"
      "\n");
  ASSERT_EQ(trace.jobs.size(), 1U) << trace.error;
  EXPECT_EQ(trace.format, TraceFormat::Tiresias);
  EXPECT_EQ(trace.jobs[0].gpus(), 8);
  EXPECT_EQ(trace.jobs[0].duration, 147_s);
}

}  // namespace
}  // namespace orrery
