// Events, crash loops and namespaces in whole runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "models/control_plane/control_plane_rows.hpp"
#include "models/control_plane/load/namespace_churn.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/support/shipped_run.hpp"

namespace orrery {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

double figure(const SimulationResult& result, std::string_view name) {
  const auto found = std::ranges::find(result.summary, name, &SummaryValue::name);
  if (found == result.summary.end()) {
    ADD_FAILURE() << "no summary of " << name;
    return 0;
  }
  const auto* const whole = std::get_if<int64_t>(&found->value);
  return whole != nullptr ? static_cast<double>(*whole) : std::get<double>(found->value);
}

std::string objects_scenario(const std::string& control_plane, const std::string& jobs,
                             const std::string& until) {
  return "cluster: {pools: [{name: n, machine: dgx-a100, count: 10}]}\n"
         "control_plane: {level: full, " +
         control_plane + "}\nworkload: {sources: [{kind: jobs, jobs: [" + jobs +
         "]}]}\nrun: {until: " + until + "}\n";
}

std::string errors(const std::string& control_plane) {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}\n"
      "workload: {sources: [{kind: jobs, jobs: [{work: 1h}]}]}\ncontrol_plane: " +
          control_plane,
      "s.yaml", diagnostics);
  static_cast<void>(read_scenario(document, diagnostics));
  return diagnostics.text();
}

const std::string kPods = "{kind: pods, pods: 40, pod: {gpus: 1}, work: 10min}";

// ---- Events

TEST(EventsInRuns, EachPodThatStartsHasFiveWhichAreKeptForAnHour) {
  ScenarioRun run{objects_scenario("events: {}", kPods, "3h"), {}, {}};
  EXPECT_EQ(figure(run.result, "events_written"), 40 * 5);
  EXPECT_EQ(figure(run.result, "events_dropped"), 0);
  const auto rows = run.recorder.rows<EtcdSample>("/timeline/etcd");
  for (const EtcdSample& row : rows) {
    const double at = (row.time - Time{}).seconds();
    if (at >= 60 && at <= 3600) {
      EXPECT_EQ(row.events.count, 200 * 1000);
    }
    if (at >= 3600 + 600) {
      EXPECT_EQ(row.events.count, 0);
    }
  }
  EXPECT_EQ(rows.back().read, 0);
}

TEST(EventsInRuns, ReadersMoveAllEventsOutOfEtcdOrTakeThemFromTheCache) {
  for (const std::string from : {"etcd", "cache"}) {
    const std::string events =
        "events: {others_per_s: 10, readers: [{clients: 20, every: 10s, from: " + from + "}]}";
    ScenarioRun run{objects_scenario(events, kPods, "20min"), {}, {}};
    // 20 clients list every 10 s for 20 min: one LIST every 0.5 s, the last as the run ends. From
    // etcd a LIST takes 0.6 s, so the last two get no response. From the cache only the last LIST
    // gets no response.
    EXPECT_EQ(figure(run.result, "event_lists"), 20 * 120 - (from == "etcd" ? 2 : 1));
    EXPECT_EQ(figure(run.result, "event_lists_missed"), 0);
    const EtcdSample last = run.recorder.rows<EtcdSample>("/timeline/etcd").back();
    EXPECT_NEAR(static_cast<double>(last.events.count), 200e3 + 10e3 * 1200, 10e3);
    // `read` is the mean rate of the last minute. There are two LISTs a second, and each reads all
    // Events. Their total size grows evenly, so its mean is the size 30 s before the end.
    const double expected = from == "etcd" ? 2 * (200e3 + 10e3 * (1200 - 30)) : 0;
    EXPECT_NEAR(last.read, expected, 0.01 * expected + 1) << from;
  }
}

// 100 Events a second, of 1 KB each, fill 16 MiB in less than three minutes.
TEST(EventsInRuns, AFullEtcdRefusesPodsUnlessEventsHaveOneOfTheirOwn) {
  const std::string late = "{kind: pods, submit: 10min, pods: 40, pod: {gpus: 1}, work: 10min}";
  for (const bool is_split : {false, true}) {
    const std::string parts =
        "events: {others_per_s: 100}, etcd: {quota: 16MiB, separate_events: " +
        std::string{is_split ? "true" : "false"} + "}";
    ScenarioRun run{objects_scenario(parts, late, "1h"), {}, {}};
    EXPECT_EQ(figure(run.result, "jobs_completed"), is_split ? 1 : 0);
    EXPECT_EQ(figure(run.result, "events_written"), 0);
    double refused = 0;
    for (const EtcdSample& row : run.recorder.rows<EtcdSample>("/timeline/etcd")) {
      refused = std::max(refused, row.refused);
    }
    EXPECT_GT(refused, 0) << "Events at least";
  }
}

TEST(EventsInRuns, ReadersOfEventsHoldUpJobsUntilEventsHaveAnEtcdOfTheirOwn) {
  const std::string until = "run.until=100min";
  ShippedRun one{"events-etcd", {until}};
  ShippedRun two{"events-etcd", {until, "control_plane.etcd.separate_events=true"}};
  EXPECT_GT(figure(one.result, "wait_mean"), 30);
  EXPECT_LT(figure(two.result, "wait_mean"), 5);
}

TEST(EventsInRuns, AreAStepOnTheWayOfNoPod) {
  ScenarioRun with{objects_scenario("events: {}", kPods, "1h"), {}, {}};
  ScenarioRun without{objects_scenario("pods: {}", kPods, "1h"), {}, {}};
  EXPECT_GE(with.jobs().at(0).running, without.jobs().at(0).running);
  EXPECT_LE(with.jobs().at(0).running, without.jobs().at(0).running + 100_ms);
}

// ---- crash loops

// As published: a restart takes 5 writes. For 110 pods on a node, this is 55 writes a second if
// each pod restarts every 10 s, and 550 writes a second if each pod restarts every second.
TEST(CrashLoopsInRuns, WritesFollowTheBackOff) {
  const auto rates = [](const std::string& loop, const std::string& more) {
    const std::string parts = "kubelet: {crash_loop: " + loop +
                              "}, clients: {kubelet: {qps: 10000}}, crash_loops: "
                              "[{pods_per_node: 110, runs_for: 1ms, from: 5min" +
                              more + "}]";
    ScenarioRun run{objects_scenario(parts, kPods, "1h"), {}, {}};
    std::vector<std::pair<double, double>> all;
    double steady = 0;
    for (const ApiServerSample& row : run.recorder.rows<ApiServerSample>("/timeline/api_servers")) {
      if (row.server == 0) steady = 0;
      steady += row.steady;
      // Leaves out the sample at 5 min: the containers start then, and their first restarts follow
      // at once.
      if (row.server == 4 && row.time != Time{} + 5_min)
        all.emplace_back((row.time - Time{}).seconds(), steady);
    }
    return all;
  };
  const double heartbeats = 10 / 10.0 + 10 / 300.0;
  for (const auto& [at, rate] : rates("{initial: 10s, most: 10s}", ", until: 30min")) {
    EXPECT_NEAR(rate, heartbeats + (at > 300 && at < 1800 ? 55 : 0), 0.01) << at;
  }
  for (const auto& [at, rate] : rates("{initial: 1s, most: 1s}", "")) {
    EXPECT_NEAR(rate, heartbeats + (at > 300 ? 550 : 0), 1) << at;
  }
  double last = 1e9;
  for (const auto& [at, rate] : rates("{}", "")) {
    if (at <= 300) continue;
    EXPECT_LE(rate, last);
    last = rate;
  }
  EXPECT_NEAR(last, heartbeats + 550 / 300.0, 0.01);
}

TEST(CrashLoopsInRuns, RestartsAreCountedAndNotFasterThanAKubeletWrites) {
  ScenarioRun run{
      objects_scenario("crash_loops: [{pods_per_node: 1, runs_for: 10s}]", kPods, "30min"), {}, {}};
  // Restarts at 10, 30, 60, 110, 200, 370, 680, 990, 1300 and 1610 s: ten in 30 min. The figure is
  // the integral of a rate, and so includes a part of the next restart.
  EXPECT_NEAR(figure(run.result, "container_restarts"), 10.6, 0.6);
  ScenarioRun fast{objects_scenario("crash_loops: [{nodes: 2, pods_per_node: 110, runs_for: 1ms}], "
                                    "kubelet: {crash_loop: {initial: 100ms, most: 100ms}}",
                                    kPods, "10min"),
                   {},
                   {}};
  EXPECT_NEAR(figure(fast.result, "container_restarts"), 2 * 50.0 / 5 * 600, 10);
}

// ---- namespaces

TEST(NamespacesInRuns, ThoseOfJobsGoWithThemOrStay) {
  const std::string jobs = "{kind: pods, pod: {gpus: 1}, work: 1min, count: 20, every: 10s}";
  for (const bool is_deleted : {true, false}) {
    const std::string parts = "namespaces: {existing: 100, per_job: true, deleted: " +
                              std::string{is_deleted ? "true" : "false"} + "}";
    ScenarioRun run{objects_scenario(parts, jobs, "2h"), {}, {}};
    EXPECT_EQ(figure(run.result, "namespaces"), is_deleted ? 100 : 120);
    EXPECT_EQ(figure(run.result, "namespaces_deleted"), is_deleted ? 20 : 0);
    const auto rows = run.recorder.rows<NamespacesSample>("/timeline/namespaces");
    EXPECT_EQ(rows.back().namespaces, is_deleted ? 100 : 120);
    EXPECT_EQ(rows.back().objects.count, rows.back().namespaces * 3 * 1500);
    if (is_deleted) {
      EXPECT_DOUBLE_EQ(figure(run.result, "namespace_deletion_max"), 480 / 400.0);
    }
  }
}

// All deletions share the request rate of one client.
TEST(NamespacesInRuns, DeletionsWaitForOneAnother) {
  for (const std::string each : {"{delete_qps: 20}", "{delete_qps: 20, workers: 1}",
                                 "{delete_qps: 48, grace: 30s, workers: 2}"}) {
    const std::string jobs = "{kind: pods, pod: {gpus: 1}, work: 1min, count: 10}";
    ScenarioRun run{
        objects_scenario("namespaces: {per_job: true, each: " + each + "}", jobs, "2h"), {}, {}};
    const double longest = each.find("grace") == std::string::npos
                               ? 10 * 480 / 20.0
                               // A deletion takes 10 s of requests, then 30 s of grace. The second
                               // worker sends its requests after those of the first. So the first
                               // two deletions end at 40 and 50 s. Each later pair of deletions
                               // ends 40 s after the pair before.
                               : (10 + 10 + 30) + 4 * (10 + 30);
    EXPECT_NEAR(figure(run.result, "namespace_deletion_max"), longest, 1) << each;
    EXPECT_EQ(figure(run.result, "namespaces"), 0);
  }
}

// 30 of 40 nodes join after half of the run. One of the first ten is down from then on.
TEST(EventsInRuns, ReadersOnEachNodeListWhileTheirNodeIsUp) {
  const std::string yaml =
      "cluster: {pools: [{name: old, machine: dgx-a100, count: 10}, {name: new, machine: dgx-a100, "
      "count: 30}]}\ncontrol_plane: {level: full, events: {readers: [{every: 1min}]}, "
      "joins: [{pool: new, at: 10min}]}\nworkload: {sources: [{kind: jobs, jobs: [" +
      kPods + "]}]}\nfaults: {list: [{node: '3', at: 10min, repair: 2h}]}\nrun: {until: 20min}\n";
  ScenarioRun run{yaml, {}, {}};
  EXPECT_NEAR(figure(run.result, "event_lists"), 10 * 10 + 10 * 39, 2);
  const auto rows = run.recorder.rows<EtcdSample>("/timeline/etcd");
  EXPECT_EQ(rows.back().events.count % 1'000, 0) << "those of nodes are as large as all others";
  EXPECT_EQ(rows.back().events.count / 1'000,
            30 * 5 + static_cast<int64_t>(figure(run.result, "events_written")));
}

// Each user has a hand of two queues. Requests that find both queues full are rejected. The readers
// on the nodes are one user (one service account), so they have two queues in all. With
// `clients: 10`, ten readers are ten users, so they have more queues.
TEST(EventsInRuns, ReadersOnEachNodeAreOneUserAndOthersAreOneEach) {
  const auto turned_away = [](const std::string& reader) {
    const std::string flow =
        "api_servers: {servers: 1, flow_control: {max_requests_inflight: 1, "
        "max_mutating_requests_inflight: 1, levels: [{name: all, shares: 1, queues: 128, "
        "hand_size: 2, queue_length: 1}], schemas: [{name: all, level: all, distinguisher: "
        "user}]}}, ";
    ScenarioRun run{
        objects_scenario(flow +
                             "clients: {others: {tries_max: 1}}, etcd: {read_latency: 10s}, "
                             "events: {readers: [{every: 10ms" +
                             reader + "}]}",
                         "{kind: pods, pods: 1, pod: {gpus: 1}, work: 1s}", "20s"),
        {},
        {}};
    return figure(run.result, "event_lists_failed");
  };
  EXPECT_GT(turned_away(""), turned_away(", clients: 10"));
}

TEST(CrashLoopsInRuns, NodesThatAreDownCrashNothing) {
  const std::string loops = "crash_loops: [{nodes: 4, runs_for: 10s}]";
  const auto restarts = [&](const std::string& faults) {
    ScenarioRun run{
        objects_scenario(loops, kPods, "2h") + "faults: {list: [" + faults + "]}\n", {}, {}};
    return figure(run.result, "container_restarts");
  };
  const double all = restarts("");
  EXPECT_NEAR(restarts("{node: '0', at: 1s, repair: 10h}"), all * 3 / 4, 2);
  const double half = restarts("{node: '0', at: 1h, repair: 10h}");
  EXPECT_GT(half, all * 3 / 4 + 10);
  EXPECT_LT(half, all - 10);
  EXPECT_EQ(restarts("{node: '7', at: 1s, repair: 10h}"), all) << "it has no such pods";
}

// Deleting a namespace takes 480 requests at 20 a second = 24 s. Its pods terminate for another
// hour, without requests.
TEST(NamespacesInRuns, ADeletionIsALoadUntilItsRequestsAreSent) {
  ScenarioRun run{objects_scenario("namespaces: {per_job: true, each: {delete_qps: 20, grace: 1h}}",
                                   "{kind: pods, pods: 1, pod: {gpus: 1}, work: 59s}", "3h"),
                  {"record.timeline.interval=10s", "control_plane.api_servers.servers=1"},
                  {}};
  double after = 0, at_most = 0;
  for (const ApiServerSample& row : run.recorder.rows<ApiServerSample>("/timeline/api_servers")) {
    at_most = std::max(at_most, row.steady);
    if (row.time == Time{} + 10_min) after = row.steady;
  }
  EXPECT_NEAR(at_most - after, 20, 1e-9);
  EXPECT_EQ(figure(run.result, "namespaces_deleted"), 1);
}

TEST(NamespacesInRuns, OneIsThereOnceItIsStoredAndNothingOfItIsCountedTwice) {
  const std::string job = "{submit: 1min, kind: pods, pods: 1, pod: {gpus: 1}, work: 20min}";
  ScenarioRun run{
      objects_scenario("namespaces: {per_job: true}, api_servers: {servers: 1}, losses: "
                       "[{server: 0, at: 30s, until: 20min}]",
                       job, "3h"),
      {"record.timeline.interval=1min"},
      {}};
  int64_t most = 0;
  for (const NamespacesSample& row : run.recorder.rows<NamespacesSample>("/timeline/namespaces")) {
    most = std::max(most, row.namespaces);
    if (row.time < Time{} + 20_min) {
      EXPECT_EQ(row.namespaces, 0);
    }
    EXPECT_EQ(row.objects.count, row.namespaces * 3 * 1'500);
  }
  EXPECT_EQ(most, 1);
  EXPECT_EQ(figure(run.result, "namespaces_deleted"), 1);
  EXPECT_EQ(figure(run.result, "namespaces"), 0);
}

TEST(NamespacesInRuns, CostMemoryAndClientsThatAskForEachTheirTime) {
  const auto last = [](const std::string& existing) {
    ScenarioRun run{
        objects_scenario("namespaces: {existing: " + existing + ", askers: [{every: 5min}]}", kPods,
                         "1h"),
        {},
        {}};
    return std::pair{run.recorder.rows<ApiServerSample>("/timeline/api_servers").back().heap,
                     run.recorder.rows<NamespacesSample>("/timeline/namespaces").back().asked_in};
  };
  const auto [small, soon] = last("1");
  const auto [large, late] = last("2000");
  EXPECT_EQ((large - small).count, 5 * 1999 * 3 * 1500);
  EXPECT_EQ(soon, Duration{});
  EXPECT_EQ(late, 198_s) << "2,000 at 10 a second, less a burst of 20";
}

TEST(NamespacesInRuns, WhatGoesBeyondPublishedThresholdsIsReported) {
  ScenarioRun run{objects_scenario("namespaces: {existing: 10001}", kPods, "1h"), {}, {}};
  EXPECT_THAT(run.result.warnings,
              Contains(HasSubstr("10001 namespaces, where Kubernetes is tested with up to 10000")));
  ScenarioRun fine{objects_scenario("namespaces: {existing: 10000}", kPods, "1h"), {}, {}};
  EXPECT_THAT(fine.result.warnings, Not(Contains(HasSubstr("is tested with"))));
}

TEST(NamespacesInRuns, ThatLeakMakeListsLongerAndDeletedOnesDoNot) {
  ShippedRun leak{"namespace-leak", {"run.until=12h"}};
  ShippedRun deleted{"namespace-leak", {"run.until=12h", "control_plane.namespaces.deleted=true"}};
  EXPECT_GT(figure(leak.result, "namespaces"), 8'000);
  EXPECT_LT(figure(deleted.result, "namespaces"), 2'200);
  EXPECT_GT(figure(leak.result, "namespace_list_latency_p99"),
            3 * figure(deleted.result, "namespace_list_latency_p99"));
}

TEST(ObjectsInRuns, MistakesAreReported) {
  EXPECT_EQ(errors("{level: full, events: {readers: [{every: 1min}]}, etcd: {members: 3, "
                   "separate_events: true, event_ttl: 2h, blocking_reads: true}}"),
            "");
  EXPECT_THAT(errors("{level: full, events: {readers: [{clients: 0, every: 1min}]}}"),
              HasSubstr("clients"));
  EXPECT_THAT(errors("{level: full, crash_loops: [{from: 2min, until: 1min}]}"),
              HasSubstr("must be after `from`"));
  EXPECT_EQ(errors("{level: full, namespaces: {per_job: true, each: {workers: 3}}}"), "");
}

}  // namespace
}  // namespace orrery
