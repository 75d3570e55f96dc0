// Reads published logs and GPU traces, if the files are available. The expected numbers of jobs,
// processors, core-seconds and GPU-hours were computed without Orrery. The tests also count the
// rows that each reader leaves out.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/workload/trace_support.hpp"

namespace orrery {
namespace {

using test::real_trace;

struct Log {
  std::string file;
  int64_t jobs = 0;
  int64_t processors = 0;
  double core_seconds = 0;
  size_t users = 0;  // number of users with a name
  double requested_seconds = 0;
  std::map<std::string, int64_t> notes;
};

void PrintTo(const Log& log, std::ostream* out) { *out << log.file; }

class SwfLogs : public ::testing::TestWithParam<Log> {};

TEST_P(SwfLogs, HaveTheirJobsAndCoreSeconds) {
  const Log& log = GetParam();
  const auto path = real_trace("swf/" + log.file);
  ORRERY_NEED_TRACE(path);
  TraceParams params;
  params.file = path.string();
  const auto reader = open_trace(params);
  int64_t jobs = 0;
  int64_t processors = 0;
  double core_seconds = 0;
  double requested_seconds = 0;
  std::set<std::string_view> users;
  while (const TraceJob* job = reader->next()) {
    ++jobs;
    processors += job->pods;
    core_seconds += job->pods * job->duration.seconds();
    if (job->requested_time.ns > 0) requested_seconds += job->requested_time.seconds();
    if (!job->user.empty()) users.insert(job->user);
  }
  ASSERT_EQ(reader->error().value_or(""), "");
  EXPECT_EQ(reader->format(), TraceFormat::Swf);
  EXPECT_EQ(jobs, log.jobs);
  EXPECT_EQ(processors, log.processors);
  EXPECT_NEAR(core_seconds, log.core_seconds, 1e-9 * log.core_seconds);
  EXPECT_NEAR(requested_seconds, log.requested_seconds, 1e-9 * log.requested_seconds);
  EXPECT_EQ(users.size(), log.users);
  std::map<std::string, int64_t> notes;
  for (const TraceNote& note : reader->notes()) notes[note.what] = note.rows;
  EXPECT_EQ(notes, log.notes);
}

const std::string kDiffer = "requested and allocated processors differ";
const std::string kOverran = "ran longer than requested";
INSTANTIATE_TEST_SUITE_P(
    RealTraces, SwfLogs,
    ::testing::Values(Log{"KTH-SP2-1996-2_28481.swf.gz",
                          28'481,
                          218'206,
                          2'013'209'080,
                          214,
                          389'572'200,
                          {{kDiffer, 219}}},
                      Log{"KTH-SP2_predictsim_log.swf.gz",
                          28'489,
                          218'234,
                          2'019'298'503,
                          214,
                          389'662'800,
                          {{kDiffer, 219}, {kOverran, 475}}},
                      Log{"CEA-Curie_predictsim_sample.swf.gz",
                          29'998,
                          11'892'884,
                          116'254'918'007,
                          238,
                          1'293'526'800,
                          {{kDiffer, 3751}}},
                      Log{"alea_hpc2n_excerpt.swf.gz",
                          3145,
                          62'449,
                          502'634'281,
                          17,
                          75'541'680,
                          {{"left out: the run time is unknown", 25},
                           {kDiffer, 213},
                           {kOverran, 320},
                           {"used more CPU time on each processor than it ran", 52}}},
                      Log{"cqgym_train.swf.gz",
                          3000,
                          1'049'906,
                          7'349'855'063,
                          97,
                          38'468'880,
                          {{kOverran, 620}}},
                      Log{"lublin_256.swf.gz", 10'000, 221'010, 2'092'781'168, 0, 0, {}}),
    [](const auto& named) {
      std::string name = named.param.file.substr(0, named.param.file.find('.'));
      std::erase_if(name, [](char c) { return c == '-' || c == '_'; });
      return name;
    });

struct GpuTrace {
  std::string file;
  TraceFormat format;
  int64_t jobs = 0;
  double gpu_hours = 0;
  int64_t left_out = 0;
  double hours = 0;  // summed run time of all jobs, for traces without GPUs
};
void PrintTo(const GpuTrace& trace, std::ostream* out) { *out << trace.file; }

class GpuTraces : public ::testing::TestWithParam<GpuTrace> {};

// Jobs and GPU-hours of the available files. Some of the files were shortened by those who publish
// them.
TEST_P(GpuTraces, HaveTheirJobsAndGpuHours) {
  const GpuTrace& expected = GetParam();
  const auto path = real_trace(expected.file);
  ORRERY_NEED_TRACE(path);
  TraceParams params;
  params.file = path.string();
  if (expected.format == TraceFormat::Sia || expected.format == TraceFormat::OpenbUntimed)
    params.default_duration = Duration{3'600'000'000'000};
  const auto reader = open_trace(params);
  double gpu_hours = 0;
  double hours = 0;
  int64_t jobs = 0;
  while (const TraceJob* job = reader->next()) {
    ++jobs;
    gpu_hours +=
        static_cast<double>(job->gpu_milli_total()) / 1000 * job->duration.seconds() / 3600;
    hours += job->duration.seconds() / 3600;
  }
  ASSERT_EQ(reader->error().value_or(""), "");
  EXPECT_EQ(reader->format(), expected.format);
  EXPECT_EQ(jobs, expected.jobs);
  EXPECT_NEAR(gpu_hours, expected.gpu_hours, 1e-5 * expected.gpu_hours);
  if (expected.hours > 0) {
    EXPECT_NEAR(hours, expected.hours, 1e-6 * expected.hours);
  }
  EXPECT_EQ(reader->counts().left_out, expected.left_out);
}

INSTANTIATE_TEST_SUITE_P(
    RealTraces, GpuTraces,
    ::testing::Values(
        GpuTrace{"philly/philly_pollux.csv.gz", TraceFormat::PhillyPollux, 53'115, 521'849.39611},
        GpuTrace{"philly/chronus_trace_job_Philly_SLO.csv.gz", TraceFormat::Chronus, 30'940,
                 368'510.91667},
        GpuTrace{"philly/elasticflow_philly_103959.csv", TraceFormat::ElasticFlow, 876,
                 42'816.0775},
        GpuTrace{"alibaba-gpu-v2023-openb/openb_pod_list_multigpu20.csv.gz",
                 TraceFormat::OpenbUntimed, 8324, 7086.8},
        GpuTrace{"alibaba-pai-v2020/pai_terminated_gpu_tasks_sub25_48hclamp.csv.gz",
                 TraceFormat::HeliosDerived, 30174, 351404.187500},
        GpuTrace{"tiresias/60_job.csv", TraceFormat::Tiresias, 60, 26'624.0 / 3600},
        GpuTrace{"acme/kalos_completed_gpu_jobs_converted.csv", TraceFormat::AcmeConverted, 160,
                 170'759.6925},
        GpuTrace{"gavel/msr_seed0/103959.trace", TraceFormat::Gavel, 861, 27'332.718728146345, 125},
        GpuTrace{"gavel/msr_seed0/0e4a51.trace.gz", TraceFormat::Gavel, 984, 88'029.60319638644,
                 197},
        GpuTrace{"gavel/msr_seed0/7f04ca.trace", TraceFormat::Gavel, 789, 132'016.63361675476, 183},
        GpuTrace{"gavel/shockwave_220_0.2_5_100_25_4_0-0.5-0.5_0.6-0.3-0.09-0.01_multigpu_dynamic."
                 "trace",
                 TraceFormat::Shockwave, 220, 403.86861111},
        GpuTrace{"sia-workloads/newtrace/workload-1.csv", TraceFormat::Sia, 960, 9020},
        GpuTrace{"google-2011/job_events/part-00000-of-00500.csv.gz", TraceFormat::GoogleJobs, 912,
                 0, 3988, 476'404.334156 / 3600},
        GpuTrace{"google-2011/job_events/part-00001-of-00500.csv.gz", TraceFormat::GoogleJobs, 901,
                 0, 245, 198'621.358099 / 3600},
        GpuTrace{"google-2011/task_events/part-00001-of-00500.csv.gz", TraceFormat::GoogleTasks,
                 18'596, 0, 14'807, 5'703'319.213368 / 3600}),
    [](const auto& named) {
      std::string name = std::to_string(named.index) + named.param.file.substr(0, 24);
      std::erase_if(name, [](char c) { return c == '-' || c == '_' || c == '/' || c == '.'; });
      return name;
    });

TEST(RealTraces, DlrmHasItsInstancesInTwoRoles) {
  const auto path = real_trace("alibaba-gpu-v2025-dlrm/disaggregated_DLRM_trace.csv.gz");
  ORRERY_NEED_TRACE(path);
  TraceParams params;
  params.file = path.string();
  const auto reader = open_trace(params);
  std::map<std::string, int64_t> roles;
  std::set<std::string_view> apps;
  int64_t cpu_milli = 0;
  int64_t gpus = 0;
  while (const TraceJob* job = reader->next()) {
    ++roles[std::string{job->application}];
    apps.insert(job->queue);
    cpu_milli += job->cpu_milli();
    gpus += job->gpus();
  }
  ASSERT_EQ(reader->error().value_or(""), "");
  EXPECT_EQ(roles["CN"], 9736);
  EXPECT_EQ(roles["HN"], 3518);
  EXPECT_EQ(gpus, 3518);
  EXPECT_EQ(apps.size(), 78U);
  EXPECT_EQ(cpu_milli, 688'520'000);
  std::map<std::string, int64_t> notes;
  for (const TraceNote& note : reader->notes()) notes[note.what] = note.rows;
  EXPECT_EQ(notes["was there before the recording began"], 3861);
  EXPECT_EQ(notes["was there when the recording stopped"], 4617);
}

}  // namespace
}  // namespace orrery
