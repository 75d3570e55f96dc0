// Affinity and anti-affinity between pods: messages, costs, and whole runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "models/workload/job/job_rows.hpp"
#include "models/workload/job/pod_row.hpp"
#include "models/workload/job/recovery_row.hpp"
#include "tests/support/fake_handle.hpp"
#include "tests/support/scheduler_world.hpp"
#include "tests/unit/control_plane/scenario_mistakes.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;

const std::vector<NodeLabel> kWeb = {{"app", "web"}};

PodSpec web(std::vector<PodAffinityTerm> affinity, std::vector<PodAffinityTerm> anti_affinity) {
  PodSpec spec;
  spec.labels = kWeb;
  spec.affinity = std::move(affinity);
  spec.anti_affinity = std::move(anti_affinity);
  return spec;
}

struct Rig {
  explicit Rig(const std::string& args = "{}") {
    for (uint32_t n = 0; n < 4; ++n) handle.add_node({}, n / 2);
    handle.state.seal();
    policy = make_policy(handle, "InterPodAffinity", args);
  }
  void place(const PodView& pod, uint32_t node) { handle.place(pod, {node}); }
  // Number of nodes rejected for each reason.
  std::map<std::string, uint32_t> rejections(const PodView& pod) {
    return rejections(handle.cycle(pod));
  }
  std::map<std::string, uint32_t> rejections(const Cycle& cycle) {
    NodeSet nodes = handle.state.up();
    std::map<std::string, uint32_t> found;
    if (as<PreFilter>(policy).pre_filter(cycle, nodes).code == Code::Skip) return found;
    Candidates candidates{nodes};
    as<Filter>(policy).filter(cycle, candidates);
    for (const Rejection& r : candidates.rejections()) found[r.reason] = r.nodes;
    return found;
  }
  Duration charge(const PodView& pod) {
    const Cycle cycle = handle.cycle(pod);
    rejections(cycle);
    return as<Charges>(policy).charge(cycle);
  }
  FakeHandle handle;
  std::unique_ptr<Policy> policy;
};

TEST(InterPodAffinity, TellsWhyAsKubernetesDoes) {
  Rig rig;
  const PodView lone = rig.handle.add_pod(web({}, {{PodTopology::Leaf, kWeb}}));
  rig.place(lone, 0);
  using Told = std::map<std::string, uint32_t>;
  const PodView same = rig.handle.add_pod(web({}, {{PodTopology::Leaf, kWeb}}));
  EXPECT_EQ(rig.rejections(same), (Told{{"node(s) didn't match pod anti-affinity rules", 2}}));
  EXPECT_EQ(rig.rejections(rig.handle.add_pod(web({}, {}))),
            (Told{{"node(s) didn't satisfy existing pods anti-affinity rules", 2}}));
  PodSpec near;
  near.affinity = {{PodTopology::Hostname, kWeb}};
  EXPECT_EQ(rig.rejections(rig.handle.add_pod(near)),
            (Told{{"node(s) didn't match pod affinity rules", 3}}));
  EXPECT_EQ(rig.rejections(rig.handle.add_pod(PodSpec{})), Told{});
}

TEST(InterPodAffinity, CostsWhatIsLookedAt) {
  const PodSpec away = web({}, {{PodTopology::Hostname, kWeb}});
  for (const bool is_old : {false, true}) {
    Rig rig{is_old ? "{algorithm: before_1_18}" : "{}"};
    const Duration node = is_old ? Duration{3'960} : Duration{2'000};
    const Duration per_pod = is_old ? Duration{1'440} : Duration{2'300};
    const PodView plain = rig.handle.add_pod(PodSpec{});
    EXPECT_EQ(rig.charge(plain), is_old ? node * 4 : Duration{});
    rig.place(plain, 0);
    EXPECT_EQ(rig.charge(rig.handle.add_pod(away)), node * 4 + per_pod);
    rig.place(rig.handle.add_pod(away), 1);
    EXPECT_EQ(rig.charge(rig.handle.add_pod(away)), node * 4 + per_pod * 2);
    // A pod without affinity must still respect the anti-affinity of placed pods. Here one placed
    // pod has anti-affinity. The cycle pays for this pod and its node. With the algorithm
    // before Kubernetes 1.18, the cycle pays for this pod and all four nodes.
    EXPECT_EQ(rig.charge(rig.handle.add_pod(PodSpec{})), node * (is_old ? 4 : 1) + per_pod);
  }
}

std::string affinity_scenario(const std::string& base, const std::string& job, int nodes = 6) {
  return "cluster: {pools: [{name: n, machine: dgx-a100, count: " + std::to_string(nodes) +
         "}]}\npolicy: {base: " + base +
         ", plugins: [{name: InterPodAffinity}]}\n"
         "workload:\n  sources:\n    - kind: jobs\n      jobs:\n        - {" +
         job + "}\nrun: {until: 10min}\n";
}
const std::string kAway =
    "labels: {app: web}, anti_affinity: [{topology_key: hostname, match_labels: {app: web}}]";

TEST(InterPodAffinity, HoldsWithinAGangThatIsPlacedAsAWhole) {
  for (const std::string base : {"default", "strict_gang", "native_gang", "coscheduling"}) {
    SCOPED_TRACE(base);
    ScenarioRun run{affinity_scenario(base, "work: 1h, pods: 6, pod: {gpus: 1, " + kAway + "}")};
    std::set<uint32_t> nodes;
    for (const PodRow& pod : run.recorder.rows<PodRow>("/pods")) nodes.insert(pod.node.index);
    EXPECT_EQ(nodes.size(), 6U);
    EXPECT_EQ(run.jobs().at(0).outcome, JobOutcome::Running);
    // Each of the six nodes takes only one pod of the job. So there is no node for the seventh pod,
    // and the job cannot start.
    ScenarioRun too_many{
        affinity_scenario(base, "work: 1h, pods: 7, pod: {gpus: 1, " + kAway + "}"),
        {"run.until=30s"},
        {.audit_every = 100}};
    EXPECT_EQ(too_many.jobs().at(0).outcome, JobOutcome::Pending);
  }
}

TEST(InterPodAffinity, APodThatLeavesLetsTheNextOneCome) {
  ScenarioRun run{affinity_scenario(
      "default", "kind: pods, pods: 2, work: 1min, pod: {gpus: 1, " + kAway + "}", 1)};
  const auto pods = run.recorder.rows<PodRow>("/pods");
  ASSERT_EQ(pods.size(), 2U);
  EXPECT_GE(pods[1].bound, pods[0].ended);
  EXPECT_LE(pods[1].bound, pods[0].ended + 10_s);
}

TEST(InterPodAffinity, MistakesAreReported) {
  const std::string pod = "work: 1h, pods: 2, pod: {gpus: 1, " + kAway + "}";
  EXPECT_THAT(test::mistakes_of_scenario(
                  affinity_scenario("default", pod) +
                  "control_plane: {level: delays, autoscaler: {groups: [{pool: n}]}}\n"),
              HasSubstr("does not go with control_plane.autoscaler"));
  EXPECT_THAT(
      test::mistakes_of_scenario(affinity_scenario(
          "default", "work: 1h, pod: {affinity: [{topology_key: hostname, match_labels: {}}]}")),
      HasSubstr("must not be empty"));
  EXPECT_THAT(
      test::mistakes_of_scenario(affinity_scenario(
          "default", "work: 1h, pod: {affinity: [{topology_key: rack, match_labels: {a: b}}]}")),
      HasSubstr("rack"));
  EXPECT_EQ(test::mistakes_of_scenario(affinity_scenario("default", pod)), "");
}

}  // namespace
}  // namespace orrery
