// Services and their autoscalers, in whole runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "models/control_plane/autoscaling/service_scaling_rows.hpp"
#include "models/workload/job/job_rows.hpp"
#include "models/workload/job/pod_row.hpp"
#include "models/workload/job/recovery_row.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/unit/control_plane/scenario_mistakes.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;

template <class T>
T summary(const ScenarioRun& run, std::string_view name) {
  const auto found = std::ranges::find(run.result.summary, name, &SummaryValue::name);
  EXPECT_NE(found, run.result.summary.end()) << name;
  return std::get<T>(found->value);
}

// A scenario with one service, `web`. Its pods have 8 GPUs each, so each needs a node of its own.
// Scheduling takes no time.
std::string service_scenario(const std::string& service,
                             const std::string& rest = "run: {until: 1h}\n", int nodes = 20) {
  return "cluster: {pools: [{name: gpu, machine: dgx-a100, count: " + std::to_string(nodes) +
         "}]}\nrecord: {timeline: {interval: 1min}}\n"
         "policy: {cost: {per_cycle: 0s, per_node: 0s, per_pod: 0s}}\n"
         "workload:\n  sources:\n    - {kind: service, name: web, pod: {gpus: 8}, " +
         service + "}\n" + rest;
}
const std::string kPrompt =
    "autoscaler: {replicas_max: 16, target: 50, metrics_resolution: 1s, scrape_interval: 1s}";

std::string replica_changes(ScenarioRun& run) {
  std::string text;
  for (const auto& row : run.recorder.rows<ServiceScalingRow>("/events/service_scaling")) {
    text += (text.empty() ? "" : ", ") + std::to_string(row.before) + " to " +
            std::to_string(row.after) + " at " + std::to_string((row.time - Time{}) / 1_s);
  }
  return text;
}

TEST(ServiceScaling, ReplicasFollowTheLoad) {
  ScenarioRun run{
      service_scenario("replicas: 2, load: [{at: 0s, load: 1}, {at: 100s, load: 6}, {at: "
                       "1000s, load: 1}], " +
                       kPrompt)};
  // The load of 6 begins at 100 s. The target is a use of 50 %. Two and then four replicas are
  // fully used, so their number doubles to 4 and to 8. Eight replicas have a use of 6 / 8 = 75 %,
  // and become 12. Scaling down waits until five minutes after the last recommendation of 12.
  EXPECT_EQ(replica_changes(run), "2 to 4 at 105, 4 to 8 at 120, 8 to 12 at 135, 12 to 2 at 1290");
  EXPECT_EQ(summary<int64_t>(run, "service_scale_ups"), 3);
  EXPECT_EQ(summary<int64_t>(run, "service_scale_downs"), 1);
  // Of the load of 6, two replicas leave 4 unserved for 5 s, and then four replicas leave 2
  // unserved for 15 s. The whole load is 100 * 1 + 900 * 6 + 2,600 * 1 = 8,100.
  EXPECT_NEAR(summary<double>(run, "service_load_unserved"), (5 * 4 + 15 * 2) / 8100.0, 1e-12);
  const auto samples = run.recorder.rows<ServiceLoadSample>("/timeline/service_load");
  const auto& at_10_min = samples.at(9);
  EXPECT_EQ(at_10_min.time, Time{} + 10_min);
  EXPECT_EQ(at_10_min.replicas, 12);
  EXPECT_EQ(at_10_min.running, 12);
  EXPECT_EQ(at_10_min.load, 6);
  EXPECT_EQ(at_10_min.use, 0.5);
}

TEST(ServiceScaling, TheYoungestGoFirstAndThoseThatWaitBeforeThem) {
  // The 5 nodes run 5 of 8 replicas. The 3 that wait are removed first, then the youngest that run.
  ScenarioRun run{
      service_scenario("replicas: 1, load: [{at: 0s, load: 5}, {at: 10min, load: 1}], "
                       "autoscaler: {replicas_max: 8, target: 50, metrics_resolution: 1s, "
                       "scrape_interval: 1s, scale_down: {percent: 0, pods: 4}}",
                       "run: {until: 1h}\n", 5)};
  std::vector<int32_t> gone;
  for (const PodRow& pod : run.recorder.rows<PodRow>("/pods")) {
    if (pod.end == PodEnd::ScaledDown) gone.push_back(pod.rank);
  }
  EXPECT_THAT(gone, ::testing::ElementsAre(7, 6, 5, 4, 3, 2));
}

TEST(ServiceScaling, AServiceEndsWhenItsTimeIsUp) {
  ScenarioRun run{service_scenario(
      "replicas: 3, submit: 1min, lasts: 10min, load: [{at: 0s, load: 6}]", "run: {seed: 2}\n")};

  const auto jobs = run.recorder.rows<JobRow>("/jobs");
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].outcome, JobOutcome::Completed);
  EXPECT_EQ(jobs[0].ended, Time{} + 11_min);
  EXPECT_EQ(jobs[0].gpu_s_useful, 3 * 8 * 600);
  EXPECT_EQ(summary<double>(run, "service_load_unserved"), 0.5);
}

TEST(ServiceScaling, AReplicaOnADeadNodeIsReplacedAndWhatItDidStaysDone) {
  ScenarioRun run{service_scenario("replicas: 2, lasts: 10min, load: [{at: 0s, load: 1}]",
                                   "faults: {list: [{node: gpu-0, at: 5min, repair: 1h}]}\n")};
  const auto jobs = run.recorder.rows<JobRow>("/jobs");
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].gpu_s_lost, 0);
  // The other replica serves the whole load for the 15 s until the dead one is detected and
  // replaced.
  EXPECT_DOUBLE_EQ(jobs[0].gpu_s_useful, 8 * 600);
  EXPECT_DOUBLE_EQ(jobs[0].gpu_s_idle, 8 * 585);
}

TEST(ServiceScaling, PodsOnTheirWayAreCalledBack) {
  // After a burst of 30, the controller creates 20 pods a second. So when the load falls from 9 to
  // 0.1, some of the requested pods do not exist yet.
  ScenarioRun run{service_scenario(
      "replicas: 1, load: [{at: 0s, load: 9}, {at: 16s, load: 0.1}], autoscaler: {replicas_max: "
      "400, target: 1, metrics_resolution: 1s, scrape_interval: 1s, sync_period: 1s, scale_up: "
      "{pods: 300}, scale_down: {stabilization: 0s}}",
      "control_plane: {level: full}\nrun: {until: 30min}\n", 40)};
  const auto samples = run.recorder.rows<ServiceLoadSample>("/timeline/service_load");
  EXPECT_LT(samples.back().replicas, 40);
  EXPECT_EQ(samples.back().running, samples.back().replicas);
}

TEST(ServiceScaling, MistakesAreReported) {
  const auto mistakes = [](const std::string& service, const std::string& rest =
                                                           "run: {until: "
                                                           "1h}\n") {
    return test::mistakes_of_scenario(service_scenario(service, rest));
  };
  const std::string load = "load: [{at: 0s, load: 1}]";
  EXPECT_EQ(mistakes("replicas: 3, " + load), "");
  EXPECT_THAT(mistakes(load, "run: {seed: 1}\n"), HasSubstr("the run would never end"));
  EXPECT_THAT(mistakes("load: []"), HasSubstr("needs a step"));
  EXPECT_THAT(mistakes("load: [{at: 5s, load: 1}, {at: 5s, load: 2}]"),
              HasSubstr("must be later than the step before, 5s"));
  EXPECT_THAT(mistakes(load + ", replicas: 9, autoscaler: {replicas_max: 8}"),
              HasSubstr("must not be above autoscaler.replicas_max"));
  EXPECT_THAT(mistakes(load + ", replicas: 1, autoscaler: {replicas_min: 2, replicas_max: 8}"),
              HasSubstr("must not be below autoscaler.replicas_min"));
  EXPECT_THAT(mistakes(load + ", autoscaler: {replicas_min: 4, replicas_max: 3}"),
              HasSubstr("must not be above replicas_max"));
  EXPECT_THAT(mistakes(load + ", autoscaler: {replicas_max: 1}"),
              HasSubstr("there is nothing to scale"));
  EXPECT_THAT(mistakes(load + ", autoscaler: {replicas_max: 3, scale_up: {pods: 0, percent: 0}}"),
              HasSubstr("nothing changes"));
  EXPECT_THAT(mistakes(load + ", autoscaler: {replicas_max: 3, scrape_interval: 2min}"),
              HasSubstr("must not be longer than metrics_resolution"));
  std::string queued = service_scenario(load);
  queued.replace(queued.find("policy: {"), 9,
                 "policy: {job_queue: {policies: [{name: FIFO}, {name: Strict}]}, ");
  EXPECT_THAT(test::mistakes_of_scenario(queued), HasSubstr("does not go with policy.job_queue"));
}

}  // namespace
}  // namespace orrery
