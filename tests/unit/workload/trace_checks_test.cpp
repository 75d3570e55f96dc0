// Parameters that do not apply to a trace, default durations, and the team of a job.
#include "models/workload/traces/formats/trace_checks.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/workload/traces/formats/format.hpp"
#include "models/workload/workload_params.hpp"
#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::read_text;
using test::ReadTrace;
using namespace literals;

const std::string kDerived = "job_id,arrival_s,service_sec,gpu_count\n5,1,10,2\n";
const std::string kSwfRow = "1 0 5 10 4 -1 -1 4 20 -1 1 1 1 -1 1 -1 -1 -1\n";

TEST(TraceChecks, AParameterWithoutEffectIsRefused) {
  struct Case {
    std::function<void(TraceParams&)> set;
    std::string error;
  };
  const std::string helios = ": a trace of format helios_derived ";
  const std::vector<Case> on_helios = {
      {[](TraceParams& p) { p.queues = {"a"}; }, "queues" + helios + "names no queues"},
      {[](TraceParams& p) { p.arrive_at = TraceArrival::Start; },
       "arrive_at" + helios + "does not say when jobs started"},
      {[](TraceParams& p) { p.openb.pending_jobs = false; },
       "openb.pending_jobs" + helios + "has no pending jobs"},
      {[](TraceParams& p) { p.statuses = {TraceStatus::Failed}; },
       "statuses" + helios + "does not say how jobs ended"},
      {[](TraceParams& p) { p.gavel.throughputs = "t.json"; },
       "gavel.throughputs" + helios + "does not count steps"},
      {[](TraceParams& p) { p.gavel.gpu = "k80"; }, "gavel.gpu" + helios + "does not count steps"},
      {[](TraceParams& p) { p.swf.processors = TraceProcessors::Allocated; },
       "swf.processors" + helios + "does not count processors"},
      {[](TraceParams& p) { p.swf.one_pod = true; },
       "swf.one_pod" + helios + "does not count processors"},
      {[](TraceParams& p) { p.swf.overruns = TraceOverruns::Cut; },
       "swf.overruns" + helios + "has no requested times"}};
  EXPECT_EQ(read_text(kDerived).error, "");
  for (const Case& c : on_helios) {
    TraceParams params;
    c.set(params);
    EXPECT_EQ(read_text(kDerived, params).error, c.error);
  }
  EXPECT_EQ(read_text(kSwfRow).error, "");
  const std::vector<Case> on_swf = {
      {[](TraceParams& p) { p.gpus_min = 1; }, "gpus_min: a trace of format swf has no GPUs"},
      {[](TraceParams& p) { p.gpus_max = 1; }, "gpus_max: a trace of format swf has no GPUs"},
      {[](TraceParams& p) { p.gpu_jobs_only = true; },
       "gpu_jobs_only: a trace of format swf has no GPUs"}};
  for (const Case& c : on_swf) {
    TraceParams params;
    c.set(params);
    EXPECT_EQ(read_text(kSwfRow, params).error, c.error);
  }
}

TEST(TraceChecks, ADefaultDurationChangesNothingWhereEveryDurationIsKnown) {
  const ReadTrace without = read_text(kDerived);
  const ReadTrace with = read_text(kDerived, {.default_duration = 1_h});
  EXPECT_EQ(with.error, "");
  ASSERT_EQ(with.jobs.size(), 1U);
  EXPECT_EQ(with.jobs[0].duration, without.jobs.at(0).duration);
}

TEST(TraceChecks, OneDefaultDurationServesListsWithAndWithoutTimes) {
  const std::string timed =
      "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
      "deletion_time,scheduled_time\np0,1,1,1,1000,,LS,Running,0,500,10\n";
  const std::string untimed = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np0,1,1,1,1000\n";
  const TraceParams params{.warm_start = false, .default_duration = 1_h};
  EXPECT_EQ(read_text(timed, params).jobs.at(0).duration, 490_s);
  EXPECT_EQ(read_text(untimed, params).jobs.at(0).duration, 1_h);
}

const std::string kSeren =
    "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,"
    "queue,gpu_time\n"
    "1,u,1,1,4,Debug,RUNNING,2023-03-01 00:20:00+08:00,2023-03-01 00:21:00+08:00,,,,\n";
const std::string kPhilly =
    R"([{"status": "Pass", "vc": "a", "jobid": "application_1", "user": "u",
  "submitted_time": "2017-10-09 07:00:00", "attempts": [{"start_time": "2017-10-09 07:01:00",
  "end_time": "None", "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]}])";
const std::string kGoogle = "600000000,,8,0,u,0,n,l\n660000000,,8,1,u,0,n,l\n";
const std::string kPai = "job3,worker,1,Running,1060.0,,600.0,29.3,25.0,T4\n";

TEST(TraceChecks, WhatRanOnWhenTheRecordingStoppedMayBeGivenADuration) {
  const std::map<std::string, std::string> texts = {
      {"acme_seren", kSeren},
      {"philly", kPhilly},
      {"google_jobs", kGoogle},
      {"pai", kPai},
      {"swf", "1 0 60 -1 4 -1 -1 4 20 -1 -1 1 1 -1 1 -1 -1 -1\n"}};
  for (const auto& [format, text] : texts) {
    const ReadTrace without = read_text(text);
    EXPECT_EQ(without.error, "") << format;
    EXPECT_EQ(name_of(without.format), format);
    EXPECT_EQ(without.jobs.size(), 0U) << format;
    EXPECT_EQ(without.counts.left_out, 1) << format;
    const ReadTrace with = read_text(text, {.default_duration = 3_h});
    EXPECT_EQ(with.error, "") << format;
    ASSERT_EQ(with.jobs.size(), 1U) << format;
    EXPECT_EQ(with.jobs[0].duration, 3_h) << format;
    EXPECT_EQ(with.counts.left_out, 0) << format;
    // A PAI trace has the submission times in its job table, which is missing here.
    const bool tells_submissions = format != "pai";
    EXPECT_EQ(with.jobs[0].wait_recorded, tells_submissions ? 1_min : TraceJob::kUnknownWait)
        << format;
  }
}

TEST(TraceChecks, AJobsTeamIsItsQueueOrItsGroup) {
  const auto team_by = [](TraceTeam team, const std::string& text) -> std::string {
    TraceSourceParams params;
    params.team = team;
    params.file = "jobs.csv";
    const auto source = make_trace_source(open_trace_text(params, text), params, {});
    if (source->error()) return *source->error();
    return source->peek()->team;
  };
  const std::string row = "1 0 5 10 4 -1 -1 4 20 -1 1 3 7 -1 9 -1 -1 -1\n";
  EXPECT_EQ(team_by(TraceTeam::Queue, row), "9");
  EXPECT_EQ(team_by(TraceTeam::Group, row), "7");
  EXPECT_EQ(team_by(TraceTeam::Group, kDerived),
            "team: a trace of format helios_derived names no groups");
}

}  // namespace
}  // namespace orrery
