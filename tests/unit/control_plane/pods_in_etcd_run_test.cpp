// Pods as objects in etcd, and watch events of pods on dead nodes, in whole runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "models/control_plane/control_plane_rows.hpp"
#include "models/control_plane/nodes/node_rows.hpp"
#include "sim/core/check.hpp"
#include "sim/core/rng.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery::pods_in_etcd_run_test {
namespace {

std::string scenario(const std::string& control_plane, const std::string& rest, int nodes = 6) {
  return "cluster: {pools: [{name: n, machine: dgx-a100, count: " + std::to_string(nodes) +
         "}]}\ncontrol_plane: {level: full, " + control_plane +
         "}\nrecord: {timeline: {interval: 1s}}\n" + rest + "\n";
}

std::string jobs(const std::string& listed, const std::string& more = "") {
  return "workload: {" + more + "sources: [{kind: jobs, jobs: [" + listed + "]}]}\n";
}

std::vector<EtcdSample> etcd(ScenarioRun& run) {
  return run.recorder.rows<EtcdSample>("/timeline/etcd");
}

int64_t most_pods(ScenarioRun& run) {
  int64_t most = 0;
  for (const EtcdSample& row : etcd(run)) most = std::max(most, row.pods);
  return most;
}

uint64_t requests(ScenarioRun& run, Verb verb) {
  double sum = 0;
  for (const ControlPlaneSample& row :
       run.recorder.rows<ControlPlaneSample>("/timeline/control_plane")) {
    if (row.verb == verb) sum += row.done;  // `done` is a rate; rows are 1 s apart
  }
  return static_cast<uint64_t>(sum + 0.5);
}

std::vector<RecoveryRow> recoveries(ScenarioRun& run) {
  return run.recorder.rows<RecoveryRow>("/events/recoveries");
}

// A commit takes half a second. The server is lost at 300 ms, during commits: etcd stores the pods,
// but the clients get no response.
TEST(PodsInEtcd, ACreationThatWasStoredBeforeItsServerWasLostIsDoneOnce) {
  ScenarioRun run{
      scenario("etcd: {commit_latency: 500ms}, api_servers: {servers: 1}, "
               "losses: [{server: 0, at: 300ms, until: 700ms}]",
               jobs("{kind: pods, pods: 30, pod: {gpus: 1}, work: 1min}") + "run: {until: 1h}")};
  EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Completed);
  EXPECT_EQ(most_pods(run), 30);
  EXPECT_EQ(etcd(run).back().pods, 0);
}

// The controller creates one pod a second. Two pods suffice, so the job is over before all of its
// pods exist.
TEST(PodsInEtcd, APodWhoseJobIsOverBeforeItIsCreatedIsDeleted) {
  ScenarioRun run{scenario("clients: {controller_manager: {qps: 1, burst: 1}}",
                           jobs("{pods: 12, min_available: 2, pod: {gpus: 1}, work: 300ms}",
                                "controller: {last_call: 0s, monitor_interval: null}, ") +
                               "policy: {base: default}\nrun: {until: 1h}")};
  EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Completed);
  EXPECT_LT(run.jobs().at(0).ended, Time{} + 8_s);
  EXPECT_GT(most_pods(run), 2);
  EXPECT_EQ(etcd(run).back().pods, 0);
}

// At most five losses, one after another, as a YAML list. Each loss takes down server (or member)
// 0, and perhaps servers 1, 2 and so on, up to `most` at once.
std::string random_losses(Rng& rng, const std::string& what, uint64_t most) {
  std::string list;
  Duration at{};
  for (uint64_t i = rng.below(6); i > 0; --i) {
    at += 1_ms * static_cast<int64_t>(1 + rng.below(60'000));
    const Duration until = at + 1_ms * static_cast<int64_t>(1 + rng.below(40'000));
    for (uint64_t s = 0; s <= rng.below(2) * (most - 1); ++s) {
      list += (list.empty() ? "" : ", ");
      list += "{" + what + ": " + std::to_string(s) + ", at: " + std::to_string(at.ns) +
              "ns, until: " + std::to_string(until.ns) + "ns}";
    }
    at = until;
  }
  return list;
}

std::string random_jobs(Rng& rng) {
  std::string list;
  for (uint64_t i = 1 + rng.below(6); i > 0; --i) {
    const uint64_t pods = 1 + rng.below(12);
    const bool are_alone = rng.chance(0.5);
    list += (list.empty() ? "{kind: " : ", {kind: ");
    list += are_alone ? "pods" : "mpi_gang";
    if (!are_alone) list += ", min_available: " + std::to_string(1 + rng.below(pods));
    list += ", pods: " + std::to_string(pods) + ", submit: " + std::to_string(rng.below(120)) +
            "s, pod: {gpus: " + std::to_string(1 + rng.below(4)) +
            "}, work: " + std::to_string(1 + rng.below(200)) + "s";
    if (rng.chance(0.5)) list += ", training: {restarts_max: " + std::to_string(rng.below(2)) + "}";
    list += "}";
  }
  return list;
}

TEST(PodsInEtcd, AreNoneAfterAllJobsEndedWhateverWasLostMeanwhile) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng{seed};
    std::string faults;
    for (uint64_t i = 1 + rng.below(7); i > 0; --i) {
      faults += (faults.empty() ? "{node: '" : ", {node: '") + std::to_string(rng.below(6)) +
                "', at: " + std::to_string(1 + rng.below(400)) +
                "s, repair: " + std::to_string(1 + rng.below(900)) + "s}";
    }
    const std::string losses = random_losses(rng, "server", 2);
    Rng of_members{seed + 1'000};
    ScenarioRun run{
        scenario("api_servers: {servers: 2}, etcd: {losses: [" +
                     random_losses(of_members, "member", 3) +
                     "], commit_latency: " + std::to_string(1 + rng.below(300)) +
                     "ms}, clients: {kubelet: {qps: " + std::to_string(1 + rng.below(50)) +
                     "}}, losses: [" + losses + "]",
                 jobs(random_jobs(rng)) + "faults: {list: [" + faults + "]}\nrun: {until: 4h}"),
        {"record.timeline.interval=1min"},
        {.audit_every = 50}};
    for (const JobRow& row : run.jobs()) EXPECT_NE(row.ended, Time{-1});
    EXPECT_EQ(etcd(run).back().pods, 0);
  }
  EXPECT_GT(mark_count("etcd.timed_out"), 0U);
}

TEST(PodsInEtcd, WhoIsNotHeardForHoursGivesUp) {
  const uint64_t before = mark_count("control.gave_up");
  ScenarioRun run{scenario("api_servers: {servers: 1}, losses: [{server: 0, at: 1s, until: 20h}]",
                           jobs("{kind: pods, pods: 2, submit: 10s, pod: {gpus: 1}, work: 1min}") +
                               "run: {until: 1d}"),
                  {"record.timeline.interval=1min"}};
  EXPECT_GT(mark_count("control.gave_up"), before);
  EXPECT_EQ(etcd(run).back().pods, 0);
}

// ---- pods of dead nodes

// The node fails twice. Between the failures it runs the second job's pod. The kubelet may send
// only one request every 10 s, so the deletion of the first job's pod takes long.
TEST(PodsOfDeadNodes, ThatDieAgainAreNotTakenForThoseWhoseDeletionIsKnown) {
  const std::string one = "{kind: pods, pods: 1, pod: {gpus: 8}, work: 1h}";
  const std::string rest = jobs(one + ", " + one) +
                           "faults: {list: [{node: '0', at: 10min, repair: 1min}, "
                           "{node: '0', at: 16min, repair: 1h}]}\nrun: {until: 6h}";
  ScenarioRun run{scenario("clients: {kubelet: {qps: 0.1, burst: 1}}", rest, 1)};
  const auto rows = recoveries(run);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_LT(rows[0].detected, Time{} + 18_min) << "its kubelet tells of the first";
  EXPECT_GT(rows[1].failed, Time{} + 15_min);
  EXPECT_GT(rows[1].detected - rows[1].failed, 330_s) << "of the second its eviction";
  for (const JobRow& row : run.jobs()) EXPECT_EQ(row.outcome, JobOutcome::Completed);
  EXPECT_EQ(etcd(run).back().pods, 0);
}

// Both nodes are repaired 346 s after they failed. Each pod must be deleted once.
TEST(PodsOfDeadNodes, AreDeletedOnceWhenTheNodeIsBackDuringTheCollectorsDeletes) {
  const std::string rest =
      jobs("{kind: pods, pods: 16, pod: {gpus: 1}, work: 1h}") +
      "faults: {list: [{node: '0', at: 10min, repair: 346s}, {node: '1', at: 10min, repair: "
      "346s}]}\npolicy: {base: default}\nrun: {until: 6h}";
  ScenarioRun run{scenario("clients: {controller_manager: {qps: 1, burst: 1}}", rest, 2)};
  for (const RecoveryRow& row : recoveries(run)) EXPECT_GT(row.detected - row.failed, 330_s);
  EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Completed);
  EXPECT_EQ(most_pods(run), 16);
  EXPECT_EQ(etcd(run).back().pods, 0);
}

// Nodes 0 and 1 are full. Node 0 fails, and its pod is evicted. When node 0 is back, it gets the
// waiting job. Node 0 fails again either at 663 s, while still NotReady, or at 667 s, after the
// check at 665 s has marked it Ready.
TEST(PodsOfDeadNodes, ThatCameAfterTheEvictionAreEvictedInTheirTurn) {
  const std::string one = "{kind: pods, pods: 1, pod: {gpus: 8}, work: 1h}";
  const auto noticed_after = [&](Duration died_again) {
    const std::string at = std::to_string(died_again / 1_s);
    ScenarioRun run{scenario("node_lifecycle: {toleration: 5s}",
                             jobs(one + ", " + one + ", " + one) +
                                 "faults: {list: [{node: '0', at: 10min, repair: 1min}, {node: "
                                 "'0', at: " +
                                 at + "s, repair: 2h}]}\nrun: {until: 8h}",
                             2)};
    EXPECT_EQ(etcd(run).back().pods, 0);
    for (const JobRow& row : run.jobs()) EXPECT_EQ(row.outcome, JobOutcome::Completed);
    Duration noticed = Duration::max();
    for (const RecoveryRow& row : recoveries(run)) {
      if (row.failed == Time{} + died_again) noticed = row.detected - row.failed;
    }
    return noticed;
  };
  EXPECT_LT(noticed_after(663_s), 6_s) << "before the look after 665 s";
  EXPECT_GT(noticed_after(667_s), 35_s) << "it was ready again";
}

// A commit takes half a second. Both nodes die while the binding is in flight, so no kubelet has
// seen the pod.
TEST(PodsOfDeadNodes, ANodeThatDiedBeforeItHeardOfAPodTellsNothingOfIt) {
  const std::string rest =
      jobs("{kind: pods, pods: 1, pod: {gpus: 8}, work: 1s}") + "run: {until: 1h}\n";
  ScenarioRun starts{scenario("pods: {}", rest, 2)};
  EXPECT_EQ(requests(starts, Verb::Patch), 5U);
  ScenarioRun dies{scenario(
      "etcd: {commit_latency: 500ms}, node_join: {status_patches: 0}",
      rest + "faults: {list: [{node: '0', at: 900ms, repair: 1min}, {node: '1', at: 900ms, "
             "repair: 1min}]}\n",
      2)};
  EXPECT_EQ(requests(dies, Verb::Patch), 5U) << "of the second life alone";
  EXPECT_EQ(dies.jobs().at(0).outcome, JobOutcome::Completed);
}

// The job may recreate one lost pod (restarts_max). Two nodes die, so the second lost pod is one
// too many. The job fails when the deletion of the second pod is observed. The deletion of the
// first, observed 4 min earlier, does not end the job.
TEST(PodsOfDeadNodes, AJobFailsWhenItHearsOfThePodThatWasOneTooMany) {
  const std::string rest =
      jobs("{kind: pods, pods: 2, pod: {gpus: 8}, work: 1h, training: {restarts_max: 1}}") +
      "faults: {list: [{node: '0', at: 10min, repair: 2h}, {node: '1', at: 14min, repair: 2h}]}\n"
      "run: {until: 3h}";
  ScenarioRun run{scenario("kubelet: {}", rest, 2)};
  EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Failed);
  EXPECT_GT(run.jobs().at(0).ended, Time{} + 14_min + 330_s);
  EXPECT_EQ(etcd(run).back().pods, 0);
}

}  // namespace
}  // namespace orrery::pods_in_etcd_run_test
