// The queue policies Gavel, Themis and Lucid: clusters small enough to follow by hand, and a busy
// cluster. Also warnings about names that no job or node has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

std::vector<JobRow> in_order(ScenarioRun& run) {
  std::vector<JobRow> jobs = run.jobs();
  std::ranges::sort(jobs, {}, &JobRow::job);
  return jobs;
}

std::string scenario(const std::string& jobs, const std::string& policy,
                     const std::string& more = "") {
  return R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 1}]
  pools: [{name: n, machine: box, count: 4}]
workload:
  sources:
  - kind: jobs
    jobs:
)" + jobs +
         R"(
policy: {driver: counting, job_queue: {policies: [)" +
         policy + "]" + more + "}}\n";
}

const std::string kTwoModels = R"(
cluster:
  machines: [{name: slow, base: dgx-a100, gpus: 1}, {name: fast, base: hgx-h100, gpus: 1}]
  pools: [{name: s, machine: slow, count: 1}, {name: f, machine: fast, count: 1}]
)";

TEST(Gavel, TwoJobsThatNeedTheWholePoolTakeTurns) {
  ScenarioRun run{scenario(R"(
    - {name: a, pods: 4, pod: {gpus: 1}, work: 30min}
    - {name: b, pods: 4, pod: {gpus: 1}, work: 30min}
)",
                           "{name: Gavel}")};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  const auto jobs = in_order(run);
  EXPECT_EQ(jobs[0].running, Time{});
  EXPECT_EQ(jobs[1].running, Time{} + 6_min);
  EXPECT_EQ(jobs[0].ended, Time{} + 54_min) << "rounds 0, 2, 4, 6 and 8";
  EXPECT_EQ(jobs[1].ended, Time{} + 60_min);
}

TEST(Gavel, NothingStartsBetweenRounds) {
  ScenarioRun run{scenario(R"(
    - {name: a, pods: 4, pod: {gpus: 1}, work: 2min}
    - {name: b, pods: 4, pod: {gpus: 1}, work: 2min, submit: 1min}
)",
                           "{name: Gavel, args: {round: 5min}}")};
  EXPECT_EQ(in_order(run)[1].running, Time{} + 5_min);
}

// Four GPUs. By max-min fairness `small` runs all the time. Beside it, `a` and `b` run in turn,
// each for half of the time.
TEST(Gavel, TimeComesCloseToTheShares) {
  ScenarioRun run{scenario(R"(
    - {name: small, pods: 1, pod: {gpus: 1}, work: 100h}
    - {name: a, pods: 3, pod: {gpus: 1}, work: 100h}
    - {name: b, pods: 3, pod: {gpus: 1}, work: 100h}
)",
                           "{name: Gavel}") +
                  "run: {until: 40h}\n"};
  const auto jobs = in_order(run);
  const double time = 40 * 3600;
  EXPECT_NEAR(jobs[0].gpu_s_useful, time, 1);
  EXPECT_NEAR(jobs[1].gpu_s_useful, 3 * time / 2, 0.01 * time);
  EXPECT_NEAR(jobs[2].gpu_s_useful, 3 * time / 2, 0.01 * time);
}

TEST(Gavel, WeightsOfTeamsAreSharesOfTime) {
  ScenarioRun run{scenario(R"(
    - {name: a, team: rich, pods: 4, pod: {gpus: 1}, work: 100h}
    - {name: b, team: poor, pods: 4, pod: {gpus: 1}, work: 100h}
)",
                           "{name: Gavel, args: {weights: {rich: 3}}}") +
                  "run: {until: 40h}\n"};
  const auto jobs = in_order(run);
  EXPECT_NEAR(jobs[0].gpu_s_useful / jobs[1].gpu_s_useful, 3, 0.05);
}

TEST(Gavel, AJobThatGainsFromTheFastModelGetsIt) {
  ScenarioRun run{kTwoModels + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: same, application: cpu-bound, pods: 1, pod: {gpus: 1}, work: 2h}
    - {name: gains, application: large, pods: 1, pod: {gpus: 1}, work: 3h}
policy:
  driver: counting
  job_queue:
    policies:
    - name: Gavel
      args: {speeds: {list: [{application: large, gpu: H100M80, speed: 3}]}}
)"};
  const auto jobs = in_order(run);
  EXPECT_EQ(jobs[0].ended, Time{} + 2_h);
  EXPECT_EQ(jobs[1].ended, Time{} + 1_h);
  EXPECT_DOUBLE_EQ(jobs[1].gpu_s_useful, 3600) << "an hour of a GPU did the work of three";
}

// Three equal jobs on one GPU of speed 1 and one of speed 2. Each job gets a third of the total
// speed of 3, so its 20 hours of work take about 20 hours.
TEST(Gavel, AlikeJobsComeOutAlikeOnUnlikeModels) {
  ScenarioRun run{kTwoModels + R"(
workload:
  sources:
  - kind: jobs
    jobs: [{name: j, pods: 1, pod: {gpus: 1}, work: 20h, count: 3}]
policy:
  driver: counting
  job_queue:
    policies:
    - {name: Gavel, args: {speeds: {list: [{gpu: H100M80, speed: 2}]}}}
)"};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  for (const JobRow& job : in_order(run)) EXPECT_NEAR(job.ended.seconds() / 3600, 20, 0.5);
}

// finish_time minimizes the largest ratio of a job's time to its time on an equal part of the pool.
// Equal parts are optimal: all ratios are 1. Until 10 h each of the first three jobs has a third of
// the pool and does 10/3 h of its work. From then on, each of the four jobs has a quarter. The
// first three do their other 20/3 h of work in 4 * 20/3 h, and end at 10 h + 80/3 h = 110/3 h.
TEST(Gavel, FinishTimeFairnessGivesEveryOneThePaceOfItsOwnPart) {
  ScenarioRun run{scenario(R"(
    - {name: first, pods: 4, pod: {gpus: 1}, work: 10h, count: 3}
    - {name: late, submit: 10h, pods: 4, pod: {gpus: 1}, work: 10h}
)",
                           "{name: Gavel, args: {objective: finish_time}}",
                           ", estimates: {kind: exact}")};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  const auto jobs = in_order(run);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(jobs[i].ended.seconds() / 3600, 110.0 / 3, 0.5);
  EXPECT_EQ(jobs[3].ended, Time{} + 40_h) << "the pool is never idle";
}

TEST(Gavel, ItRunsInFrontOfRealNodes) {
  ScenarioRun run{R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 4}]
  pools: [{name: n, machine: box, count: 2}]
workload:
  sources: [{kind: jobs, jobs: [{pods: 2, pod: {gpus: 4}, work: 1h, count: 2}]}]
policy: {base: strict_gang, job_queue: {policies: [{name: Gavel}]}}
)"};
  EXPECT_EQ(run.result.end, SimulationResult::End::Done);
  EXPECT_EQ(run.jobs().size(), 2U);
}

TEST(Themis, TheOneTreatedWorstHasTheNextLease) {
  ScenarioRun run{scenario(R"(
    - {name: a, pods: 4, pod: {gpus: 1}, work: 60min}
    - {name: b, pods: 4, pod: {gpus: 1}, work: 60min}
)",
                           "{name: Themis}", ", estimates: {kind: exact}")};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  const auto jobs = in_order(run);
  EXPECT_EQ(jobs[1].running, Time{} + 20_min);
  EXPECT_EQ(jobs[0].ended, Time{} + 100_min) << "leases 0, 2 and 4";
  EXPECT_EQ(jobs[1].ended, Time{} + 120_min);
}

TEST(Themis, ALeaseIsNotBrokenForAShorterJob) {
  ScenarioRun run{scenario(R"(
    - {name: long, pods: 4, pod: {gpus: 1}, work: 3h}
    - {name: short, pods: 4, pod: {gpus: 1}, work: 1min, submit: 25min}
)",
                           "{name: Themis}", ", estimates: {kind: exact}")};
  EXPECT_EQ(in_order(run)[1].running, Time{} + 40_min) << "the lease was renewed at 20 min";
}

// With a fairness of 0 all three jobs bid for the four GPUs. A job that starts now ends after 60
// min. A job that first waits for one lease (20 min) ends after 80 min. So each job that starts
// improves by log(80/60). The large job needs all GPUs. The two small ones together improve by
// twice as much, and win.
TEST(Themis, TheAuctionMaximisesTheProductOfImprovements) {
  ScenarioRun run{scenario(R"(
    - {name: large, pods: 4, pod: {gpus: 1}, work: 60min}
    - {name: small, pods: 2, pod: {gpus: 1}, work: 60min, count: 2}
)",
                           "{name: Themis, args: {fairness: 0}}", ", estimates: {kind: exact}")};
  const auto jobs = in_order(run);
  EXPECT_EQ(jobs[1].running, Time{});
  EXPECT_EQ(jobs[2].running, Time{});
  EXPECT_GT(jobs[0].running, Time{});
}

TEST(Themis, WhatTheWinnersLeaveIsNotWasted) {
  ScenarioRun run{scenario(R"(
    - {name: a, pods: 3, pod: {gpus: 1}, work: 60min}
    - {name: b, pods: 1, pod: {gpus: 1}, work: 60min}
)",
                           "{name: Themis}", ", estimates: {kind: exact}")};
  EXPECT_EQ(in_order(run)[0].running, Time{});
  EXPECT_EQ(in_order(run)[1].running, Time{});
}

const std::string kShares =
    "{name: Lucid, args: {busy_arrivals: -1, scores: [{application: half, score: 1}]}}";

TEST(Lucid, TwoJobsOnAGpuGoAtThePaceOfTheirProfiles) {
  ScenarioRun run{scenario(R"(
    - {name: a, application: half, pods: 4, pod: {gpus: 1}, work: 93min}
    - {name: b, application: half, pods: 4, pod: {gpus: 1}, work: 93min}
)",
                           kShares)};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  for (const JobRow& job : in_order(run)) {
    EXPECT_EQ(job.running, Time{});
    EXPECT_EQ(job.ended, Time{} + 100_min);
    EXPECT_DOUBLE_EQ(job.gpu_s_useful, 4 * 6000 / 2) << "half of the time of four GPUs";
  }
}

TEST(Lucid, WhenOneLeavesTheOtherIsAsFastAsAlone) {
  ScenarioRun run{scenario(R"(
    - {name: a, application: half, pods: 4, pod: {gpus: 1}, work: 93min}
    - {name: b, application: half, pods: 4, pod: {gpus: 1}, work: 46500ms, count: 1}
    - {name: c, application: half, pods: 4, pod: {gpus: 1}, work: 2790s}
)",
                           kShares)};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  const auto jobs = in_order(run);
  // Job b, the shortest, starts. A job that is more than twice as long must not join it, so c and a
  // wait.
  EXPECT_EQ(jobs[1].ended, Time{} + 46500_ms);
  // Then c starts and a joins it. While they share, each runs at 0.93 of its speed. In 3000 s each
  // does 2790 s of work: all of c, and half of a.
  EXPECT_EQ(jobs[2].ended, jobs[1].ended + 3000_s);
  EXPECT_EQ(jobs[0].ended, jobs[2].ended + 2790_s);
}

TEST(Lucid, JobsThatFillAGpuDoNotShareIt) {
  ScenarioRun run{scenario(R"(
    - {name: a, application: half, pods: 4, pod: {gpus: 1}, work: 60min}
    - {name: b, application: full, pods: 4, pod: {gpus: 1}, work: 60min}
)",
                           kShares)};
  EXPECT_EQ(in_order(run)[1].running, Time{} + 60_min);
}

TEST(Lucid, JobsLargerThanTheLimitNeverShare) {
  ScenarioRun run{scenario(R"(
    - {name: a, application: half, pods: 4, pod: {gpus: 1}, work: 60min, count: 2}
)",
                           "{name: Lucid, args: {busy_arrivals: -1, shared_gpus_max: 3, "
                           "scores: [{application: half, score: 0}]}}")};
  EXPECT_EQ(in_order(run)[1].running, Time{} + 60_min);
}

TEST(Lucid, WhileFewJobsArriveNoneShares) {
  ScenarioRun run{scenario(R"(
    - {name: a, application: half, pods: 4, pod: {gpus: 1}, work: 60min, count: 2}
)",
                           "{name: Lucid, args: {scores: [{application: half, score: 0}]}}")};
  EXPECT_EQ(in_order(run)[1].running, Time{} + 60_min) << "2 in 10 min are not more than 2";
}

TEST(Lucid, AJobLongerThanItsProfileJoinsTheQueue) {
  ScenarioRun run{scenario(R"(
    - {name: brief, pods: 1, pod: {gpus: 1}, work: 5min}
    - {name: long, pods: 1, pod: {gpus: 1}, work: 30min}
    - {name: large, pods: 3, pod: {gpus: 1}, work: 8min}
)",
                           "{name: Lucid, args: {profiler_gpus: 1, profiled_gpus_max: 1, "
                           "profile_time: 10min}}")};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  const auto jobs = in_order(run);
  EXPECT_EQ(jobs[0].ended, Time{} + 5_min) << "over before its profile is";
  EXPECT_EQ(jobs[1].running, Time{} + 5_min) << "one at a time";
  EXPECT_EQ(jobs[2].running, Time{}) << "too large to be profiled";
  EXPECT_EQ(jobs[1].ended, Time{} + 35_min) << "stopped at 15 min, and goes on at once";
}

TEST(FairQueues, NamesThatNothingHasAreReported) {
  const auto warnings = [](const std::string& policy) {
    ScenarioRun run{scenario("    - {name: a, team: red, work: 1min, pod: {gpus: 1}}\n", policy)};
    std::string all;
    for (const std::string& warning : run.result.warnings) all += warning + "\n";
    return all;
  };
  EXPECT_EQ(warnings("{name: Gavel, args: {weights: {red: 2}, speeds: {list: "
                     "[{gpu: H100M80, speed: 2}]}}}"),
            "");
  EXPECT_EQ(
      warnings("{name: Gavel, args: {weights: {blue: 2}, speeds: {list: "
               "[{gpu: A100M40, speed: 2}, {gpu: H100M80, application: x, speed: 2}]}}}"),
      "policy.job_queue: Gavel: weights names team 'blue', of which no job came\n"
      "policy.job_queue: Gavel: speeds.list[0] names GPU 'A100M40', which no node has; there "
      "are H100M80\n"
      "policy.job_queue: Gavel: speeds.list[1] names application 'x', of which no job came\n");
  EXPECT_EQ(warnings("{name: DRF, args: {weights: {nobody: 2}}}"),
            "policy.job_queue: DRF: weights names user 'nobody', of which no job came\n");
  EXPECT_EQ(warnings("{name: Quota, args: {limits: {blue: 2}}}"),
            "policy.job_queue: Quota: limits names team 'blue', of which no job came\n");
  EXPECT_EQ(warnings("{name: SlurmMultifactor, args: {weight_fairshare: 9, shares: {blue: 2}}}"),
            "policy.job_queue: SlurmMultifactor: shares names team 'blue', of which no job came\n");
}

// Nodes fail and come back, and stopping a job takes time. After every event, JobQueue::audit()
// checks that the started jobs hold as much as the pool counts as used.
TEST(FairQueues, EveryJobOfABusyClusterEnds) {
  for (const char* const policy :
       {"{name: Gavel}", "{name: Gavel, args: {objective: finish_time}}",
        "{name: Gavel, args: {speeds: {list: [{gpu: H100M80, speed: 1.7}]}}}",
        "{name: Gavel, args: {objective: finish_time, "
        "speeds: {list: [{gpu: H100M80, speed: 1.7}]}}}",
        "{name: Themis}", "{name: Lucid, args: {busy_arrivals: 0, score_of_others: 1}}",
        "{name: Lucid, args: {profiler_gpus: 4, profiled_gpus_max: 4, profile_time: 2min, "
        "score_of_others: 0}}"}) {
    ScenarioRun run{std::string{R"(
cluster:
  machines: [{name: a, base: dgx-a100, gpus: 4}, {name: h, base: hgx-h100, gpus: 4}]
  pools: [{name: a, machine: a, count: 3}, {name: h, machine: h, count: 3}]
workload:
  training: {checkpoint_interval: 10min, checkpoint_write: 5s, restore: 20s, init: 7s}
  sources:
  - kind: generator
    arrival_rate: 30
    jobs_max: 300
    shape:
      kind: classes
      classes:
        - gpus: {kind: discrete, values: [1, 4, 8], weights: [6, 3, 1]}
          duration: {kind: exponential, mean: 15min}
faults:
  nodes: [{name: node, rate: 20000, repair: {kind: lognormal, median: 30min, sigma: 0.5}}]
policy: {driver: counting, job_queue: {stops: {write: 11s, restart: 13s}, policies: [)"} +
                    policy + R"(], estimates: {kind: noisy, sigma: 0.5}}}
)"};
    EXPECT_EQ(run.result.end, SimulationResult::End::Done) << policy;
    ASSERT_EQ(run.jobs().size(), 300U) << policy;
    for (const JobRow& job : run.jobs()) EXPECT_EQ(job.outcome, JobOutcome::Completed) << policy;
  }
}

}  // namespace
}  // namespace orrery
