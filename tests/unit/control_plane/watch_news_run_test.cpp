// Runs in which a scheduler or kubelets lose their watch.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/scheduling/cycle/scheduler_rows.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

// Two API servers, of which server `lost` fails at 20 s for good. The rate limits of the controller
// manager and the scheduler are too high to delay a request.
std::string two_servers(const std::string& lost) {
  return "control_plane: {level: full, api_servers: {servers: 2}, clients: {controller_manager: "
         "{qps: 1e4, burst: 10000}, scheduler: {qps: 1e4, burst: 10000}}, losses: [{server: " +
         lost + ", at: 20s}]}\n";
}

std::string jobs(const std::string& all) {
  return "workload: {sources: [{kind: jobs, jobs: [" + all + "]}]}\n";
}

// Servers fail at kLost. A reflector that lost its watch backs off for at least 0.8 s, so it
// syncs at kSyncedFirst at the earliest.
constexpr Time kLost{20'000'000'000}, kSyncedFirst{20'800'000'000};

// The only server is lost from 20 s to 40 s. Job 0 ends at about 31 s. Until the watch has
// synced, the scheduler's cache shows the node as full, so job 1 finds no node.
TEST(LostWatch, ASchedulerWithoutAServerPlacesFromStaleState) {
  ScenarioRun run{
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 1}]}\n"
      "control_plane: {level: full, api_servers: {servers: 1}, losses: [{server: 0, "
      "at: 20s, until: 40s}]}\n" +
          jobs("{pods: 1, pod: {gpus: 8}, work: 30s}, "
               "{submit: 5s, pods: 1, pod: {gpus: 8}, work: 10s}") +
          "record: {attempts: true}\nrun: {until: 10min}\n",
      {},
      {}};
  const auto rows = run.jobs();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].outcome, JobOutcome::Completed);
  EXPECT_EQ(rows[1].outcome, JobOutcome::Completed);
  EXPECT_LT(rows[0].ended, Time{} + 40_s);
  EXPECT_GT(rows[1].bound, Time{} + 40_s);
  for (const AttemptRow& row : run.recorder.rows<AttemptRow>("/events/attempts")) {
    if (row.outcome != AttemptOutcome::Scheduled || row.at < kLost) continue;
    EXPECT_GT(row.at, Time{} + 40_s) << "the end of job 0 is not known before";
  }
}

// Server `lost` fails at 20 s, and the other one always answers. Job 0 holds all GPUs until 20.4 s,
// and job 1 waits for them. The 100 pods of job 2 are queued at 19 s, and the scheduler needs 40 ms
// for each. Job 3 is created at 20.3 s.
TEST(LostWatch, ASchedulerPlacesWhatIsInItsQueueAndLearnsOfNothingElseUntilItHasSynced) {
  int schedulers_on_the_lost_server = 0;
  for (const std::string lost : {"0", "1"}) {
    ScenarioRun run{"cluster: {pools: [{name: n, machine: dgx-a100, count: 1}]}\n" +
                        two_servers(lost) +
                        jobs("{kind: pods, pod: {gpus: 8}, work: 19500ms}, "
                             "{kind: pods, submit: 5s, pod: {gpus: 8}, work: 10s}, "
                             "{kind: pods, submit: 19s, pods: 100, pod: {cpus: 0.1}, work: 1min}, "
                             "{kind: pods, submit: 20300ms, pod: {cpus: 0.1}, work: 1min}") +
                        "policy: {base: default, cost: {per_cycle: 40ms}}\n"
                        "record: {attempts: true}\nrun: {until: 10min}\n",
                    {},
                    {.audit_every = 1}};
    std::vector<PodRow> of_job[4];
    for (const PodRow& pod : run.recorder.rows<PodRow>("/pods")) {
      of_job[pod.job].push_back(pod);
    }
    ASSERT_EQ(of_job[3].size(), 1U);
    const Time ended = of_job[0].at(0).ended, learned = of_job[3][0].created;
    EXPECT_LT(ended, kSyncedFirst);
    EXPECT_GT(ended, kLost);
    if (learned < kSyncedFirst) continue;  // the scheduler watches on the server that is not lost
    ++schedulers_on_the_lost_server;
    EXPECT_GE(of_job[1].at(0).bound, learned) << "the end of job 0 is learned with the sync, too";
    const auto attempts = run.recorder.rows<AttemptRow>("/events/attempts");
    EXPECT_GT(std::ranges::count_if(attempts,
                                    [&](const AttemptRow& row) {
                                      return row.outcome == AttemptOutcome::Scheduled &&
                                             row.at > kLost && row.at < learned;
                                    }),
              10)
        << "pods of job 2";
  }
  EXPECT_EQ(schedulers_on_the_lost_server, 1);
}

// Jobs 0 and 1 hold a node each, and job 1 ends at about 20.2 s. Job 2 has a higher priority. Its
// pod is tried at 20.4 s, because the scheduler takes job 3's pod first. A scheduler that lost its
// watch does not know that job 1 is over. It chooses job 1's pod as its victim, because job 1's pod
// started later than job 0's. The API servers no longer have job 1's pod, so nothing is preempted.
TEST(LostWatch, APreemptorTakesAPodWhoseEndIsNotObservedForItsVictimAndNoOther) {
  int unobserved_ends = 0;
  for (const std::string lost : {"0", "1"}) {
    ScenarioRun run{"cluster: {pools: [{name: n, machine: dgx-a100, count: 2}]}\n" +
                        two_servers(lost) +
                        jobs("{kind: pods, pod: {gpus: 8}, work: 1min}, "
                             "{kind: pods, submit: 2s, pod: {gpus: 8}, work: 16900ms}, "
                             "{kind: pods, submit: 19950ms, pod: {gpus: 8}, priority: 9, work: "
                             "1min}, "
                             "{kind: pods, submit: 19900ms, pod: {cpus: 1}, work: 1min}") +
                        "policy: {base: default, cost: {per_cycle: 500ms}}\n"
                        "record: {attempts: true}\nrun: {until: 10min}\n",
                    {},
                    {.audit_every = 1}};
    const auto rows = run.jobs();
    ASSERT_EQ(rows.size(), 4U);
    for (const JobRow& row : rows) EXPECT_EQ(row.outcome, JobOutcome::Completed);
    EXPECT_TRUE(run.recorder.rows<PreemptionRow>("/events/preemptions").empty());
    for (const PodRow& pod : run.recorder.rows<PodRow>("/pods")) {
      EXPECT_NE(pod.end, PodEnd::Preempted);
      EXPECT_TRUE(pod.job != 1 || pod.ended < Time{} + 20'350_ms);
    }
    for (const AttemptRow& row : run.recorder.rows<AttemptRow>("/events/attempts")) {
      unobserved_ends += row.victims;
    }
  }
  EXPECT_EQ(unobserved_ends, 1);
}

// Half of the kubelets watch on the lost server. They observe bindings only after they have synced.
// PodRow::bound is the time at which the kubelet observed the binding.
TEST(LostWatch, AKubeletWhoseServerIsLostStartsPodsOnceItHasSynced) {
  int scheduler_kept_its_watch = 0;
  for (const std::string lost : {"0", "1"}) {
    ScenarioRun run{
        "cluster: {pools: [{name: n, machine: dgx-a100, count: 20}]}\n" + two_servers(lost) +
            jobs("{kind: pods, submit: 20100ms, pods: 20, pod: {gpus: 8}, work: 1min}") +
            "run: {until: 10min}\n",
        {},
        {}};
    const auto pods = run.recorder.rows<PodRow>("/pods");
    ASSERT_EQ(pods.size(), 20U);
    const auto is_early = [](const PodRow& pod) { return pod.created < kSyncedFirst; };
    if (!std::ranges::all_of(pods, is_early)) continue;
    ++scheduler_kept_its_watch;
    int late = 0;
    for (const PodRow& pod : pods) {
      EXPECT_TRUE(pod.bound < pod.created + 100_ms || pod.bound > kSyncedFirst);
      EXPECT_GE(pod.started, pod.bound + 800_ms);
      late += pod.bound > kSyncedFirst ? 1 : 0;
    }
    EXPECT_GT(late, 3);
    EXPECT_LT(late, 17);
  }
  EXPECT_EQ(scheduler_kept_its_watch, 1);
}

// The server is lost while the binding of a pod without GPUs is in flight. Meanwhile a gang that
// can never fit is retried again and again. The run must not end as futile before the binding is
// done.
TEST(LostWatch, ARunIsNotFutileWhileABindingIsOnItsWay) {
  ScenarioRun run{
      "cluster:\n  machines: [{name: box, base: hgx-h100, gpus: 1}]\n"
      "  pools: [{name: n, machine: box, count: 4}]\n"
      "control_plane: {level: full, etcd: {commit_latency: 300ms}, api_servers: {servers: 1}, "
      "losses: [{server: 0, at: 20s, until: 40s}]}\n" +
      jobs("{pods: 5, pod: {gpus: 1}, work: 10min}, "
           "{kind: pods, submit: 19500ms, pod: {cpus: 1}, work: 1min}") +
      "policy: {base: coscheduling}\nrun: {futile_attempts: 8000}\n"};
  EXPECT_EQ(run.result.end, SimulationResult::End::Futile);
  const auto rows = run.jobs();
  const auto bound = std::ranges::find(rows, 1U, &JobRow::job);
  ASSERT_NE(bound, rows.end());
  EXPECT_EQ(bound->outcome, JobOutcome::Completed);
}

}  // namespace
}  // namespace orrery
