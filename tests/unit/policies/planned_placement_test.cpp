#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "models/workload/job/pod_row.hpp"
#include "tests/support/fake_handle.hpp"
#include "tests/support/scheduler_world.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Four nodes with four GPUs each; two nodes under each leaf switch. Each pod of the gang requests
// one GPU.
class PlannedPlacementTest : public testing::Test {
 protected:
  PlannedPlacementTest() {
    Resources has;
    has[Resource::Cpu] = 64'000;
    has[Resource::Gpu] = 4 * kMilli;
    for (uint32_t n = 0; n < 4; ++n) handle_.add_node(has, n / 2);
    handle_.state.seal();
    spec_.gpus = 1;
  }
  PodView add_gang(int32_t pods, int32_t min_available) {
    GangView gang{};
    gang.id = {0};
    gang.pods = pods;
    gang.min_available = min_available;
    handle_.add_gang(gang);
    return handle_.add_pod(spec_, {0}, {0});
  }
  // The nodes that the filter allows for the pod.
  std::vector<uint32_t> allowed(const std::unique_ptr<Policy>& policy, const Cycle& cycle) {
    Candidates nodes{handle_.state.up()};
    as<Filter>(policy).filter(cycle, nodes);
    return list(nodes.nodes());
  }
  std::vector<uint32_t> planned(const std::unique_ptr<Policy>& policy, const PodView& pod) {
    return planned(policy, handle_.cycle(pod));
  }
  std::vector<uint32_t> planned(const std::unique_ptr<Policy>& policy, const Cycle& cycle) {
    std::vector<GangDomain> domains;
    as<Domains>(policy).domains(cycle, handle_.gang({0}), domains);
    EXPECT_EQ(domains.size(), 1U);
    return list(nodes_of(domains.at(0), handle_.state));
  }
  static std::vector<uint32_t> list(const NodeSet& set) {
    std::vector<uint32_t> nodes;
    set.for_each([&](NodeId n) { nodes.push_back(n.index); });
    return nodes;
  }

  FakeHandle handle_;
  PodSpec spec_;
};

TEST_F(PlannedPlacementTest, NodesTakeNoMoreThanTheirShareOfTheGang) {
  PodSpec three = spec_;
  three.gpus = 3;
  handle_.occupy({0}, three);
  const auto policy = make_policy(handle_, "HeliosConsolidate");
  const PodView pod = add_gang(6, 6), plain = handle_.add_pod(spec_);
  const Cycle cycle = handle_.cycle(pod);
  EXPECT_THAT(planned(policy, cycle), ElementsAre(1, 2));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(allowed(policy, cycle), ElementsAre(1, 2));
    handle_.occupy({2}, spec_);
  }
  EXPECT_THAT(allowed(policy, cycle), ElementsAre(1)) << "node 2 has its two, and room for more";
  EXPECT_EQ(allowed(policy, handle_.cycle(plain)).size(), 4U) << "plain pods go anywhere";
}

TEST_F(PlannedPlacementTest, AGangGoesToTheTightestLeaf) {
  handle_.occupy({2}, spec_);
  const auto policy = make_policy(handle_, "SlurmTopologyTree");
  EXPECT_THAT(planned(policy, add_gang(7, 7)), ElementsAre(2, 3));
}

TEST_F(PlannedPlacementTest, AGangThatFitsNowhereIsTriedNowhere) {
  const auto policy = make_policy(handle_, "KueueTopology", "{level: leaf}");
  const PodView pod = add_gang(9, 9);
  const Cycle cycle = handle_.cycle(pod);
  EXPECT_THAT(planned(policy, cycle), IsEmpty());
  EXPECT_THAT(allowed(policy, cycle), IsEmpty());
  Candidates nodes{handle_.state.up()};
  as<Filter>(policy).filter(cycle, nodes);
  ASSERT_EQ(nodes.rejections().size(), 1U);
  EXPECT_EQ(nodes.rejections()[0].reason, "node(s) allow no placement of the whole gang");
}

TEST_F(PlannedPlacementTest, AGangThatDoesNotFitWholeIsPlannedWithItsQuorum) {
  const auto policy = make_policy(handle_, "KueueTopology", "{level: leaf}");
  EXPECT_THAT(planned(policy, add_gang(9, 8)), ElementsAre(0, 1));
}

TEST_F(PlannedPlacementTest, NodesThatThePodCannotUseHaveNoRoom) {
  handle_.state.set_up({3}, false);
  handle_.state.set_cordoned({1}, true);
  handle_.state.set_taint({0}, {"key", "", TaintEffect::NoSchedule}, true);
  const auto policy = make_policy(handle_, "VolcanoHyperNode");
  EXPECT_THAT(planned(policy, add_gang(4, 4)), ElementsAre(2));
}

TEST_F(PlannedPlacementTest, SharesOfGpusCount) {
  spec_.gpu_milli = 500;
  const auto policy = make_policy(handle_, "SlurmTopologyBlock");
  EXPECT_THAT(planned(policy, add_gang(16, 16)), ElementsAre(0, 1));
}

TEST_F(PlannedPlacementTest, MembersOfAVolcanoJobPreferTheLeafOfTheFirst) {
  const auto policy = make_policy(handle_, "VolcanoHyperNode", "{leaves_per_block: 1}");
  const PodView pod = add_gang(4, 4);
  const std::vector<NodeId> nodes = {{0}, {1}, {2}, {3}};
  std::vector<int64_t> scores(4);
  as<Score>(policy).score(handle_.cycle(pod), nodes, scores);
  EXPECT_THAT(scores, ElementsAre(0, 0, 0, 0));
  handle_.place(handle_.add_pod(spec_, {0}, {0}), {2});
  as<Score>(policy).score(handle_.cycle(pod), nodes, scores);
  EXPECT_THAT(scores, ElementsAre(33, 33, 100, 100));
}

TEST(PlannedPlacementRun, EveryPolicyPlacesGangsAndFinishesThem) {
  for (const char* policy : {"SlurmTopologyTree", "SlurmTopologyBlock", "KueueTopology",
                             "VolcanoHyperNode", "HeliosConsolidate"}) {
    SCOPED_TRACE(policy);
    const std::string yaml = std::string{R"(
cluster: {pools: [{name: gpu, machine: dgx-a100, count: 8, nodes_per_leaf: 4}]}
policy: {base: strict_gang, plugins: [{name: )"} +
                             policy + R"(}]}
workload:
  sources:
    - kind: jobs
      jobs:
        - {work: 1h, pods: 3, pod: {gpus: 8}}
        - {work: 1h, pods: 8, pod: {gpus: 4}}
        - {work: 1h, pods: 4, pod: {gpus: 8}}
        - {work: 1h, pods: 6, pod: {gpus: 1}}
)";
    ScenarioRun run{yaml};
    EXPECT_EQ(run.result.end, SimulationResult::End::Done);
    std::map<uint64_t, std::set<uint32_t>> leaves, nodes;  // leaves and nodes that each job used
    for (const PodRow& pod : run.recorder.rows<PodRow>("/pods")) {
      leaves[pod.job].insert(pod.node.index / 4);
      nodes[pod.job].insert(pod.node.index);
    }
    ASSERT_EQ(leaves.size(), 4U);
    if (std::string_view{policy} == "HeliosConsolidate") {
      EXPECT_EQ(nodes[3].size(), 1U);
    } else {
      EXPECT_EQ(leaves[0].size(), 1U);
      EXPECT_EQ(leaves[2].size(), 1U);
    }
  }
}

// A pod of two GPUs. Node 0 has three free GPUs and node 3 has two, so each node has room for one
// such pod. The policy must compare free GPUs, not the number of pods that fit.
TEST_F(PlannedPlacementTest, HeliosTakesTheNodeWithTheFewestFreeGpus) {
  PodSpec two = spec_;
  two.gpus = 2;
  handle_.occupy({0}, spec_);  // three of its GPUs are left
  handle_.occupy({3}, two);    // two of its GPUs are left
  const auto policy = make_policy(handle_, "HeliosConsolidate");
  spec_.gpus = 2;
  EXPECT_THAT(planned(policy, add_gang(1, 1)), ElementsAre(3));
}

std::vector<uint32_t> nodes_of_pods(const std::string& policy) {
  ScenarioRun run{"cluster: {pools: [{name: n, machine: dgx-a100, count: 3}]}\npolicy: " + policy +
                  "\nworkload:\n  sources:\n    - kind: jobs\n      jobs:\n"
                  "        - {name: five, kind: pods, work: 1h, pod: {gpus: 5}}\n"
                  "        - {name: six, kind: pods, submit: 1s, work: 1h, pod: {gpus: 6}}\n"
                  "        - {name: two, kind: pods, submit: 2s, work: 1h, pod: {gpus: 2}}\n"
                  "        - {name: three, kind: pods, submit: 3s, work: 1h, pod: {gpus: 3}}\n"
                  "run: {until: 10s}\n"};
  std::vector<uint32_t> nodes;
  for (const PodRow& pod : run.recorder.rows<PodRow>("/pods")) nodes.push_back(pod.node.index);
  return nodes;
}

TEST(PlannedPlacement, PodsWithoutAGangArePlannedToo) {
  const std::vector<uint32_t> nodes =
      nodes_of_pods("{base: strict_gang, plugins: [{name: HeliosConsolidate}]}");
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_NE(nodes[0], nodes[1]) << "six do not fit beside five";
  EXPECT_EQ(nodes[2], nodes[1]) << "two fill the node with two left, not the one with three";
  EXPECT_EQ(nodes[3], nodes[0]);
}

}  // namespace
}  // namespace orrery
