// Services and their watchers, in whole runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>

#include "models/control_plane/control_plane_rows.hpp"
#include "models/control_plane/services/services.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery::services_run_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

double summary(const SimulationResult& result, std::string_view name) {
  const auto found = std::ranges::find(result.summary, name, &SummaryValue::name);
  if (found == result.summary.end()) {
    ADD_FAILURE() << "no figure is called " << name;
    return 0;
  }
  return std::visit([](auto value) { return static_cast<double>(value); }, found->value);
}

// A scenario in which node 3 goes down after 10 s, for the rest of the run.
std::string scenario(
    int nodes, const std::string& services,
    const std::string& workload = "{sources: [{kind: jobs, jobs: [{work: 1s}]}]}") {
  return "cluster: {pools: [{name: n, machine: dgx-a100, count: " + std::to_string(nodes) +
         "}]}\ncontrol_plane: {level: full, services: {" + services + "}}\n" +
         "faults: {list: [{node: '3', at: 10s, repair: 1h}]}\nrecord: {timeline: {interval: "
         "1s}}\n" +
         "run: {until: 2min}\nworkload: " + workload + "\n";
}

constexpr const char* kKubelet = "groups: [{name: kubelet, members: nodes, headless: true}]";

std::string kubelet(const std::string& rest) { return kKubelet + (", " + rest); }

TEST(ServicesRun, AChangeOfEndpointsThatAllNodesWatchCostsNSquaredAddresses) {
  for (const int nodes : {10, 40, 160}) {
    ScenarioRun run{scenario(nodes, kubelet("endpoints: {kind: endpoints, object_bytes: 0B}, "
                                            "fan_out: {has_headless_filter: false}")),
                    {"control_plane.api_servers.servers=1"}};
    EXPECT_EQ(summary(run.result, "watch_writes"), 1);
    EXPECT_EQ(summary(run.result, "watch_events"), nodes - 1) << "the node that went is no watcher";
    EXPECT_EQ(summary(run.result, "watch_bytes"), 200.0 * (nodes - 1) * (nodes - 1));
    // All bytes are sent within one second, so the peak equals the sum.
    EXPECT_EQ(summary(run.result, "watch_bytes_peak"), summary(run.result, "watch_bytes"));
    // The server encodes the object once.
    const double copies = summary(run.result, "watch_bytes") / 1e9;
    EXPECT_NEAR(summary(run.result, "watch_cpu"), 3.75e-6 * (nodes - 1) + copies, 1e-6);
  }
}

TEST(ServicesRun, BeforeKubernetes117EachWatchersCopyIsEncodedSeparately) {
  ScenarioRun run{scenario(40, kubelet("fan_out: {has_headless_filter: false, "
                                       "encodes_for_each_watcher: true}"))};
  const double copies = summary(run.result, "watch_bytes") / 1e9;
  EXPECT_NEAR(summary(run.result, "watch_cpu"), 3.75e-6 * 39 * 39 + copies, 1e-6);
}

TEST(ServicesRun, AChangeOfSlicesCostsTheSliceThatChanges) {
  ScenarioRun run{scenario(40, kubelet("endpoints: {slice_size: 10}, "
                                       "fan_out: {has_headless_filter: false}"))};
  EXPECT_EQ(summary(run.result, "watch_bytes"), 39 * (300 + 9 * 200));
  const auto rows = run.recorder.rows<WatchSample>("/timeline/watch");
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.front().addresses, 40);
  EXPECT_EQ(rows.back().addresses, 39);
  EXPECT_EQ(rows.back().objects, 4);
  double logged = 0;
  for (const WatchSample& row : rows) logged += row.bytes;
  EXPECT_NEAR(logged, summary(run.result, "watch_bytes"), 1e-6);
}

TEST(ServicesRun, KubeProxiesHearNothingOfHeadlessServicesIfTheyAreLeftOut) {
  ScenarioRun run{scenario(40, kubelet("watchers: {controllers: 3}"))};
  EXPECT_EQ(summary(run.result, "watch_events"), 3);
  ScenarioRun with_address{
      scenario(40, "groups: [{name: dns, members: nodes, count: 2}], watchers: {controllers: 3}")};
  EXPECT_EQ(summary(with_address.result, "watch_events"), 2 * (39 + 3));
}

TEST(ServicesRun, ANodeThatComesBackIsAMemberAgainAndItsKubeProxyListsThem) {
  ScenarioRun run{scenario(40, kubelet("endpoints: {kind: endpoints}, fan_out: "
                                       "{has_headless_filter: false}, watchers: {controllers: 5}")),
                  {"faults.list[0].repair=30s"}};
  EXPECT_EQ(summary(run.result, "watch_writes"), 2);
  EXPECT_EQ(summary(run.result, "watch_lists"), 1);
  const auto rows = run.recorder.rows<WatchSample>("/timeline/watch");
  EXPECT_EQ(rows.back().addresses, 40);
}

// Bytes sent by all servers. Rows are 1 s apart, so the sum of their rates, in bit/s, is the number
// of bits sent.
double sent(ScenarioRun& run) {
  double bits = 0;
  for (const ApiServerSample& row : run.recorder.rows<ApiServerSample>("/timeline/api_servers")) {
    bits += row.egress;
  }
  return bits / 8;
}

// 30 of 40 nodes join. Each of these nodes lists the addresses once, as its watch begins.
TEST(ServicesRun, ANodeThatJoinsListsTheAddressesThatThereAreAndOnce) {
  const std::string yaml =
      "cluster: {pools: [{name: old, machine: dgx-a100, count: 10}, {name: new, machine: "
      "dgx-a100, count: 30}]}\ncontrol_plane: {level: full, joins: [{pool: new, at: 10s}]}\n"
      "record: {timeline: {interval: 1s}}\nrun: {until: 2min}\n"
      "workload: {sources: [{kind: jobs, jobs: [{work: 1s}]}]}\n";
  ScenarioRun without{yaml, {}, {}};
  ScenarioRun with{
      yaml,
      {"control_plane.services={" + kubelet("fan_out: {has_headless_filter: false}") + "}"},
      {}};
  EXPECT_EQ(summary(with.result, "watch_lists"), 30);
  EXPECT_EQ(summary(with.result, "boot_requests"),
            summary(without.result, "boot_requests") - 30 * 2);
  // Without services, a booting node lists a thousand slices of 1 kB. With services, it lists one
  // object: 300 B and at most 40 addresses of 200 B.
  const double fewer = sent(without) - (sent(with) - summary(with.result, "watch_bytes"));
  EXPECT_GT(fewer, 30 * (1'000'000 - 40 * 200 - 300) - 100'000);
  EXPECT_LE(fewer, 30 * 1'000'000);
}

// The only server comes back with an empty cache. Each watcher sends a LIST and then a WATCH, and
// each request takes a token of the watcher's client. The slow client has one token in the run.
TEST(ServicesRun, WatchersAskAsFastAsTheirClientsMay) {
  const std::string all = kubelet("watchers: {daemons: 1, controllers: 10}");
  const auto there = [&](const std::string& slow) {
    ScenarioRun run{scenario(40, all),
                    {"faults.list=[]", "control_plane.api_servers.servers=1",
                     "control_plane.losses=[{server: 0, at: 10s, until: 11s}]",
                     "control_plane.clients." + slow + "={qps: 0.001, burst: 1}"}};
    int64_t sum = 0;
    for (const ApiServerSample& row : run.recorder.rows<ApiServerSample>("/timeline/api_servers")) {
      if (row.time == Time{} + 2_min) sum += row.watches;
    }
    return sum;
  };
  const int64_t everybody = 40 * 3 + 10 + 4;
  EXPECT_EQ(there("scheduler"), everybody - 1) << "its own watch of pods";
  EXPECT_LT(there("kubelet"), everybody);
  EXPECT_LT(there("kube_proxy"), everybody);
  EXPECT_LT(there("daemons"), everybody);
  EXPECT_LT(there("others"), everybody);
}

TEST(ServicesRun, AgentsSpareTheServersAllButOneOfTheirWatchers) {
  const std::string direct = kubelet("watchers: {kube_proxies: false, daemons: 2}");
  ScenarioRun alone{scenario(40, direct)};
  const double object = 300 + 39 * 200;
  EXPECT_EQ(summary(alone.result, "watch_bytes"), 2 * 39 * object);
  EXPECT_EQ(summary(alone.result, "watch_bytes_by_agents"), 0);
  ScenarioRun behind{scenario(40, direct), {"control_plane.services.watchers.agents=1"}};
  EXPECT_EQ(summary(behind.result, "watch_bytes"), object);
  EXPECT_EQ(summary(behind.result, "watch_bytes_by_agents"), 2 * 39 * object);
}

// If one of several servers is lost, its watchers resume on another server. They list nothing,
// because the other server's cache has the changes that they missed. If the only server is lost, it
// comes back with an empty cache, so its watchers list all addresses.
TEST(ServicesRun, WhatWatchersListAfterALossIsAsLargeAsAllAddresses) {
  const std::string all = scenario(400, kubelet("fan_out: {has_headless_filter: false}"));
  ScenarioRun resumes{all, {"faults.list=[]", "control_plane.losses=[{server: 1, at: 10s}]"}};
  EXPECT_EQ(summary(resumes.result, "watch_lists"), 0);
  EXPECT_EQ(summary(resumes.result, "watches_gone"), 0);
  ScenarioRun lists{all,
                    {"faults.list=[]", "control_plane.api_servers.servers=1",
                     "control_plane.losses=[{server: 0, at: 10s, until: 11s}]"}};
  EXPECT_EQ(summary(lists.result, "watch_lists"), 400);
  EXPECT_EQ(summary(lists.result, "watches_gone"), 400 + 400 + 4);
  EXPECT_NEAR(sent(lists) - sent(resumes), 400 * (4 * 300 + 400 * 200), 1'000);
}

TEST(ServicesRun, PodsOfJobsAreMembersFromTheirStartUntilTheyAreGone) {
  const std::string jobs =
      "{sources: [{kind: jobs, jobs: [{pods: 3, pod: {gpus: 8}, work: 30s, team: a}, "
      "{kind: pods, pods: 2, pod: {gpus: 1}, work: 1min, team: b}]}]}\n"
      "policy: {base: strict_gang}\n";
  ScenarioRun run{
      scenario(6,
               "groups: [{name: each, members: jobs, count: 2}, {name: all, members: "
               "pods}, {name: of-b, members: pods, team: b}], watchers: {controllers: 1}",
               jobs),
      {"faults.list=[]"}};
  int64_t each = 0, all = 0, of_b = 0, services = 0;
  for (const WatchSample& row : run.recorder.rows<WatchSample>("/timeline/watch")) {
    const bool is_each = row.service.view() == "each";
    int64_t& most = is_each ? each : row.service.view() == "all" ? all : of_b;
    most = std::max(most, row.addresses);
    if (is_each) services = std::max(services, row.objects);
    if (row.time < Time{} + 110_s) continue;
    EXPECT_EQ(row.addresses, 0) << row.service.view();
    EXPECT_EQ(row.objects, is_each ? 0 : 1) << "services of jobs go with them";
  }
  EXPECT_EQ(each, 2 * 5);
  EXPECT_EQ(all, 5);
  EXPECT_EQ(of_b, 2);
  EXPECT_EQ(services, 2 * 2);
}

// Nodes join and leave while the only server is down. The writes of the endpoint objects wait for
// the server.
TEST(ServicesRun, AfterAnOutageTheObjectsHoldWhoIsThere) {
  std::vector<std::string> changes{
      "control_plane.api_servers.servers=1",
      "control_plane.losses=[{server: 0, at: 10s, until: 40s}]", "run.until=10min",
      "faults.list=[{node: '3', at: 5s, repair: 10s}, {node: '4', at: 12s, repair: 1h}, "
      "{node: '5', at: 20s, repair: 1min}, {node: '6', at: 30s, repair: 5s}]"};
  ScenarioRun run{scenario(40, kubelet("endpoints: {slice_size: 10}, watchers: {daemons: 1}")),
                  changes};
  EXPECT_EQ(summary(run.result, "watch_refused"), 0) << "its client tried long enough";
  EXPECT_GT(summary(run.result, "api_lost"), 0);
  const auto rows = run.recorder.rows<WatchSample>("/timeline/watch");
  EXPECT_EQ(rows.back().addresses, 39);
  EXPECT_EQ(rows.back().objects, 4);
  const auto servers = run.recorder.rows<ApiServerSample>("/timeline/api_servers");
  EXPECT_EQ(servers.back().watches, 39 * 3 + 4)
      << "kubelets, kube-proxies, daemons and who watches all pods";
}

TEST(ServicesRun, AnObjectThatEtcdRejectsIsRetriedAndSendsNoEvent) {
  const std::string jobs =
      "{sources: [{kind: jobs, jobs: [{pods: 2, pod: {gpus: 8}, work: 1min}]}]}";
  ScenarioRun run{scenario(200,
                           kubelet("endpoints: {kind: endpoints, addresses_max: 0, address_bytes: "
                                   "9kB}, watchers: {controllers: 1}"),
                           jobs)};
  EXPECT_EQ(summary(run.result, "watch_events"), 0);
  EXPECT_EQ(summary(run.result, "watch_refused"), 15) << "5 ms, doubled until the end after 110 s";
  EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Completed);
}

TEST(ServicesRun, ATeamWhosePodsNeverRanIsReported) {
  const std::string jobs =
      "{sources: [{kind: jobs, jobs: [{work: 1s}, {submit: 1h, work: 1s, team: late}]}]}";
  ScenarioRun run{scenario(4, "groups: [{name: of-late, members: pods, team: late}]", jobs)};
  EXPECT_THAT(run.result.warnings, Contains(HasSubstr("no pod of team 'late' ran")));
}

TEST(ServicesRun, MistakesAreReported) {
  const auto errors = [](const std::string& services, const std::string& level = "full") {
    Diagnostics diagnostics;
    const std::string yaml =
        "cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}\n"
        "workload: {sources: [{kind: jobs, jobs: [{work: 1h, team: ablations}]}]}\n"
        "control_plane:\n  level: " +
        level + "\n  services: {" + services + "}\n";
    const config::Document document = config::load_text(yaml, "s.yaml", diagnostics);
    static_cast<void>(read_scenario(document, diagnostics));
    return diagnostics.text();
  };
  EXPECT_EQ(errors(kKubelet), "");
  EXPECT_THAT(errors(kubelet("endpoints: {slice_size: 1001}")),
              HasSubstr("s.yaml:5:97: control_plane.services.endpoints.slice_size"));
  EXPECT_THAT(errors(kubelet("watchers: {agents: 1}")),
              HasSubstr("watchers.agents: has no effect without `daemons`"));
  EXPECT_THAT(errors("groups: [{name: a}, {name: a}]"), HasSubstr("two groups are called 'a'"));
  EXPECT_THAT(errors("groups: [{members: nodes}]"),
              HasSubstr("groups[0]: missing required key 'name'"));
  EXPECT_THAT(errors("groups: [{name: a, members: node}]"), HasSubstr("did you mean 'nodes'"));
  EXPECT_THAT(errors("groups: [{name: a, members: pods, team: ablation}]"),
              HasSubstr("s.yaml:5:54: control_plane.services.groups[0].team: no job is of team "
                        "'ablation'; did you mean 'ablations'?"));
  EXPECT_EQ(errors("groups: [{name: a, members: pods, team: ablations}]"), "");
  EXPECT_THAT(errors("groups: [{name: a}], watcher: {}"), HasSubstr("did you mean 'watchers'"));
}

}  // namespace
}  // namespace orrery::services_run_test
