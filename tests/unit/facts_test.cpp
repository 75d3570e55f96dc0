// tests/unit/facts_test.cpp -- parameters without effect, and the reasons that warnings give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/cluster/cluster.hpp"
#include "models/facts/fact.hpp"
#include "models/run/simulation.hpp"
#include "models/scenario/scenario.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery::facts_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kBase =
    "cluster: {pools: [{name: n, machine: dgx-a100, count: 4, nodes_per_leaf: 1}]}\n"
    "workload: {sources: [{kind: jobs, jobs: [{work: 10min, pods: 2, pod: {gpus: 8}}]}]}\n"
    "run: {until: 1h}\n";

using Settings = std::vector<std::string>;

Settings operator+(Settings a, const Settings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Diagnostics read(const Settings& settings, Diagnostics diagnostics = {}) {
  config::Document document = config::load_text(kBase, "s.yaml", diagnostics);
  for (const std::string& one : settings) config::apply_override(document, one, diagnostics);
  const Scenario scenario = read_scenario(document, diagnostics);
  if (diagnostics.ok()) Ground{scenario}.check(scenario, document.root, diagnostics);
  return diagnostics;
}

// With the settings `idle` in addition to kBase, the parameter `path` has no effect, and the
// message gives a reason that begins with `why`. With the settings `works`, the parameter has an
// effect. If `works` is empty, the effect is not tested.
struct Row {
  std::string path, value;
  Settings idle;
  std::string why;
  Settings works;
};

const std::string kT = "workload.training.", kC = "control_plane.", kN = "network.";
const std::string kJ = "workload.sources[0].jobs[0].", kK = "workload.controller.";
const Settings kNone, kFull{"control_plane.level=full"}, kDelays{"control_plane.level=delays"};
const Settings kFlow{"network.level=flow"}, kAlpha{"network.level=alpha_beta"};
const std::string kB = "[{name: b, min_available: 1}]";
const Settings kControllers{
    "policy={controllers: [{name: Descheduler, args: {remove_duplicates: {}}}]}"};
const Settings kOnePodJobs{kJ + "kind=pods"}, kOnePod{kJ + "pods=1"};
const Settings kStep{kT + "step={compute: 1s, exchanges: [{bytes: 1GB}]}"};
const Settings kModel{kT + "step={model: {layers: 8, hidden: 1024, batch: 64}}"};
const Settings kCounting{"policy={driver: counting, job_queue: {}}"};
const Settings kFault{"faults.list=[{node: n-0, at: 2min, repair: 1min}]"};
const Settings kJoins{kC + "joins=[{pool: n, nodes: 1, at: 1min}]"};
const Settings kReader{kC + "events={readers: [{every: 1min}]}"};
const Settings kNames{kC + "namespaces={existing: 5}"};
const Settings kServices{kC + "services={groups: [{name: a}]}"};
const Settings kDead{
    "faults.links={list: [{on: host-0.nic-0, at: 1min, until: 2min, flaw: "
    "{kind: dead}}]}"};
const Settings kDegraded{
    "faults.links={list: [{on: host-0.nic-0, at: 1min, flaw: {kind: "
    "degraded, bit_error_rate: 1e-6}}]}"};
const Settings kAdaptive{kN + "routing={engine: adaptive_local}"};
const Settings kOneLeaf{"cluster.pools[0].nodes_per_leaf=4", kN + "fabric={rails: 1}"};
const Settings kTwoJobs{
    "workload.sources[0].jobs=[{work: 10min, pods: 4, pod: {gpus: 8}}, "
    "{work: 5min, submit: 1min, pods: 2, pod: {gpus: 8}}]"};
const Settings kPreempts{"policy={plugins: [{name: DefaultPreemption}]}"};
const Settings kHigher{"workload.sources[0].jobs[1].priority=5"};
const Settings kStore{"storage={stores: [{name: blob, write: 1GBps, read: 1GBps}]}"};
const Settings kSaves{kT + "checkpoint_interval=1min", kT + "checkpoint={store: blob, bytes: 1GB}"};
const Settings kReads{kT + "dataset={store: blob, per_step: 1MB}"};
const Settings kQueue{"policy={job_queue: {policies: [{name: SRTF}]}}"};

// ---- reasons that depend on the whole scenario (kWhyNot)

const std::vector<Row> kPlane{
    {kC + "etcd", "{commit_latency: 1s}", {}, "control_plane.level is none", kFull},
    {kC + "joins", "[{pool: n, nodes: 1, at: 1min}]", {}, "control_plane.level is none", kFull},
    {kC + "losses", "[{at: 1min}]", kDelays, "control_plane.level is not full", kFull},
    {kC + "etcd.read_object", "1e8", kFull,
     "no client in events.readers or namespaces.readers reads from etcd", kFull + kReader},
    {kC + "api_servers.server.cost.read", "1ms", kFull,
     "no client gets, lists or watches anything after the start of the run", kFull + kReader},
    {kC + "node_join.certificate_requests", "9", kFull + kFault,
     "there are neither control_plane.joins nor an autoscaler", kFull + kJoins},
    {kC + "node_join", "{daemons: 9}", kFull, "no node joins and no node fails", kFull + kFault},
    {kC + "node_lifecycle", "{toleration: 10s}", kDelays,
     "control_plane.level is delays and no node joins or fails", kFull},
    {kC + "etcd.event_ttl", "2h", kFull,
     "there are no Events (control_plane.events is absent and no node boots)", kFull + kReader},
    {kC + "node_join.slices", "9", kFull + kServices + kFault,
     "control_plane.services has groups (nodes then list the groups' Endpoints or EndpointSlices)",
     kFull + kFault},
    {kC + "kubelet.crash_loop", "{initial: 1s}", kFull, "there are no control_plane.crash_loops",
     kFull + Settings{kC + "crash_loops=[{nodes: 2}]"}},
    {kC + "namespaces.each.grace", "1min", kFull + kNames, "no namespace is deleted",
     kFull + Settings{kC + "namespaces={per_job: true}"}},
    {kC + "namespaces.each.client_qps", "1", kFull + kNames,
     "there are no control_plane.namespaces.askers",
     kFull + Settings{kC + "namespaces={existing: 5, askers: [{every: 1min}]}"}},
    {kC + "image_pulls", "{node: 10MBps}", kFull, "pods have no images",
     kFull + Settings{kJ + "pod.image={name: a, size: 1GB}"}},
    {kK + "pod_creation_interval",
     "3s",
     kDelays,
     "there is a control plane, where each batch waits for the API servers' answers",
     {}},
};

const std::vector<Row> kNetwork{
    {kN + "level", "flow", {}, "no job has a step (training.step)", kStep},
    {"workload.steps", "traced", {}, "no job has a step", kStep + kAlpha},
    {kN + "exchanges", "[{latency: 1us, bandwidth: 1GBps}]", kStep, "network.level is none",
     kStep + kAlpha},
    {kT + "step", "{compute: 1s, exchanges: [{bytes: 1GB}]}", {}, "network.level is none", kAlpha},
    {kN + "routing", "{engine: ecmp}", kStep + kAlpha, "network.level is not flow", kStep + kFlow},
    {"faults.links", "{routing: [{at: 1min, engine: ecmp}]}", kStep + kAlpha,
     "network.level is not flow", kStep + kFlow},
    {"policy.plugins[0]", "{name: SymbolErrors}",
     kStep + kAlpha + Settings{"policy={plugins: [{name: NodeName}]}"}, "network.level is not flow",
     kStep + kFlow + Settings{"policy={plugins: [{name: NodeName}]}"}},
    {kN + "exchanges", "[{latency: 1us, bandwidth: 1GBps}]",
     kAlpha + Settings{kT + "step={compute: 1s, optimizer: 1s}"}, "no step of a gang has exchanges",
     kStep + kAlpha},
    {kN + "fabric", "{rails: 2}", kStep + kFlow + kOnePod,
     "no gang of several pods has a step with exchanges", kStep + kFlow},
    {kN + "sharp", "true",
     kFlow + Settings{kT + "step={compute: 1s, exchanges: [{bytes: 1GB, collective: broadcast}]}"},
     "no step of a gang with several pods has an all-reduce",
     kFlow + kStep + Settings{"cluster.pools[0].machine=dgx-h100"}},
    {kN + "sharp", "true", kFlow + kStep, "no machine of the cluster has NVSwitches that reduce",
     kFlow + kStep + Settings{"cluster.pools[0].machine=dgx-h100"}},
    {kN + "routing.choose_every", "1s", kFlow + kStep,
     "neither network.routing nor faults.links.routing", kFlow + kStep + kAdaptive},
    {kN + "routing.queue_pairs", "4", kFlow + kStep, "no routing engine is ecmp or adaptive",
     kFlow + kStep + kAdaptive},
    {kN + "fabric.oversubscription", "2", kFlow + kStep + kOneLeaf,
     "the fabric is a single leaf switch", kFlow + kStep},
    {kN + "links.retry_timeout", "5s", kFlow + kStep + kDegraded,
     "no link is down (there are no faults.links of kind dead or flap)", kFlow + kStep + kDead},
    {kN + "links.ack_timeout", "9ms", kFlow + kStep + kDead,
     "no packets are damaged (there are no faults.links of kind degraded)",
     kFlow + kStep + kDegraded},
};

const std::vector<Row> kJobs{
    {"workload.training",
     "{init: 1s}",
     {kJ + "training={init: 2s}"},
     "all jobs except services have a training section, their own or their source's",
     {}},
    {kT + "communicator",
     "{method: redis}",
     {kJ + "pod={gpus: 1}", kJ + "pods=1"},
     "no job has more than one GPU",
     {}},
    {kT + "init_per_gpu", "1s", {kJ + "pod={cpus: 1}"}, "no job asks for GPUs", {}},
    {kT + "checkpoint", "{store: blob, bytes: 1GB}",
     kStore + kOnePodJobs + Settings{kT + "checkpoint_interval=1min"}, "no job is a gang",
     kStore + Settings{kT + "checkpoint_interval=1min"}},
    {kT + "restart_scope", "pod", kFault + kOnePod, "no gang has several pods", kFault},
    {kK + "last_call",
     "5s",
     {},
     "every gang needs all of its pods to start (see min_available)",
     {kJ + "min_available=1"}},
    {"workload.sources[0].jobs[0].gangs[0].roles[0].exits",
     "false",
     {"workload.sources[0].jobs=[{work: 10min, gangs: [{roles: [{pods: 2}]}]}]"},
     "no job is of kind: pods",
     {"workload.sources[0].jobs=[{work: 10min, kind: pods, gangs: [{roles: [{pods: 2}, {}]}]}]"}},
    {kK + "overruns",
     "kill",
     {},
     "no job has a requested duration (requested)",
     {kJ + "requested=5min"}},
    {kJ + "requested",
     "5min",
     {},
     "there is no policy.job_queue, and workload.controller.overruns is not kill",
     {kK + "overruns=kill"}},
    {kK + "pod_start", "{median: 5s}", kCounting, "policy.driver is counting", {}},
    {"control_plane", "{level: full}", kCounting, "policy.driver is counting", {}},
    {"cluster.pools[0].taints", "[{key: a}]", kCounting, "policy.driver is counting", {}},
    {"policy.job_queue.costs",
     "{batch_start: 1min}",
     {"policy={job_queue: {}}"},
     "all jobs have pods (policy.driver is not counting)",
     kCounting},
    {kT + "restore",
     "1s",
     {kT + "checkpoint_interval=1min"},
     "nothing stops a job (see faults)",
     kFault + Settings{kT + "checkpoint_interval=1min"}},
    {kK + "restart_delay",
     "1s",
     {},
     "no failure, preemption or eviction restarts a job (see faults)",
     kFault},
    {kT + "restarts_max", "1", {}, "no failure stops a job (see faults)", kFault},
    {kK + "hang_timeout",
     "1min",
     {},
     "no rank waits for a dead rank (see faults.ranks)",
     {"faults.ranks=[{job: job-0, at: 1min}]"}},
    {kT + "checkpoint_interval",
     "1min",
     {},
     "checkpoints take no time, and no job loses compute",
     kFault},
    {kK + "termination", "30s", kTwoJobs + kPreempts,
     "no pod can be preempted (by a pod of higher priority) or evicted (by a controller or an "
     "autoscaler)",
     kTwoJobs + kHigher + kPreempts},
    {"policy.plugins[0]", "{name: DefaultPreemption}",
     kTwoJobs + Settings{"policy={plugins: [{name: NodeName}]}"}, "all pods have the same priority",
     kTwoJobs + kHigher + Settings{"policy={plugins: [{name: NodeName}]}"}},
    {"policy.plugins[0].args.async", "false", kTwoJobs + kHigher + kPreempts,
     "control_plane.level is none", kTwoJobs + kHigher + kPreempts + kFull},
    {"storage.stores", "[{name: blob, write: 1GBps, read: 1GBps}]", kNone,
     "no job uses a store that nodes share", kNone},
    {"storage.node.write", "1GBps", kAlpha + kStep + kStore + kReads,
     "no checkpoint goes to a store that nodes share", kStore + kSaves},
    {"storage.local", "{}", {}, "no job uses local disks", {}},
    {"storage.local.write",
     "1GBps",
     kAlpha + kStep + Settings{"storage={local: {}}", kT + "dataset={store: local, per_step: 1MB}"},
     "no checkpoint goes to local disks",
     {}},
    {kT + "schedule_timeout", "9s", kNone, "no policy of the scenario uses it (coscheduling",
     Settings{"policy={base: coscheduling}"}},
    {kJ + "pod.affinity",
     "[{topology_key: hostname, match_labels: {a: b}}]",
     {},
     "the policy has no plugin InterPodAffinity",
     {"policy={plugins: [{name: InterPodAffinity}]}"}},
    {kJ + "pod.labels",
     "{a: b}",
     {},
     "the policy has neither InterPodAffinity nor PodTopologySpread, and no disruption budget",
     {"policy={plugins: [{name: PodTopologySpread}]}"}},
    {kJ + "pod.topology_spread",
     "[{max_skew: 1, topology_key: hostname, match_labels: {a: b}}]",
     {},
     "the policy has no plugin PodTopologySpread",
     {"policy={plugins: [{name: PodTopologySpread}]}"}},
    {"policy.job_queue.stops",
     "{write: 10s}",
     {"policy={job_queue: {}}"},
     "no policy of the queue stops running jobs",
     kQueue},
    {"workload.disruption_budgets", kB, {}, "there are no policy.controllers", kControllers},
    {"policy.controllers[0]", "{name: ClusterAutoscaler}", kControllers,
     "there is no control_plane.autoscaler with pools to scale",
     kControllers + kFull + Settings{kC + "autoscaler={groups: [{pool: n}]}"}},
};

// ---- reasons that depend only on the parameter's own section of the scenario
const std::vector<Row> kSections{
    {kC + "etcd.election_timeout", "30s",
     kFull + Settings{kC + "etcd={losses: [{member: 1, at: 10ms}]}"},
     "no loss takes the leader or the quorum",
     kFull + Settings{kC + "etcd={losses: [{at: 10ms}]}"}},
    {kC + "api_servers.balance", "per_request", kFull + Settings{kC + "api_servers={servers: 1}"},
     "there is one server", kFull},
    {kC + "api_servers.flow_control.wait_limit", "2s",
     kFull + Settings{kC + "api_servers={flow_control: {mode: max_inflight}}"},
     "mode is max_inflight, in which nothing waits for seats", kFull},
    {kC + "joins[0].over", "1min", kFull + kJoins, "a single node joins",
     kFull + Settings{kC + "joins=[{pool: n, nodes: 2, at: 1min}]"}},
    {"policy.tie_break", "random", kCounting, "driver is counting, which places no pods", {}},
    {"run.stall_limit", "3h", {}, "the run ends at `until`", {"run.until=null"}},
    {kT + "step.zero", "true", kFlow + kStep, "there is no model", kFlow + kModel},
    {kT + "step.exchanges[0].stages", "pipelined", kFlow + kStep, "algorithm is not hierarchical",
     kFlow + Settings{kT + "step={compute: 1s, exchanges: [{bytes: 1GB, algorithm: "
                           "hierarchical}]}"}},
    {kT + "step", "{compute: 1s}", kFlow, "the step has only compute", {}},
    {kT + "checkpoint_write",
     "1s",
     kStore + kSaves,
     "`checkpoint` replaces this field",
     {kT + "checkpoint_interval=1min"}},
    {kK + "pod_start.sigma", "1", {}, "the median is 0", {kK + "pod_start.median=5s"}},
    {"faults.nodes[0].weibull_shape",
     "2",
     {"faults.nodes=[{rate: 1000}]"},
     "distribution is not weibull",
     {"faults.nodes=[{rate: 1000, distribution: weibull}]"}},
    {"policy.job_queue.policies[0].args.damping",
     "9",
     {"policy={job_queue: {policies: [{name: SlurmMultifactor, args: {weight_age: 1, fairshare: "
      "fair_tree}}]}}"},
     "fairshare is not classic",
     {"policy={job_queue: {policies: [{name: SlurmMultifactor, args: {weight_age: 1, fairshare: "
      "classic}}]}}"}},
};

std::vector<Row> all_rows() {
  std::vector<Row> all = kPlane;
  for (const auto* const part : {&kNetwork, &kJobs, &kSections}) {
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

std::vector<std::string> warnings_about(const Diagnostics& diagnostics, const std::string& path) {
  EXPECT_TRUE(diagnostics.ok()) << path << "\n" << diagnostics.text();
  std::vector<std::string> found;
  for (const Diagnostics::Entry& one : diagnostics.warning_entries()) {
    if (one.path == path) found.push_back(one.message);
  }
  return found;
}

TEST(Facts, GivenParametersWithoutEffectAreReportedWithTheReason) {
  for (const Row& row : all_rows()) {
    const Settings given{row.path + "=" + row.value};
    EXPECT_THAT(warnings_about(read(row.idle + given), row.path),
                ElementsAre(HasSubstr("has no effect: " + row.why)))
        << row.path;
    EXPECT_THAT(warnings_about(read(row.idle), row.path), IsEmpty()) << "absent: " << row.path;
  }
}

TEST(Facts, ParametersThatCountAreNotReported) {
  for (const Row& row : all_rows()) {
    if (row.works.empty()) continue;
    const Diagnostics logged = read(row.works + Settings{row.path + "=" + row.value});
    EXPECT_THAT(warnings_about(logged, row.path), IsEmpty()) << row.path;
  }
}

TEST(Facts, AllAreTried) {
  const std::vector<Row> rows = all_rows();
  for (size_t i = 0; i < kWhyNot.size(); ++i) {
    const auto tries = [&](const Row& row) { return kWhyNot[i].starts_with(row.why); };
    EXPECT_TRUE(std::ranges::any_of(rows, tries)) << kWhyNot[i];
  }
}

TEST(Facts, RunsAreAsIfParametersWithoutEffectWereAbsent) {
  for (const Row& row : all_rows()) {
    SCOPED_TRACE(row.path + ": " + row.why);
    const Settings given = row.idle + Settings{row.path + "=" + row.value};
    const ScenarioRun without{kBase, row.idle}, with{kBase, given};
    for (const SummaryValue& one : without.result.summary) {
      const auto same = std::ranges::find(with.result.summary, one.name, &SummaryValue::name);
      // Compared as text, because nan differs from nan.
      EXPECT_EQ(testing::PrintToString(same->value), testing::PrintToString(one.value));
    }
    EXPECT_EQ(with.result.simulated, without.result.simulated);
  }
}

TEST(Facts, OfASectionWithoutEffectTheFieldsAreNotReported) {
  const Diagnostics logged =
      read({kC + "etcd={members: 3, read_object: 1e8, election_timeout: 3s}"});
  EXPECT_THAT(logged.warnings(), SizeIs(1));
  EXPECT_THAT(read({kC + "autoscaler=null"}).warnings(), IsEmpty()) << "null is as absent";
  EXPECT_THAT(read({kC + "losses=[]"}).warnings(), IsEmpty()) << "and so is the default";
}

TEST(Facts, WhatIsWithoutEffectIsAMistakeIfItIsToBeRefused) {
  const Diagnostics logged = read({kC + "losses=[{at: 1min}]"}, Diagnostics{Idle::Refused});
  EXPECT_THAT(logged.messages(), ElementsAre("--set #1:1:22: control_plane.losses: has no effect: "
                                             "control_plane.level is not full"));
}

TEST(Facts, ARunMayBeShorterThanWhatHappensInIt) {
  const Settings settings = kFull + Settings{"run.until=5min",
                                             kC + "losses=[{at: 90min}]",
                                             kC + "crash_loops=[{from: 1h}]",
                                             kC + "etcd={losses: [{at: 2h}]}",
                                             "record.cardiogram={jobs: [job-0], window: {to: 1h}}",
                                             "run.changes=[{at: 1h, policy: {base: strict_gang}}]"};
  const Diagnostics logged = read(settings);
  EXPECT_TRUE(logged.ok()) << logged.text();
  EXPECT_THAT(warnings_about(logged, kC + "losses[0].at"),
              ElementsAre("has no effect: the run ends before, at 5min"));
  EXPECT_THAT(warnings_about(logged, "run.changes[0].at"), SizeIs(1));
  const ScenarioRun run{kBase, settings};
  EXPECT_EQ(run.result.simulated, Time{} + 5_min);
}

}  // namespace
}  // namespace orrery::facts_test
