// tests/unit/scenario_unused_test.cpp -- parameters that look idle and are not, so that they are
// accepted; those that are idle stand in tests/bad_input/unused_cases.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/cluster/cluster.hpp"
#include "models/scenario/scenario.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kTwoPools =
    "cluster: {pools: [{name: n, machine: dgx-a100, count: 4, nodes_per_leaf: 1}]}\n";
constexpr const char* kStep = "step: {compute: 1s, exchanges: [{bytes: 1GB}]}";
constexpr const char* kFlow = "network: {level: flow}\n";
constexpr const char* kFault = "faults: {list: [{node: n-0, at: 1min, repair: 1min}]}\n";

std::vector<std::string> mistakes(const std::string& text) {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(text, "s.yaml", diagnostics);
  const Scenario scenario = read_scenario(document, diagnostics);
  if (diagnostics.ok()) Ground{scenario}.check(scenario, document.root, diagnostics);
  std::vector<std::string> all = diagnostics.messages();
  for (const std::string& warning : diagnostics.warnings()) all.push_back(warning);
  return all;
}

// Jobs with the shared section; `more` are other sections.
std::vector<std::string> shared(const std::string& training, const std::string& jobs,
                                const std::string& more, const std::string& pools = kTwoPools) {
  return mistakes(pools + "workload:\n  training: {" + training +
                  "}\n  sources: [{kind: jobs, jobs: [" + jobs + "]}]\n" + more);
}

std::vector<std::string> gang(const std::string& training, const std::string& more) {
  return shared(training, "{work: 10min, pods: 2, pod: {gpus: 8}}", more);
}

TEST(IdleParameters, AreNoneOfWhichOneJobOfSeveralHasUse) {
  const std::string one_gpu = "{work: 1h, pod: {gpus: 1}}", none = "{work: 1h, pod: {cpus: 1}}";
  const std::string two_pods = "{work: 1h, pods: 2, pod: {gpus: 8}}";
  EXPECT_THAT(shared("init_per_gpu: 1s", none + ", " + one_gpu, ""), IsEmpty());
  EXPECT_THAT(shared("communicator: {}", one_gpu + ", " + two_pods, ""), IsEmpty());
  EXPECT_THAT(shared("restart_scope: pod", one_gpu + ", " + two_pods, kFault), IsEmpty());
  const std::string model = "layers: 8, hidden: 1024, batch: 64, gradient_bytes: 2";
  const std::string on_tensor = "step: {zero: true, parallel: {tensor: 8}, model: {" + model + "}}";
  EXPECT_THAT(shared(on_tensor, two_pods + ", {work: 1h, pod: {gpus: 8}}", kFlow), IsEmpty());
  EXPECT_THAT(shared(on_tensor, "{work: 1h, pod: {gpus: 8}}", kFlow),
              ElementsAre(HasSubstr("training.step.zero: has no effect: there is one data"),
                          HasSubstr("training.step.model.gradient_bytes: has no effect")));
}

TEST(IdleParameters, AreNoneThatJobsOfUnknownSizesMayHaveUseFor) {
  const auto generated = [](const std::string& training, const std::string& more) {
    return mistakes(kTwoPools + std::string{"workload:\n  training: {"} + training +
                    "}\n  sources: [{kind: generator, arrival_rate: 1, shape: {kind: preset, "
                    "preset: helios}}]\nrun: {until: 1h}\n" +
                    more);
  };
  EXPECT_THAT(generated("init_per_gpu: 1s, communicator: {}, restart_scope: pod", kFault),
              IsEmpty());
  EXPECT_THAT(generated("schedule_timeout: 1s", "policy: {base: coscheduling}\n"), IsEmpty());
  EXPECT_THAT(
      generated("step: {compute: 1s, exchanges: [{bytes: 1GB, algorithm: hierarchical, stages: "
                "pipelined}]}",
                kFlow),
      IsEmpty());
}

TEST(IdleParameters, AreNoTimeoutsThatALaterPolicyHeeds) {
  constexpr const char* kLater =
      "run: {until: 1h, changes: [{at: 1min, policy: {base: native_gang}}]}\n";
  EXPECT_THAT(gang("schedule_timeout: 9s", kLater), IsEmpty());
  EXPECT_THAT(gang("schedule_timeout: 9s", "policy: {base: strict_gang}\n"),
              ElementsAre(HasSubstr("has no effect with this policy")));
}

TEST(IdleParameters, AreNoneOfJobsThatSomethingMayStop) {
  constexpr const char* kRestarts =
      "restart_scope: pod, restarts_max: 1, checkpoint_interval: 1min";
  const std::string steps = std::string{kRestarts} + ", " + kStep;
  EXPECT_THAT(gang(kRestarts, kFault), IsEmpty());
  EXPECT_THAT(gang(kRestarts, "faults: {ranks: [{job: job-0, at: 1s}]}\n"), IsEmpty());
  EXPECT_THAT(
      gang(
          steps,
          std::string{kFlow} +
              "faults: {links: {list: [{on: leaf-0, at: 1s, until: 1min, flaw: {kind: dead}}]}}\n"),
      IsEmpty());
  EXPECT_EQ(gang(steps, kFlow).size(), 3U);
  // NCCL gives up where there are no NICs at all.
  const std::string without_nics =
      "cluster:\n  machines: [{name: m, base: dgx-a100, nics: 0}]\n  pools: [{name: m, machine: m, "
      "count: 2}, {name: n, machine: dgx-a100, count: 2}]\n";
  const std::string jobs = "{work: 10min, pods: 2, pod: {gpus: 8}}";
  EXPECT_THAT(shared(steps, jobs, kFlow, without_nics), IsEmpty());
  // The only pod of a gang is gone for another reason if its rank died.
  EXPECT_THAT(shared("restart_scope: pod", "{work: 10min, pod: {gpus: 8}}",
                     "faults: {ranks: [{job: job-0, at: 1s}]}\n"),
              IsEmpty());
  constexpr const char* kSaves = "checkpoint_interval: 1min, checkpoint_write: 1s, restore: 1s";
  EXPECT_THAT(gang(kSaves, "policy: {job_queue: {policies: [{name: SRTF}]}}\n"), IsEmpty());
  EXPECT_THAT(gang(kSaves, "policy: {job_queue: {policies: [{name: EASY}]}}\n"),
              ElementsAre(HasSubstr("restore: has no effect: nothing stops a job")));
}

TEST(IdleParameters, AreNoRatesOfStoresFromWhichSomebodyReads) {
  const auto saving = [](const std::string& store) {
    return "checkpoint_interval: 1min, checkpoint: {bytes: 1GB, store: " + store + "}";
  };
  const std::string blob =
      "storage: {stores: [{name: blob, write: 1GBps, read: 1GBps, latency: 1ms}], node: {read: "
      "1GBps, write: 1GBps}}\n";
  const std::string disks = "storage: {local: {read: 1GBps}}\n";
  const std::string queue = "policy: {job_queue: {policies: [{name: Tiresias}]}}\n";
  EXPECT_THAT(gang(saving("blob"), blob + kFault), IsEmpty());
  EXPECT_THAT(gang(saving("blob"), blob + queue), IsEmpty());
  EXPECT_THAT(gang(saving("local"), disks + queue), IsEmpty());
  EXPECT_THAT(gang(saving("local"), disks + kFault),
              ElementsAre(HasSubstr("storage.local.read: has no effect: jobs stop with their "
                                    "nodes alone, whose disks are lost then")));
  EXPECT_THAT(
      gang(saving("blob") + ", " + kStep + ", dataset: {store: blob, per_step: 1MB}", kFlow + blob),
      IsEmpty());
  EXPECT_THAT(
      gang(std::string{kStep} + ", dataset: {store: blob, per_step: 1MB, cache: true, size: 1GB}",
           std::string{kFlow} +
               "storage: {local: {read: 1GBps}, stores: [{name: blob, write: 1GBps, read: "
               "1GBps}]}\n"),
      IsEmpty());
}

TEST(IdleParameters, AreNoneOfASingleLeafThatIsCursed) {
  const std::string one_leaf =
      "cluster: {pools: [{name: n, machine: dgx-a100, count: 4, nodes_per_leaf: 4}]}\n";
  const std::string adaptive =
      "network: {level: flow, fabric: {rails: 1}, routing: {engine: adaptive_local}}\n";
  const std::string jobs = "{work: 10min, pods: 2, pod: {gpus: 8}}";
  EXPECT_THAT(shared(kStep, jobs, adaptive, one_leaf),
              ElementsAre(HasSubstr("network.routing.engine: has no effect: the fabric is a")));
  EXPECT_THAT(
      shared(kStep, jobs,
             adaptive + "faults: {links: {list: [{on: host-0.nic-0, at: 1s, flaw: {kind: cursed}}]"
                        ", routing: [{at: 1min, engine: dmodk}]}}\n",
             one_leaf),
      IsEmpty());
  EXPECT_THAT(shared(kStep, jobs, adaptive), IsEmpty()) << "four leaves";
}

}  // namespace
}  // namespace orrery
