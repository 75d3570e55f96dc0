// Whole runs: when controllers create pods, and how image pulls delay the start of pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/scheduler_world.hpp"

namespace orrery::pod_start_run_test {
namespace {

using ::testing::HasSubstr;

std::string scenario(const std::string& control_plane, const std::string& jobs,
                     const std::string& more = "") {
  return "cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}\ncontrol_plane: " +
         control_plane + "\nworkload: {sources: [{kind: jobs, jobs: [" + jobs + "]}]}\n" + more;
}

// Rows of /pods, sorted by job and rank.
std::vector<PodRow> pods_of(const std::string& yaml) {
  ScenarioRun run{yaml};
  std::vector<PodRow> pods = run.recorder.rows<PodRow>("/pods");
  std::ranges::sort(pods, {}, [](const PodRow& pod) { return std::pair{pod.job, pod.rank}; });
  return pods;
}

std::string errors(const std::string& yaml) {
  Diagnostics diagnostics;
  const config::Document document = config::load_text(yaml, "s.yaml", diagnostics);
  static_cast<void>(read_scenario(document, diagnostics));
  return diagnostics.text();
}

const std::string kLarge = "pod: {gpus: 1, image: {name: game, size: 17GB}}, work: 1min";
const std::string kSmall = "pod: {gpus: 1, image: {name: agent, size: 10MB}}, work: 1min";

// 17 GB at 75.2 Mb/s, the published rate of one node, take about 30 min.
TEST(ImagesInRuns, AnImageOf17GigabytesHoldsUpASmallOneUnlessTheyArePulledInParallel) {
  const std::string jobs = "{kind: pods, " + kLarge + "}, {kind: pods, submit: 10s, " + kSmall +
                           "}, {kind: pods, submit: 20s, " + kLarge + "}";
  const std::string one_node = "policy: {base: default}\n";
  const std::string pin = "cluster: {pools: [{name: n, machine: dgx-a100, count: 1}]}\n";
  const auto run = [&](const std::string& control_plane) {
    return pods_of(pin + "control_plane: " + control_plane +
                   "\nworkload: {sources: [{kind: jobs, jobs: [" + jobs + "]}]}\n" + one_node);
  };
  const std::vector<PodRow> serial = run("{level: full}");
  ASSERT_EQ(serial.size(), 3U);
  EXPECT_NEAR((serial[0].started - serial[0].bound).seconds(), 17e9 * 8 / 75.2e6 + 0.8, 1);
  EXPECT_NEAR((serial[1].started - serial[0].started).seconds(), 10e6 * 8 / 75.2e6, 0.1);
  EXPECT_EQ(serial[2].started, serial[1].started) << "it is there, behind the queue of the node";
  const std::vector<PodRow> parallel = run("{level: full, image_pulls: {parallel: 0}}");
  EXPECT_LT((parallel[1].started - parallel[1].bound).seconds(), 2 * 10e6 * 8 / 75.2e6 + 1);
  EXPECT_EQ(parallel[2].started, parallel[0].started);
  const std::vector<PodRow> delays = run("{level: delays}");
  EXPECT_NEAR((delays[0].started - delays[0].bound).seconds(), 17e9 * 8 / 75.2e6 + 0.8, 1e-6);
  EXPECT_NEAR((delays[1].started - delays[1].bound).seconds(), 10e6 * 8 / 75.2e6 + 0.8, 1e-6);
  EXPECT_EQ(delays[2].started, delays[0].started);
}

// Four nodes pull 1 GB at 1 Gb/s each. The gang starts when the last node has the image, and holds
// its GPUs meanwhile. The second gang finds the image on its nodes, and pulls nothing.
TEST(ImagesInRuns, AGangStartsWhenItsLastImageHasCome) {
  const std::string gang =
      "{pods: 4, pod: {gpus: 8, image: {name: trainer, size: 1GB}}, work: 1min, count: 2, every: "
      "10min}";
  for (const char* level : {"full", "delays"}) {
    const std::string pulls =
        std::string{"{level: "} + level + ", image_pulls: {node: 1Gbps, latency: 2s}}";
    ScenarioRun run{scenario(pulls, gang, "policy: {base: strict_gang}\n")};
    ASSERT_EQ(run.jobs().size(), 2U);
    const JobRow cold = run.jobs()[0], warm = run.jobs()[1];
    EXPECT_NEAR((cold.running - cold.bound).seconds(), 2 + 8 + 0.8, 0.1) << level;
    EXPECT_NEAR(cold.gpu_s_held, 32 * (2 + 8 + 0.8), 32 * 0.3);
    EXPECT_NEAR((warm.running - warm.bound).seconds(), 0.8, 1e-6);
  }
}

TEST(ImagesInRuns, ANodeThatWasRepairedHasNoImages) {
  const std::string job =
      "{kind: pods, pod: {gpus: 8, image: {name: i, size: 1GB}}, work: 1min, count: 3, every: "
      "10min}";
  const std::string fault = "faults: {list: [{node: '0', at: 5min, repair: 1min}]}\n";
  for (const char* level : {"full", "delays"}) {
    const std::string yaml =
        "cluster: {pools: [{name: n, machine: dgx-a100, count: 1}]}\n"
        "control_plane: {level: " +
        std::string{level} +
        ", image_pulls: {node: 1Gbps}}\n"
        "workload: {sources: [{kind: jobs, jobs: [" +
        job + "]}]}\n" + fault;
    const std::vector<PodRow> pods = pods_of(yaml);
    ASSERT_EQ(pods.size(), 3U);
    EXPECT_NEAR((pods[0].started - pods[0].bound).seconds(), 8.8, 0.01) << level;
    EXPECT_NEAR((pods[1].started - pods[1].bound).seconds(), 8.8, 0.01) << level;
    EXPECT_NEAR((pods[2].started - pods[2].bound).seconds(), 0.8, 0.01) << level;
  }
}

// A node fails while a gang waits for images: the gang restarts, and waits for the images of the
// new node again.
TEST(ImagesInRuns, AGangThatLosesANodeWhileItPullsStartsAgain) {
  const std::string gang =
      "{pods: 3, pod: {gpus: 8, image: {name: trainer, size: 10GB}}, work: 1h, training: "
      "{restart_scope: SCOPE}}";
  const std::string faults = "faults: {list: [{node: '1', at: 30s, repair: 2h}]}\n";
  for (const std::string scope : {"gang", "pod"}) {
    std::string job = gang;
    job.replace(job.find("SCOPE"), 5, scope);
    ScenarioRun run{scenario("{level: full, image_pulls: {node: 1Gbps}}", job,
                             faults + "policy: {base: strict_gang}\n"),
                    {"workload.controller.failure_detection=5s"},
                    {}};
    const JobRow row = run.jobs().at(0);
    EXPECT_EQ(row.outcome, JobOutcome::Completed);
    EXPECT_EQ(row.restarts, 1);
    // 30 s until the node fails, 5 s until detection, 10 s until the pods are recreated, 80 s to
    // pull 10 GB on node 3, 0.8 s to start.
    EXPECT_NEAR((row.running - Time{}).seconds(), 30 + 5 + 10 + 80 + 0.8, 0.5) << scope;
  }
}

TEST(ImagesInRuns, OneNameHasOneSize) {
  const std::string job = "{pods: 2, " + kLarge + "}";
  EXPECT_EQ(errors(scenario("{level: full}", job)), "");
  EXPECT_THAT(errors(scenario("{level: full}",
                              job + ", {work: 1h, pod: {image: {name: game, size: 1GB}}}")),
              HasSubstr("jobs[1].pod.image.size: the image 'game' has "));
}

// ---- controllers

// The controllers `job` and `replica_set` create batches of 1, 2, 4 and 2 pods. A batch begins when
// all requests of the previous batch are answered. A response takes at least 1.2 ms.
TEST(ControllersInRuns, JobsCreateBatchesAndParallelSetsAllAtOnce) {
  const std::string jobs = "{kind: pods, pods: 9, pod: {gpus: 1}, work: 1min, controller: ";
  const auto created = [&](const std::string& controller) {
    std::vector<double> at;
    for (const PodRow& pod : pods_of(scenario("{level: delays}", jobs + controller + "}"))) {
      at.push_back(1e3 * (pod.created - Time{}).seconds());
    }
    return at;
  };
  for (const char* controller : {"job", "replica_set"}) {
    const std::vector<double> at = created(controller);
    ASSERT_EQ(at.size(), 9U);
    const double answer = at[1] - at[0];
    EXPECT_GT(answer, 1.2) << "ms";
    EXPECT_EQ(at[1], at[2]);
    EXPECT_NEAR(at[3] - at[2], answer, 1e-9);
    EXPECT_EQ(at[3], at[6]);
    EXPECT_NEAR(at[7] - at[6], answer, 1e-9);
  }
  const std::vector<double> whole = created("parallel_stateful_set");
  EXPECT_EQ(whole[0], whole[8]);
}

TEST(ControllersInRuns, AnOrderedStatefulSetCreatesEachPodWhenTheOneBeforeIsReady) {
  for (const char* level : {"none", "delays", "full"}) {
    const std::string job =
        "{kind: pods, pods: 5, pod: {gpus: 1}, work: 1h, controller: ordered_stateful_set}";
    const std::vector<PodRow> pods =
        pods_of(scenario(std::string{"{level: "} + level + "}", job, "policy: {base: default}\n"));
    ASSERT_EQ(pods.size(), 5U);
    for (size_t i = 1; i < pods.size(); ++i) {
      EXPECT_GE(pods[i].created, pods[i - 1].started) << level;
      EXPECT_LE(pods[i].created, pods[i - 1].started + 20_ms) << level;
    }
  }
}

TEST(ControllersInRuns, AnOrderedStatefulSetReplacesALostPodBeforeItGoesOn) {
  const std::string job =
      "{kind: pods, pods: 3, pod: {gpus: 8}, work: 1h, controller: ordered_stateful_set}";
  const std::string more = "workload: {sources: [{kind: jobs, jobs: [" + job +
                           "]}], controller: {pod_start: {median: 1min}}}\n"
                           "faults: {list: [{node: '0', at: 90s, repair: 5h}]}\n";
  const std::vector<PodRow> pods =
      pods_of("cluster: {pools: [{name: n, machine: dgx-a100, count: 4}]}\n" + more);
  ASSERT_EQ(pods.size(), 4U);  // the pod of rank 0 was created twice
  EXPECT_EQ(pods[0].ended, Time{} + 90_s);
  EXPECT_NEAR((pods[1].created - Time{}).seconds(), 105, 0.1);
  EXPECT_NEAR((pods[2].created - Time{}).seconds(), 60, 0.1);
  EXPECT_NEAR((pods[3].created - Time{}).seconds(), 165, 0.1) << "after rank 0 is ready again";
}

TEST(ControllersInRuns, ByPodSchedulersStartAGangOfAnOrderedStatefulSetAndGangSchedulersCannot) {
  const std::string job = "{pods: 3, pod: {gpus: 8}, work: 1h, controller: ordered_stateful_set}";
  ScenarioRun run{scenario("{level: full}", job, "policy: {base: default}\n")};
  EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Completed);
  EXPECT_GT(run.jobs().at(0).wait, 2400_ms);
  for (const char* base : {"coscheduling", "strict_gang", "koordinator", "native_gang"}) {
    EXPECT_THAT(
        errors(scenario("{level: full}", job, std::string{"policy: {base: "} + base + "}\n")),
        HasSubstr("jobs[0].controller: the gang would wait for ever"))
        << base;
  }
}

}  // namespace
}  // namespace orrery::pod_start_run_test
