// Runs of scenarios with a job queue, and mistakes in such scenarios.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/scheduling/contract/policy_registry.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using testing::HasSubstr;

const std::string kTwoNodes = R"(
cluster:
  machines: [{name: box, base: hgx-h100, gpus: 4}]
  pools: [{name: n, machine: box, count: 2}]
)";

std::vector<JobRow> in_order(ScenarioRun& run) {
  std::vector<JobRow> jobs = run.jobs();
  std::ranges::sort(jobs, {}, &JobRow::job);
  return jobs;
}

TEST(JobQueue, PodsOfAJobAreCreatedWhenThePlanLetsItStart) {
  ScenarioRun run{kTwoNodes + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: first, pods: 2, pod: {gpus: 3}, work: 10min, requested: 10min}
    - {name: head, submit: 1s, pods: 2, pod: {gpus: 4}, work: 10min, requested: 10min}
    - {name: short, submit: 2s, pods: 1, pod: {gpus: 1}, work: 5min, requested: 5min}
    - {name: long, submit: 3s, pods: 1, pod: {gpus: 1}, work: 20min, requested: 20min}
policy: {base: strict_gang, job_queue: {policies: [{name: EASY}]}}
)"};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  const auto jobs = in_order(run);
  EXPECT_EQ(jobs[0].created, Time{});
  EXPECT_EQ(jobs[1].created, jobs[0].ended);
  EXPECT_EQ(jobs[2].created, Time{} + 2_s) << "it ends before the head may start";
  EXPECT_EQ(jobs[3].created, jobs[1].ended) << "it would have delayed the head";
}

// `head` can start when `first` ends, at 30 min. `late` would run until 35 min and delay `head`.
// The pod of `round` is bound a fraction of a second after the queue starts the job, so `round`
// still runs when `late` arrives at 20 min. If the queue counted the start of the pod as run time,
// it would double the estimate of `round` to 40 min, expect `head` to start then, and start `late`.
TEST(JobQueue, AJobWhosePodsTakeTimeToStartIsNotBelievedToRunForLonger) {
  ScenarioRun run{kTwoNodes + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: first, pod: {gpus: 4}, work: 30min}
    - {name: round, pod: {gpus: 1}, work: 20min}
    - {name: head, submit: 1min, pods: 2, pod: {gpus: 4}, work: 10min}
    - {name: late, submit: 20min, pod: {gpus: 1}, work: 15min}
policy: {base: strict_gang, job_queue: {policies: [{name: EASY}]}}
)"};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  const auto jobs = in_order(run);
  EXPECT_GT(jobs[1].ended, Time{} + 20_min);
  EXPECT_EQ(jobs[2].created, jobs[0].ended);
  EXPECT_EQ(jobs[3].created, jobs[2].ended) << "it would have delayed the head";
}

TEST(JobQueue, AGangThatIsStoppedKeepsWhatItComputedAndGivesItsNodesBack) {
  ScenarioRun run{kTwoNodes + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: long, pods: 2, pod: {gpus: 4}, work: 60min}
    - {name: short, submit: 20min, pods: 2, pod: {gpus: 4}, work: 10min}
policy:
  base: strict_gang
  cost: {per_cycle: 0s, per_node: 0s, per_pod: 0s}
  job_queue:
    policies: [{name: SRTF}]
    estimates: {kind: exact}
    stops: {write: 1min, restart: 2min}
)"};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  const auto jobs = in_order(run);
  EXPECT_EQ(jobs[1].running, Time{} + 21_min);
  EXPECT_EQ(jobs[0].ended, Time{} + 21_min + 10_min + 2_min + 40_min);
  EXPECT_DOUBLE_EQ(jobs[0].gpu_s_useful, 8 * 3600);
  EXPECT_DOUBLE_EQ(jobs[0].gpu_s_checkpoint, 8 * 60);
  EXPECT_DOUBLE_EQ(jobs[0].gpu_s_restore, 8 * 120);
  EXPECT_EQ(jobs[0].gpu_s_lost, 0);
}

// `long` has requested 60 min, but ends after 20 min, at the instant at which `short` arrives. With
// each_event the queue plans after the arrival, before it takes back the resources of `long`. With
// each_instant it plans once, after both events.
TEST(JobQueue, AJobThatEndsAtTheInstantOfAnArrivalIsNotStopped) {
  for (const char* const react : {"each_event", "each_instant"}) {
    ScenarioRun run{kTwoNodes + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: long, pods: 2, pod: {gpus: 4}, work: 20min, requested: 60min}
    - {name: short, submit: 20min, pods: 2, pod: {gpus: 4}, work: 10min, requested: 10min}
policy: {driver: counting, job_queue: {policies: [{name: SRTF}], react: )" +
                    std::string{react} + "}}\n"};
    ASSERT_EQ(run.result.end, SimulationResult::End::Done) << react;
    const auto jobs = in_order(run);
    EXPECT_EQ(jobs[0].outcome, JobOutcome::Completed) << react;
    EXPECT_EQ(jobs[0].ended, Time{} + 20_min) << react;
    EXPECT_EQ(jobs[1].running, Time{} + 20_min) << react;
    EXPECT_EQ(jobs[1].ended, Time{} + 30_min) << react;
    const auto stops = std::ranges::find(run.result.summary, "jobs_stopped", &SummaryValue::name);
    ASSERT_NE(stops, run.result.summary.end());
    EXPECT_EQ(std::get<int64_t>(stops->value), 0) << react;
  }
}

TEST(JobQueue, CountedAndPlacedJobsThatFitEverywhereStartAlike) {
  const std::string rest = R"(
workload:
  sources:
  - kind: generator
    arrival_rate: 60
    jobs_max: 300
    gpus_per_pod_max: 1
    job_kind: mpi_gang
    shape:
      kind: classes
      classes:
        - gpus: {kind: discrete, values: [1, 2, 8], weights: [6, 3, 1]}
          duration: {kind: exponential, mean: 4min}
policy:
  job_queue: {policies: [{name: EASY}], estimates: {kind: exact}}
)";
  ScenarioRun placed{kTwoNodes + rest + "  base: strict_gang\n" +
                     "  cost: {per_cycle: 0s, per_node: 0s, per_pod: 0s}\n"},
      counted{kTwoNodes + rest + "  driver: counting\n"};
  const auto a = in_order(placed), b = in_order(counted);
  ASSERT_EQ(a.size(), 300U);
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].running, b[i].running) << i;
    ASSERT_EQ(a[i].gpu_s_useful, b[i].gpu_s_useful) << i;
    ASSERT_EQ(a[i].pods, b[i].pods) << i;
  }
}

TEST(JobQueue, WhileANodeIsDownItsShareOfThePoolIsNotGivenOut) {
  ScenarioRun run{kTwoNodes + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: half, count: 6, every: 1h, pods: 1, pod: {gpus: 4}, work: 3h}
faults:
  nodes: [{name: weekly, rate: 200, repair: {kind: fixed, duration: 2h}}]
policy: {base: strict_gang, job_queue: {policies: [{name: SJF}, {name: Skip}]}}
)"};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  for (const JobRow& job : run.jobs()) EXPECT_EQ(job.outcome, JobOutcome::Completed);
}

TEST(JobQueue, AJobLargerThanTheClusterStandsInNoOnesWay) {
  ScenarioRun run{kTwoNodes + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: giant, pods: 3, pod: {gpus: 4}, work: 1h}
    - {name: small, submit: 1s, pods: 1, pod: {gpus: 4}, work: 1h}
policy: {driver: counting, job_queue: {}}
run: {until: 3h}
)"};
  const auto jobs = in_order(run);
  EXPECT_EQ(jobs[0].outcome, JobOutcome::Pending);
  EXPECT_EQ(jobs[1].running, Time{} + 1_s);
  const auto infeasible =
      std::ranges::find(run.result.summary, "jobs_infeasible", &SummaryValue::name);
  EXPECT_EQ(std::get<int64_t>(infeasible->value), 1);
}

const std::string kGiantThenSmall = R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: giant, pods: 3, pod: {gpus: 4}, work: 1h}
    - {name: small, submit: 1s, pods: 1, pod: {gpus: 4}, work: 1h}
run: {until: 3h}
policy: {driver: counting, job_queue: {infeasible: )";

TEST(JobQueue, AnInfeasibleJobThatBlocksKeepsItsPlaceInTheQueue) {
  ScenarioRun strict{kTwoNodes + kGiantThenSmall + "block}}\n"};
  for (const JobRow& job : in_order(strict)) {
    EXPECT_EQ(job.outcome, JobOutcome::Pending);
    EXPECT_EQ(job.running, kNever);
  }
  for (const char* const plan : {"Skip", "EASY", "Conservative", "SlurmBackfill"}) {
    ScenarioRun passes{kTwoNodes + kGiantThenSmall + "block, policies: [{name: " + plan + "}]}}\n"};
    EXPECT_EQ(in_order(passes)[0].outcome, JobOutcome::Pending) << plan;
    EXPECT_EQ(in_order(passes)[1].outcome, JobOutcome::Completed) << plan;
  }
}

TEST(JobQueue, AnInfeasibleJobThatFailsDoesSoAtOnce) {
  for (const char* const react : {"each_instant", "each_event"}) {
    ScenarioRun run{kTwoNodes + kGiantThenSmall + "fail, react: " + react + "}}\n"};
    const auto jobs = in_order(run);
    EXPECT_EQ(jobs[0].outcome, JobOutcome::Failed);
    EXPECT_EQ(jobs[0].ended, Time{});
    EXPECT_EQ(jobs[0].created, kNever);
    EXPECT_EQ(jobs[1].running, Time{} + 1_s);
    EXPECT_EQ(jobs[1].outcome, JobOutcome::Completed);
  }
}

TEST(JobQueue, AnInfeasibleJobThatFailsNeverHasPods) {
  ScenarioRun run{kTwoNodes + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: giant, pods: 3, pod: {gpus: 4}, work: 1h}
    - {name: small, submit: 1s, pods: 1, pod: {gpus: 4}, work: 1h}
policy: {base: strict_gang, job_queue: {infeasible: fail}}
)"};
  ASSERT_EQ(run.result.end, SimulationResult::End::Done);
  const auto jobs = in_order(run);
  EXPECT_EQ(jobs[0].outcome, JobOutcome::Failed);
  EXPECT_EQ(jobs[0].created, kNever);
  EXPECT_EQ(jobs[1].outcome, JobOutcome::Completed);
}

// Estimates are half of the run time, so each is corrected during the run. Every job must still
// end.
TEST(JobQueue, EstimatesThatProveTooShortAreCorrected) {
  for (const char* const correction : {"requested", "steps", "doubling"}) {
    ScenarioRun run{kTwoNodes + R"(
workload:
  sources:
  - kind: generator
    arrival_rate: 60
    jobs_max: 200
    shape:
      kind: classes
      classes:
        - gpus: {kind: discrete, values: [1, 4, 8], weights: [6, 3, 1]}
          duration: {kind: exponential, mean: 4min}
policy: {driver: counting, job_queue: {policies: [{name: Conservative}],
  estimates: {kind: exact, factor: 0.5}}}
)",
                    {std::string{"policy.job_queue.estimates.correction="} + correction}};
    ASSERT_EQ(run.result.end, SimulationResult::End::Done);
    EXPECT_EQ(run.jobs().size(), 200U);
  }
}

std::vector<Time> plans_with_longer;

// Starts jobs in queue order, and notes when plan() is notified of exceeded estimates.
class NotesLonger final : public Policy, public Plan {
 public:
  using Params = NoParams;
  explicit NotesLonger(JobBoard& board, const NoParams& /*params*/) : board_{board} {}
  void plan(const PlanNews& news) override {
    if (news.has_longer) plans_with_longer.push_back(board_.now());
    while (board_.head() != kNoJob && board_.fits(board_.job(board_.head()))) {
      board_.start(board_.head());
    }
  }

 private:
  JobBoard& board_;
};
ORRERY_REGISTER_POLICY(NotesLonger, "NotesLonger", "First come, first served, for tests.");

// `long` exceeds its estimate at 10 min. The queue looks for exceeded estimates at two later
// events: the arrival of `giant`, which is infeasible, at 20 min, and the end of `early` at 50 min.
TEST(JobQueue, APlanLearnsOfExceededEstimatesWhateverTheEvent) {
  for (const char* const react : {"each_instant", "each_event"}) {
    plans_with_longer.clear();
    ScenarioRun run{kTwoNodes + R"(
workload:
  sources:
  - kind: jobs
    jobs:
    - {name: long, pod: {gpus: 4}, work: 60min, requested: 10min}
    - {name: early, pod: {gpus: 4}, work: 50min, requested: 3h}
    - {name: waits, submit: 1min, pods: 2, pod: {gpus: 4}, work: 1min}
    - {name: giant, submit: 20min, pods: 3, pod: {gpus: 4}, work: 1h}
policy: {driver: counting, job_queue: {infeasible: fail, policies: [{name: NotesLonger}],
  estimates: {kind: requested, correction: steps}, react: )" +
                    std::string{react} + "}}\n"};
    ASSERT_EQ(run.result.end, SimulationResult::End::Done) << react;
    EXPECT_THAT(plans_with_longer, testing::ElementsAre(Time{} + 20_min, Time{} + 50_min)) << react;
  }
}

std::string complaints(const std::string& policy) {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(
      kTwoNodes + "workload: {sources: [{kind: jobs, jobs: [{work: 1min}]}]}\npolicy: " + policy +
          "\n",
      "test.yaml", diagnostics);
  static_cast<void>(read_scenario(document, diagnostics));
  return diagnostics.text();
}

TEST(JobQueue, AKilledJobWasBelievedToRunForNoLonger) {
  const std::string scenario = kTwoNodes + R"(
workload:
  controller: {overruns: kill}
  sources:
  - kind: jobs
    jobs:
    - {name: over, pods: 2, pod: {gpus: 3}, work: 30min, requested: 10min}
    - {name: head, submit: 1s, pods: 2, pod: {gpus: 4}, work: 10min, requested: 10min}
    - {name: late, submit: 2s, pods: 1, pod: {gpus: 1}, work: 20min, requested: 20min}
policy:
  driver: counting
  job_queue: {policies: [{name: EASY}], estimates: {kind: exact}}
)";
  ScenarioRun run{scenario};
  const auto jobs = in_order(run);
  EXPECT_EQ(jobs[0].outcome, JobOutcome::Failed);
  EXPECT_EQ(jobs[0].ended, Time{} + 10_min);
  EXPECT_EQ(jobs[1].running, Time{} + 10_min) << "late would have delayed it";
}

TEST(JobQueue, MistakesInTheArgumentsOfPoliciesAreNamed) {
  const auto of = [](const std::string& name, const std::string& args) {
    return complaints("{driver: counting, job_queue: {policies: [{name: " + name +
                      ", args: " + args + "}]}}");
  };
  EXPECT_THAT(of("Tiresias", "{limits: []}"), HasSubstr("in ascending order"));
  EXPECT_THAT(of("Tiresias", "{limits: [20, 10]}"), HasSubstr("in ascending order"));
  EXPECT_THAT(of("SlurmMultifactor", "{}"), HasSubstr("needs a weight above 0"));
  EXPECT_THAT(of("SlurmMultifactor", "{weight_tres: {gpu: 1}}"), HasSubstr("not 'gpu'"));
  EXPECT_THAT(of("SlurmMultifactor", "{weight_age: 1, billing_weights: {cpus: -1}}"),
              HasSubstr("must be between 0 and 1e+09"));
  EXPECT_THAT(of("SlurmMultifactor", "{weight_age: 1, shares: {a: -1}}"),
              HasSubstr("must be between 0 and 1e+09"));
  EXPECT_EQ(of("SlurmMultifactor", "{weight_tres: {gpus: 1}}"), "");
}

TEST(JobQueue, MistakesInItsSectionAreNamed) {
  EXPECT_THAT(complaints("{driver: counting}"), HasSubstr("counting needs a `job_queue`"));
  EXPECT_THAT(complaints("{job_queue: {policies: [{name: Random}]}}"),
              HasSubstr("'Random' is for pods"));
  EXPECT_THAT(complaints("{plugins: [{name: EASY}]}"), HasSubstr("'EASY' is for whole jobs"));
  EXPECT_THAT(
      complaints("{plugins: [{name: AvoidBrokenLinks}]}"),
      HasSubstr("'AvoidBrokenLinks' is a controller: it belongs into `policy.controllers`"));
  EXPECT_THAT(complaints("{controllers: [{name: EASY}]}"),
              HasSubstr("'EASY' is for whole jobs: it belongs into `policy.job_queue`"));
  EXPECT_THAT(complaints("{job_queue: {policies: [{name: ESY}]}}"),
              HasSubstr("did you mean 'EASY'"));
  EXPECT_THAT(complaints("{job_queue: {policies: [{name: EASY}, {name: Skip}]}}"),
              HasSubstr("at most one policy may serve Plan, found 2"));
  EXPECT_THAT(complaints("{job_queue: {counts: [gpus, gpus]}}"),
              HasSubstr("names a resource twice"));
  EXPECT_EQ(complaints("{driver: counting, job_queue: {policies: [{name: SJF}, {name: EASY}]}}"),
            "");
}

}  // namespace
}  // namespace orrery
