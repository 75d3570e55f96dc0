#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "models/workload/workload_params.hpp"
#include "sim/config/describe.hpp"
#include "sim/config/reader.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

WorkloadParams read(std::string_view yaml) {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(yaml, "test.yaml", diagnostics);
  WorkloadParams params = read_params<WorkloadParams>(document.root, "", diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.text();
  return params;
}
std::string source_mistakes(std::string_view yaml) {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(yaml, "test.yaml", diagnostics);
  static_cast<void>(read_params<WorkloadParams>(document.root, "", diagnostics));
  return diagnostics.text();
}
std::vector<JobSpec> drain(JobSource& source, size_t most = 100'000) {
  std::vector<JobSpec> jobs;
  for (; jobs.size() < most && source.peek() != nullptr; source.pop()) {
    jobs.push_back(*source.peek());
  }
  return jobs;
}
std::vector<JobSpec> jobs_of(std::string_view yaml, uint64_t seed = 1, size_t most = 100'000) {
  const auto sources = make_job_sources(read(yaml), RngStreams{seed});
  return drain(*sources.at(0), most);
}

TEST(ExplicitJobs, ComeInOrderOfSubmissionWithTheirRepetitions) {
  const auto jobs = jobs_of(R"(
sources:
  - kind: jobs
    jobs:
      - {submit: 10s, work: 1h, count: 2, every: 20s}
      - {name: first, submit: 5s, work: 2h, pods: 4, pod: {gpus: 8, cpus: 96, memory: 1TiB}}
      - {name: third, kind: pods, submit: 30s, work: 1min, priority: 7}
)");
  ASSERT_EQ(jobs.size(), 4u);
  EXPECT_EQ(jobs[0].name, "first");
  EXPECT_EQ(jobs[0].gangs[0].roles[0].pods, 4);
  EXPECT_EQ(jobs[0].gangs[0].roles[0].spec.cpu_milli, 96'000);
  EXPECT_EQ(jobs[0].gangs[0].roles[0].spec.memory_bytes, int64_t{1} << 40);
  EXPECT_EQ(jobs[1].name, "job-0");
  EXPECT_EQ(jobs[2].name, "job-1");
  EXPECT_EQ(jobs[2].submitted, Time{} + 30_s);
  EXPECT_EQ(jobs[3].name, "third");
  EXPECT_EQ(jobs[3].kind, JobKind::Pods);
  EXPECT_EQ(jobs[3].gangs[0].roles[0].spec.priority, 7);
}

TEST(ExplicitJobs, MayHaveGangsOfSeveralRolesAndTheirOwnTraining) {
  const auto jobs = jobs_of(R"(
training: {init: 10s, init_per_gpu: 1ms}
sources:
  - kind: jobs
    jobs:
      - work: 1h
        gangs:
          - min_available: 3
            roles:
              - {pods: 1, pod: {gpus: 0, cpus: 4}}
              - pods: 4
                min_available: 3
                pod: {gpus: 8, node_selector: {zone: a}, tolerations: [{key: gpu}]}
      - work: 1h
        pod: {gpus: 2}
        training:
          {checkpoint_interval: 30min, checkpoint_write: 1min, restart_scope: pod, restarts_max: 3}
)");
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].gangs[0].min_available, 3);
  EXPECT_EQ(jobs[0].gangs[0].roles[0].min_available, 0);
  EXPECT_EQ(jobs[0].gangs[0].roles[1].min_available, 3);
  EXPECT_EQ(jobs[0].init, 10_s);
  EXPECT_EQ(jobs[0].init_per_gpu, 1_ms);
  const PodSpec& spec = jobs[0].gangs[0].roles[1].spec;
  EXPECT_EQ(spec.required_terms.at(0).all_of.at(0).key, "zone");
  EXPECT_TRUE(spec.tolerations.at(0).tolerates({.key = "gpu", .value = "x"}));
  EXPECT_EQ(jobs[1].init, 0_s);
  EXPECT_EQ(jobs[1].checkpoint_interval, 30_min);
  EXPECT_EQ(jobs[1].restart_scope, RestartScope::Pod);
  EXPECT_EQ(jobs[1].restarts_max, 3);
}

struct WrongCase {
  const char* yaml;
  const char* expected;
};

TEST(WorkloadParams, ContradictionsAreErrors) {
  const WrongCase jobs[] = {
      {"{work: 1h, pods: 2, min_available: 3}", "must not be more than pods"},
      {"{work: 1h, pod: {gpus: 2, gpu_milli: 500}}", "below 1000 needs gpus: 1"},
      {"{work: 1h, pods: 2, gangs: [{roles: [{pods: 1}]}]}", "pods: has no effect beside gangs"},
      {"{work: 1h, gangs: [{roles: []}]}", "needs at least one role"},
      {"{work: 1h, gangs: [{min_available: 3, roles: [{pods: 2}]}]}", "than the pods of all roles"},
      {"{work: 1h, gangs: [{roles: [{pods: 2, min_available: 3}]}]}", "than the role's pods"},
      {"{work: 1h, gangs: [{min_available: 2, roles: [{pods: 2, min_available: 1}, {pods: 3, "
       "min_available: 2}]}]}",
       "gangs[0].min_available: must not be less than the min_available of its roles together, 3"},
      {"{work: 1h, kind: pods, gangs: [{roles: [{}]}, {roles: [{}]}]}", "takes one entry"},
      {"{work: 1h, kind: pods, gangs: [{roles: [{exits: false}]}]}", "the job never ends"},
      {"{work: 1h, kind: pods, gangs: [{roles: [{}, {exits: false, success: decides}]}]}",
       "cannot decide"},
      {"{work: 1h, gangs: [{roles: [{takes_part: false}]}]}", "needs a role that takes part"},
      {"{work: 1h, gangs: [{roles: [{failure: ignored}]}]}", "cannot go on without a rank"},
      {"{work: 1h, training: {endings: [{chance: 1, exit_code: 0, after: {kind: fixed, value: "
       "1s}}]}}",
       "must be none"},
      {"{name: x}", "missing required key 'work'"},
  };
  for (const WrongCase& c : jobs) {
    const std::string yaml = "sources: [{kind: jobs, jobs: [" + std::string{c.yaml} + "]}]";
    EXPECT_THAT(source_mistakes(yaml), HasSubstr(c.expected)) << yaml;
  }
  const std::string one = "{gpus: {kind: fixed, value: 1}, duration: {kind: fixed, value: 1h}}";
  const std::string shape = "shape: {kind: classes, classes: [" + one + "]}";
  const WrongCase generators[] = {
      {"", "unless there is a burst"},
      {", burst: {every: 1h, jobs: {kind: fixed, value: 0}}", "must not always be 0"},
      {", arrival_rate: 1, teams: {a: -1}", "must be between 0 and 1e+09"},
      {", arrival_rate: 1, teams: {a: 0}", "must not all be 0"},
      {", arrival_rate: 1, priorities: [{priority: 1, weight: 0}]", "must not all be 0"},
      {", arrival_rate: 1, start: 2h, until: 1h", "must be later than start"},
  };
  for (const WrongCase& c : generators) {
    const std::string yaml = "sources: [{kind: generator, " + shape + c.yaml + "}]";
    EXPECT_THAT(source_mistakes(yaml), HasSubstr(c.expected)) << yaml;
  }
  const WrongCase shapes[] = {
      {"[]", "a weight above 0"},
      {"[{gpus: {kind: discrete, values: [1, 2], weights: [1]}, duration: {kind: fixed, value: "
       "1h}}]",
       "one weight for every value"},
      {"[{gpus: {kind: uniform, low: 3, high: 2}, duration: {kind: fixed, value: 1h}}]",
       "must not be more than high"},
      {"[{gpus: {kind: fixed, value: 1}}]", "missing required key 'duration'"},
  };
  for (const WrongCase& c : shapes) {
    const std::string yaml =
        "sources: [{kind: generator, arrival_rate: 1, shape: {kind: classes, classes: " +
        std::string{c.yaml} + "}}]";
    EXPECT_THAT(source_mistakes(yaml), HasSubstr(c.expected)) << yaml;
  }
}

TEST(WorkloadParams, TheResolvedFormReadsBackTheSame) {
  const WorkloadParams params = read(R"(
sources:
  - kind: generator
    arrival_rate: 12.5
    burst: {every: 2h, jobs: {kind: uniform, low: 100, high: 300}}
    shape: {kind: preset, preset: seren, gpus_max: 512}
    teams: {research: 3, product: 1}
  - {kind: trace, file: nowhere.csv}
)");
  const std::string json = resolved_json(params);
  EXPECT_EQ(resolved_json(read(json)), json);
  EXPECT_FALSE(describe_text(describe_params<WorkloadParams>()).empty());
}

constexpr const char* kQueue = R"(
sources:
  - kind: generator
    arrival_rate: 3600
    shape:
      kind: classes
      classes: [{gpus: {kind: fixed, value: 1}, duration: {kind: exponential, mean: 10s}}]
)";

TEST(Generator, MakesAPoissonStreamOfExponentialJobs) {
  const auto jobs = jobs_of(kQueue, 3, 200'000);
  ASSERT_EQ(jobs.size(), 200'000u);
  double work = 0, work_squared = 0;
  for (const JobSpec& job : jobs) {
    work += job.work.seconds();
    work_squared += job.work.seconds() * job.work.seconds();
    ASSERT_EQ(job.kind, JobKind::Pods);
    ASSERT_EQ(job.gangs[0].roles[0].spec.gpus, 1);
  }
  const double n = 200'000;
  EXPECT_NEAR(jobs.back().submitted.seconds() / n, 1, 0.01);
  EXPECT_NEAR(work / n, 10, 0.1);
  EXPECT_NEAR(work_squared / n, 200, 5);  // the second moment of an exponential is 2 mean^2
}

TEST(Generator, OneMoreKnobNeverShiftsTheOthers) {
  const auto plain = jobs_of(kQueue, 3, 1000);
  const auto more = jobs_of(std::string{kQueue} + R"(    teams: {a: 1, b: 2}
    users_per_team: 3
    priorities: [{priority: 1}, {priority: 5, weight: 2}]
)",
                            3, 1000);
  const auto bursts =
      jobs_of(std::string{kQueue} + R"(    burst: {every: 1min, jobs: {kind: fixed, value: 20}}
)",
              3, 1000);
  std::map<std::string, int> teams;
  for (size_t i = 0; i < plain.size(); ++i) {
    ASSERT_EQ(plain[i].submitted, more[i].submitted);
    ASSERT_EQ(plain[i].work, more[i].work);
    ++teams[more[i].team];
  }
  EXPECT_NEAR(teams["b"], 667, 60);
  EXPECT_THAT(more[0].user, HasSubstr(more[0].team + "-"));
  size_t i = 0;  // jobs outside the bursts equal those without bursts
  size_t in_bursts = 0;
  for (const JobSpec& job : bursts) {
    if (job.submitted == plain[i].submitted && job.work == plain[i].work) {
      ++i;
    } else {
      ++in_bursts;
    }
  }
  EXPECT_GT(in_bursts, 100u);
  EXPECT_EQ(i + in_bursts, 1000u);
}

TEST(Generator, ABurstComesAtOneInstant) {
  const auto jobs = jobs_of(R"(
sources:
  - kind: generator
    burst: {every: 1h, jobs: {kind: fixed, value: 300}}
    shape:
      kind: classes
      classes: [{gpus: {kind: fixed, value: 20}, duration: {kind: fixed, value: 1h}}]
    jobs_max: 700
)");
  ASSERT_EQ(jobs.size(), 700u);
  EXPECT_EQ(jobs[0].submitted, jobs[299].submitted);
  EXPECT_LT(jobs[299].submitted, jobs[300].submitted);
  EXPECT_EQ(jobs[0].kind, JobKind::MpiGang);
  ASSERT_EQ(jobs[0].gangs[0].roles.size(), 2u);
  EXPECT_EQ(jobs[0].gangs[0].roles[0].pods, 2);
  EXPECT_EQ(jobs[0].gangs[0].roles[0].spec.gpus, 8);
  EXPECT_EQ(jobs[0].gangs[0].roles[1].spec.gpus, 4);
}

TEST(Generator, StaysInsideItsWindow) {
  const auto jobs = jobs_of(R"(
sources:
  - kind: generator
    arrival_rate: 100
    start: 2h
    until: 4h
    shape: {kind: preset, preset: kalos, gpus_max: 16}
)");
  EXPECT_NEAR(static_cast<double>(jobs.size()), 200, 50);
  EXPECT_GE(jobs.front().submitted, Time{} + 2_h);
  EXPECT_LT(jobs.back().submitted, Time{} + 4_h);
  for (const JobSpec& job : jobs) {
    int32_t gpus = 0;
    for (const auto& role : job.gangs[0].roles) gpus += role.pods * role.spec.gpus;
    EXPECT_LE(gpus, 16);
  }
}

constexpr const char* kTrace =
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
    "7,u1,vcA,20,60,3,COMPLETED,2020-04-01 00:00:10,2020-04-01 00:00:20,2020-04-01 "
    "01:00:20,3600,10\n"
    "8,u2,vcB,1,4,1,FAILED,2020-04-01 00:01:00,2020-04-01 00:01:00,2020-04-01 00:02:00,60,0\n";

TEST(TraceSource, TurnsRecordedJobsIntoRequests) {
  TraceSourceParams params;
  params.file = "trace.csv";
  params.pods.node_selector = {{"zone", "a"}};
  const auto source = make_trace_source(open_trace_text(params, kTrace), params, {.init = 5_s});
  const auto jobs = drain(*source);
  EXPECT_FALSE(source->error().has_value()) << *source->error();
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].external_id, 7);
  EXPECT_EQ(jobs[0].kind, JobKind::MpiGang);
  EXPECT_EQ(jobs[0].team, "vcA");
  EXPECT_EQ(jobs[0].work, 1_h);
  EXPECT_EQ(jobs[0].init, 5_s);
  int32_t gpus = 0;
  for (const auto& role : jobs[0].gangs[0].roles) gpus += role.pods * role.spec.gpus;
  EXPECT_EQ(gpus, 20);
  EXPECT_EQ(jobs[1].kind, JobKind::Pods);
  EXPECT_EQ(jobs[1].gangs[0].roles[0].spec.cpu_milli, 4000);
  EXPECT_EQ(jobs[1].gangs[0].roles[0].spec.required_terms.at(0).all_of.at(0).values.at(0), "a");
}

TEST(TraceSource, WithoutDeparturesJobsOutliveAnyRun) {
  TraceSourceParams params;
  params.file = "trace.csv";
  params.departures = false;
  const auto source = make_trace_source(open_trace_text(params, kTrace), params, {});
  const auto jobs = drain(*source);
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].submitted, Time{} + 10_s);
  for (const JobSpec& job : jobs) EXPECT_EQ(job.work, kNeverEnds);
}

TEST(TraceSource, AWrongRowEndsItWithAnError) {
  TraceSourceParams params;
  params.file = "trace.csv";
  const std::string text = std::string{kTrace} + "9,u1,vcA,x,1,1,COMPLETED,bad,bad,bad,1,1\n";
  const auto source = make_trace_source(open_trace_text(params, text), params, {});
  drain(*source);
  ASSERT_TRUE(source->error().has_value());
  EXPECT_THAT(*source->error(), HasSubstr("trace.csv:4:"));
}

TEST(TraceSource, AJobWithGpusThatNobodyCountsEndsItWithAnError) {
  TraceSourceParams params;
  params.file = "trace.csv";
  const auto source = make_trace_source(open_trace_text(params, kTrace), params, {}, false);
  EXPECT_THAT(drain(*source), testing::IsEmpty());
  ASSERT_TRUE(source->error().has_value());
  EXPECT_THAT(*source->error(), HasSubstr("trace.csv:2: the job asks for 20 GPUs"));
}

TEST(ValueDistributions, DrawWithinTheirBounds) {
  Rng rng{5};
  const LognormalDuration lognormal{.median = 100_s, .sigma = 1, .max = 1000_s};
  int shorter = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Duration d = lognormal.draw(rng);
    EXPECT_LE(d, 1000_s);
    shorter += d < 100_s;
    const Duration u = UniformDuration{.low = 1_s, .high = 2_s}.draw(rng);
    EXPECT_GE(u, 1_s);
    EXPECT_LE(u, 2_s);
    const int32_t n = UniformCount{.low = 3, .high = 5}.draw(rng);
    EXPECT_TRUE(n >= 3 && n <= 5);
  }
  EXPECT_NEAR(shorter, 10'000, 300);
  std::vector<int> drawn(3);
  const DiscreteCount discrete{.values = {0, 1, 2}, .weights = {1, 0, 3}};
  for (int i = 0; i < 40'000; ++i) ++drawn[static_cast<size_t>(discrete.draw(rng))];
  EXPECT_NEAR(drawn[0], 10'000, 400);
  EXPECT_EQ(drawn[1], 0);
}

}  // namespace
}  // namespace orrery
