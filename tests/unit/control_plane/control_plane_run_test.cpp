// Whole runs with `control_plane.level: full`: rate limits of clients, loss of API servers and of
// etcd members, and the contents of etcd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "models/control_plane/control_plane_rows.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/support/shipped_run.hpp"

namespace orrery {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

int64_t summary(const SimulationResult& result, std::string_view name) {
  const auto found = std::ranges::find(result.summary, name, &SummaryValue::name);
  EXPECT_NE(found, result.summary.end()) << name;
  return std::get<int64_t>(found->value);
}

// The controller creates 30 of the 1,000 pods at once, then 20 a second: 970 / 20 s. Only then is
// the gang complete. Now the scheduler binds 100 pods at once, then 50 a second: 900 / 50 s. The
// kubelet starts the last pod in 0.8 s.
TEST(ControlPlaneRun, ABurstOfPodsIsCreatedAsFastAsTheControllersTokensAllow) {
  ShippedRun full{"burst-1000-pods"};
  const Duration wait = full.job("burst").wait;
  EXPECT_NEAR(wait.seconds(), 970 / 20.0 + 900 / 50.0 + 0.8, 0.2);
  ShippedRun delays{"burst-1000-pods", {"control_plane={level: delays}"}};
  EXPECT_LT(delays.job("burst").wait, 3_s);
  ShippedRun none{"burst-1000-pods", {"control_plane={level: none}"}};
  EXPECT_LT(none.job("burst").wait, delays.job("burst").wait);
}

TEST(ControlPlaneRun, WatchesOfALostServerMoveToTheOthers) {
  ShippedRun run{"apiserver-loss"};
  int64_t before = 0, during = 0;
  for (const ApiServerSample& row : run.recorder.rows<ApiServerSample>("/timeline/api_servers")) {
    if (row.time == Time{} + 9_min) before += row.watches;
    if (row.time == Time{} + 14_min) {
      during += row.watches;
      EXPECT_EQ(row.is_up, row.server != 0);
      if (row.server == 0) {
        EXPECT_EQ(row.watches, 0);
      }
    }
  }
  EXPECT_EQ(before, 7500 + 4);
  EXPECT_EQ(during, 7500 + 4) << "all are back";
  EXPECT_EQ(summary(run.result, "watches_gone"), 0) << "the others remember what they missed";
  for (const ControlPlaneSample& row :
       run.recorder.rows<ControlPlaneSample>("/timeline/control_plane")) {
    EXPECT_EQ(row.too_many, 0);
  }
}

// Requests wait while the only server is lost, and are done once it is back.
TEST(ControlPlaneRun, WithoutAnyServerPodsWaitUntilOneIsBack) {
  const std::string yaml =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}\n"
      "control_plane: {level: full, api_servers: {servers: 1}, "
      "losses: [{server: 0, at: 10s, until: 40s}]}\n"
      "workload:\n  sources: [{kind: jobs, jobs: [{submit: 20s, pods: 2, pod: {gpus: 8}, "
      "work: 1min}]}]\npolicy: {base: strict_gang}\n";
  ScenarioRun run{yaml, {}, {.audit_every = 1}};
  const JobRow row = run.jobs().at(0);
  EXPECT_EQ(row.outcome, JobOutcome::Completed);
  EXPECT_GT(row.running, Time{} + 40_s);
  EXPECT_LT(row.running, Time{} + 3_min);
  EXPECT_GT(summary(run.result, "api_lost"), 0);
}

TEST(ControlPlaneRun, ThatTheOnlyServerIsLostForEverIsReported) {
  const std::string yaml =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}\n"
      "control_plane: {level: full, api_servers: {servers: 1}, losses: [{server: 0, at: 10s}]}\n"
      "workload:\n  sources: [{kind: jobs, jobs: [{submit: 20s, pod: {gpus: 8}, work: 1min}]}]\n"
      "run: {stall_limit: 1h}\n";
  ScenarioRun run{yaml, {}, {.audit_every = 1'000}};
  EXPECT_EQ(run.result.end, SimulationResult::End::Stalled);
  EXPECT_THAT(run.result.warnings, Contains(HasSubstr("no API server was up at the end")));
}

// In run `few`, three of five etcd members fail. Nothing is stored until one of them is back at 9
// min and a leader is elected. Meanwhile nodes cannot renew their Leases, but no pod is evicted.
TEST(ControlPlaneRun, WithoutAQuorumOfEtcdPodsWaitUntilItIsBack) {
  const auto yaml = [](const std::string& losses) {
    return "cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}\n"
           "control_plane: {level: full, etcd: {losses: " +
           losses +
           "}}\n"
           "workload:\n  sources: [{kind: jobs, jobs: [{pods: 1, pod: {gpus: 8}, work: 20min}, "
           "{submit: 100s, pods: 2, pod: {gpus: 8}, work: 1min}]}]\npolicy: {base: strict_gang}\n"
           "record: {timeline: {interval: 10s}}\n";
  };
  const std::string two = "{member: 0, at: 20s, until: 10min}, {member: 3, at: 30s, until: 10min}";
  ScenarioRun all{yaml("[]"), {}, {.audit_every = 1}};
  ScenarioRun most{yaml("[" + two + "]"), {}, {.audit_every = 1}};
  ScenarioRun few{yaml("[" + two + ", {member: 4, at: 40s, until: 9min}]"), {}, {.audit_every = 1}};
  const auto late = [](ScenarioRun& run) { return run.jobs().at(0); };
  EXPECT_EQ(late(most).running, late(all).running) << "its leader was lost long before";
  EXPECT_GT(late(few).running, Time{} + 9_min + 1_s);
  EXPECT_LT(late(few).running, Time{} + 12_min);
  EXPECT_EQ(summary(all.result, "etcd_elections"), 0);
  EXPECT_EQ(summary(most.result, "etcd_elections"), 1);
  EXPECT_EQ(summary(few.result, "etcd_elections"), 2);
  EXPECT_EQ(few.jobs().at(1).restarts, 0);
  double timed_out = 0;
  for (const EtcdSample& row : few.recorder.rows<EtcdSample>("/timeline/etcd")) {
    const Duration at = row.time - Time{};
    timed_out += row.timed_out;
    if (at > 40_s && at < 9_min) {
      EXPECT_EQ(row.members_lost, 3U) << at.seconds();
      EXPECT_EQ(row.writes, 0) << "nothing is committed, and the pods of the first job are stored";
    }
    if (at > 10_min) {
      EXPECT_EQ(row.members_lost, 0U);
    }
  }
  EXPECT_GT(timed_out, 0);
}

TEST(ControlPlaneRun, AnElectionDelaysWhatIsWrittenMeanwhile) {
  const auto yaml = [](const std::string& etcd) {
    return "cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}\n"
           "control_plane: {level: full" +
           etcd +
           "}\nworkload:\n  sources: [{kind: jobs, jobs: [{submit: 100s, pods: 2, pod: {gpus: 8}, "
           "work: 1min}]}]\npolicy: {base: strict_gang}\n";
  };
  ScenarioRun run{
      yaml(", etcd: {election_timeout: 3s, losses: [{at: 99999ms}]}"), {}, {.audit_every = 1}};
  ScenarioRun plain{yaml(""), {}, {.audit_every = 1}};
  const Duration late = run.jobs().at(0).running - plain.jobs().at(0).running;
  EXPECT_NEAR(late.seconds(), 3, 0.01);
}

TEST(ControlPlaneRun, ThatEtcdHasNoQuorumAtTheEndIsReported) {
  const std::string yaml =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}\n"
      "control_plane: {level: full, etcd: {members: 1, losses: [{at: 10s}]}}\n"
      "workload:\n  sources: [{kind: jobs, jobs: [{submit: 20s, pod: {gpus: 8}, work: 1min}]}]\n"
      "run: {stall_limit: 1h}\n";
  ScenarioRun run{yaml, {}, {.audit_every = 1'000}};
  EXPECT_EQ(run.result.end, SimulationResult::End::Stalled);
  EXPECT_THAT(run.result.warnings, Contains(HasSubstr("etcd had no quorum at the end")));
}

// Kubelets, and clients that watch all pods, reconnect to the only server once it is back. Its
// watch cache is empty, so they also list again. The backoff is up to a minute before the
// reconnect, and again before the LIST.
TEST(ControlPlaneRun, WatchersOfTheOnlyServerComeBackWithIt) {
  const std::string yaml =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 40}]}\n"
      "control_plane: {level: full, api_servers: {servers: 1}, "
      "losses: [{server: 0, at: 60s, until: 100s}, {server: 0, at: 300s, until: 301s}]}\n"
      "workload: {sources: [{kind: jobs, jobs: [{work: 1s}]}]}\n"
      "record: {timeline: {interval: 1s}}\nrun: {until: 8min}\n";
  ScenarioRun run{yaml, {}, {.audit_every = 1}};
  for (const ApiServerSample& row : run.recorder.rows<ApiServerSample>("/timeline/api_servers")) {
    const Duration at = row.time - Time{};
    const bool is_down = (at > 60_s && at < 100_s) || (at > 300_s && at < 301_s);
    const bool is_back = at < 60_s || (at > 230_s && at < 300_s) || at > 430_s;
    if (is_down) {
      EXPECT_EQ(row.watches, 0);
    } else if (is_back) {
      EXPECT_EQ(row.watches, 40 + 4) << at.seconds();
    }
  }
  EXPECT_EQ(summary(run.result, "watches_gone"), 2 * (40 + 4));
}

// A server is lost at 330 s. Crash loops change pods so often that the watch caches of the other
// servers cover less than 3 s. The last bookmark of the kubelets was half a minute before the loss.
// So the kubelets of the lost server, about a fifth of 1,000, list the pods of their nodes again.
TEST(ControlPlaneRun, WhenPodsChangeFastKubeletsOfALostServerListAgain) {
  const std::string yaml =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 1000}]}\n"
      "control_plane: {level: full, losses: [{server: 0, at: 330s}], kubelet: {crash_loop: "
      "{initial: "
      "1s, most: 1s}}, crash_loops: [{nodes: 1000, pods_per_node: 110, runs_for: 14s}]}\n"
      "workload: {sources: [{kind: jobs, jobs: [{work: 1s}]}]}\nrun: {until: 8min}\n";
  ScenarioRun run{yaml, {}, {}};
  const double lost = 1'000 / 5.0;
  EXPECT_GT(static_cast<double>(summary(run.result, "watches_gone")), 0.5 * lost);
  EXPECT_LT(static_cast<double>(summary(run.result, "watches_gone")), 1.5 * lost);
}

// Every API server watches a hundred kinds of objects. The keys are 8 Nodes, 8 CSINodes, 8 Leases
// and 16 pods. The versions of a pod since its creation are not compacted yet.
TEST(ControlPlaneRun, EtcdRemembersWatchersAndKeys) {
  const std::string yaml =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 8}]}\n"
      "control_plane: {level: full, losses: [{server: 0, at: 150s}], kubelet: {heartbeats: "
      "{lease_period: 1h, status_period: 1h}}}\n"
      "workload: {sources: [{kind: jobs, jobs: [{kind: pods, pods: 16, pod: {gpus: 4}, work: "
      "1h}]}]}\nrecord: {timeline: {interval: 1min}}\nrun: {until: 4min}\n";
  ScenarioRun run{yaml, {}, {}};
  const auto rows = run.recorder.rows<EtcdSample>("/timeline/etcd");
  ASSERT_EQ(rows.size(), 4U);
  const Bytes each{100 * 35'350};
  EXPECT_EQ(rows.front().watcher_memory, each * 5);
  EXPECT_EQ(rows.back().watcher_memory, each * 4);
  EXPECT_EQ(summary(run.result, "etcd_watcher_memory_peak"), 5 * each.count);
  // Writes of a pod: its status updates, its creation and its binding.
  const int64_t writes = ControlPlaneParams{}.kubelet.status_writes + 2;
  EXPECT_EQ(rows.front().index_memory, Bytes{40 * 184 + (24 + 16 * writes) * 38});
  EXPECT_EQ(summary(run.result, "etcd_index_memory_peak"), rows.back().index_memory.count);
}

// At the end, etcd's index has the same size with joins as without: the old revisions of the joins
// are compacted, and the certificate requests have expired after an hour.
TEST(ControlPlaneRun, EtcdHoldsAsMuchOfNodesThatJoinedAsOfOthers) {
  std::vector<Bytes> index;
  for (const std::string joins : {"", "joins: [{pool: n, nodes: 5, at: 10min}], "}) {
    const std::string yaml =
        "cluster: {pools: [{name: n, machine: dgx-a100, count: 8}]}\n"
        "control_plane: {level: full, " +
        joins +
        "kubelet: {heartbeats: {lease_period: 1h, status_period: 1h}}}\n"
        "workload: {sources: [{kind: jobs, jobs: [{kind: pods, pods: 2, work: 4h}]}]}\n"
        "record: {timeline: {interval: 1min}}\nrun: {until: 3h}\n";
    ScenarioRun run{yaml, {}, {}};
    const auto rows = run.recorder.rows<EtcdSample>("/timeline/etcd");
    index.push_back(rows.at(15).index_memory);
    index.push_back(rows.back().index_memory);
  }
  EXPECT_EQ(index[3], index[1]);
  EXPECT_GT(index[2], index[0]) << "the requests for certificates, and old versions";
}

// Nodes of gangs fail. The pods are created and bound again through the API servers.
TEST(ControlPlaneRun, GangsComeBackThroughItAfterFailures) {
  const std::string yaml =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 6}]}\n"
      "control_plane: {level: full}\n"
      "workload:\n  sources: [{kind: jobs, jobs: [{pods: 4, pod: {gpus: 8}, work: 1h}, "
      "{kind: pods, pods: 2, pod: {gpus: 2}, work: 1h}]}]\npolicy: {base: strict_gang}\n"
      "faults: {list: [{node: '0', at: 10min, repair: 1min}, {node: '4', at: 20min, repair: 1min}, "
      "{node: '1', at: 1s, repair: 1min}]}\n";
  ScenarioRun run{yaml, {}, {.audit_every = 1}};
  for (const JobRow& row : run.jobs()) EXPECT_EQ(row.outcome, JobOutcome::Completed);
  EXPECT_GT(summary(run.result, "api_requests"), 6 * (1 + 1 + 5 + 1));
}

// etcd keeps old versions of deleted pods for at most two compaction intervals.
TEST(ControlPlaneRun, EtcdIsAsEmptyAfterManyPodsAsBefore) {
  const std::string yaml =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 8}]}\n"
      "control_plane: {level: full}\n"
      "workload:\n  sources: [{kind: jobs, jobs: [{kind: pods, pods: 500, pod: {gpus: 8}, "
      "work: 1min}]}]\nrun: {until: 4h}\n";
  ScenarioRun run{yaml, {}, {}};
  EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Completed);
  const auto rows = run.recorder.rows<EtcdSample>("/timeline/etcd");
  ASSERT_FALSE(rows.empty());
  EXPECT_GT(rows.back().file, Bytes{1'000'000});
  // Two compaction intervals are 10 min. In this time each of the 8 nodes updates its Lease (300 B)
  // 60 times and its status (15 KB) twice.
  EXPECT_LE(rows.back().in_use, Bytes{2 * 8 * (30 * 300 + 15'000)});
}

TEST(ControlPlaneRun, MistakesAreReported) {
  const auto errors = [](const std::string& section) {
    Diagnostics diagnostics;
    const std::string yaml =
        "cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}\n"
        "workload: {sources: [{kind: jobs, jobs: [{work: 1h}]}]}\n"
        "control_plane: " +
        section + "\n";
    const config::Document document = config::load_text(yaml, "s.yaml", diagnostics);
    static_cast<void>(read_scenario(document, diagnostics));
    return diagnostics.text();
  };
  EXPECT_EQ(errors("{level: full}"), "");
  EXPECT_THAT(errors("{level: full, losses: [{server: 5, at: 1s}]}"),
              HasSubstr("control_plane.losses[0].server: there are servers 0 to 4"));
  EXPECT_THAT(errors("{level: full, losses: [{server: 0, at: 2s, until: 1s}]}"),
              HasSubstr("must be after `at`"));
  EXPECT_THAT(errors("{level: full, api_servers: {servers: 0}}"), HasSubstr("api_servers.servers"));
  EXPECT_THAT(errors("{level: ful}"), HasSubstr("did you mean 'full'"));
}

}  // namespace
}  // namespace orrery
