#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/fake_handle.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kGiB = int64_t{1} << 30;

Resources node_with(int64_t cpus, int64_t gib, int64_t gpus, int64_t pods = 110) {
  Resources has;
  has[Resource::Cpu] = cpus * kMilli;
  has[Resource::Memory] = gib * kGiB;
  has[Resource::Gpu] = gpus * kMilli;
  has[Resource::Pods] = pods;
  return has;
}
PodSpec pod_with(int64_t cpus, int64_t gib, int32_t gpus, int32_t gpu_milli = 1000) {
  PodSpec spec;
  spec.cpu_milli = cpus * kMilli;
  spec.memory_bytes = gib * kGiB;
  spec.gpus = gpus;
  spec.gpu_milli = gpu_milli;
  return spec;
}

struct Verdict {
  std::vector<uint32_t> kept, unresolvable;
  std::map<std::string, uint32_t> reasons;
};

class NodeResourcesFitTest : public ::testing::Test {
 protected:
  Verdict filter(const PodSpec& spec) {
    const PodView pod = handle.add_pod(spec);
    Candidates nodes{handle.state.up()};
    nodes.keep_unresolvable(true);
    nodes.reset(handle.state.up());
    as<Filter>(policy()).filter(handle.cycle(pod), nodes);
    Verdict verdict;
    nodes.nodes().for_each([&](NodeId n) { verdict.kept.push_back(n.index); });
    nodes.unresolvable().for_each([&](NodeId n) { verdict.unresolvable.push_back(n.index); });
    for (const Rejection& r : nodes.rejections()) verdict.reasons[r.reason] += r.nodes;
    return verdict;
  }
  const std::unique_ptr<Policy>& policy(std::string_view args = "{}") {
    if (policy_ == nullptr) policy_ = make_policy(handle, "NodeResourcesFit", args);
    return policy_;
  }
  QueueHint hint(const PodSpec& spec, ClusterEventKind kind, NodeId node) {
    return as<EventHints>(policy_).hint(handle.add_pod(spec), {kind, node, {}, {}});
  }
  FakeHandle handle;

 private:
  std::unique_ptr<Policy> policy_;
};
using Reasons = std::map<std::string, uint32_t>;
using NodeNumbers = std::vector<uint32_t>;

TEST_F(NodeResourcesFitTest, NamesEveryResourceThatIsShort) {
  handle.add_node(node_with(4, 16, 8));
  handle.add_node(node_with(64, 256, 8));
  handle.state.seal();
  handle.occupy({0}, pod_with(3, 15, 8));
  const Verdict verdict = filter(pod_with(2, 2, 1));
  EXPECT_EQ(verdict.kept, NodeNumbers{1});
  EXPECT_EQ(verdict.reasons, (Reasons{{"Insufficient cpu", 1},
                                      {"Insufficient memory", 1},
                                      {"Insufficient nvidia.com/gpu", 1}}));
  EXPECT_EQ(verdict.unresolvable, NodeNumbers{}) << "evicting the pod there would help";
}

TEST_F(NodeResourcesFitTest, TooManyPodsIsAReasonOfItsOwn) {
  handle.add_node(node_with(64, 256, 0, 1));
  handle.state.seal();
  handle.occupy({0}, pod_with(1, 1, 0));
  EXPECT_EQ(filter(pod_with(1, 1, 0)).reasons, (Reasons{{"Too many pods", 1}}));
}

TEST_F(NodeResourcesFitTest, MoreThanAllocatableIsUnresolvableWhateverElseIsShort) {
  // Node 0 has too few GPUs, and no CPU left.
  handle.add_node(node_with(64, 256, 4));
  handle.add_node(node_with(64, 256, 8));  // node 1 has no CPU left
  handle.add_node(node_with(64, 256, 0));  // node 2 lacks GPUs
  handle.state.seal();
  handle.occupy({0}, pod_with(64, 1, 0));
  handle.occupy({1}, pod_with(64, 1, 0));
  const Verdict verdict = filter(pod_with(1, 1, 8));
  EXPECT_EQ(verdict.kept, NodeNumbers{});
  EXPECT_EQ(verdict.unresolvable, (NodeNumbers{0, 2}));
  EXPECT_EQ(verdict.reasons,
            (Reasons{{"Insufficient cpu", 2}, {"Insufficient nvidia.com/gpu", 2}}));
}

TEST_F(NodeResourcesFitTest, AWholeGpuIsNotMadeOfLeftOvers) {
  handle.add_node(node_with(64, 256, 2));
  handle.state.seal();
  handle.occupy({0}, pod_with(1, 1, 1, 500));
  handle.occupy({0}, pod_with(1, 1, 1, 600));  // the two GPUs have 500 and 400 thousandths left
  EXPECT_EQ(filter(pod_with(1, 1, 1)).kept, NodeNumbers{});
  EXPECT_EQ(filter(pod_with(1, 1, 1, 500)).kept, NodeNumbers{0});
  EXPECT_EQ(filter(pod_with(1, 1, 1, 501)).kept, NodeNumbers{})
      << "900 milli are left, on two devices";
}

TEST_F(NodeResourcesFitTest, APodThatAsksForNothingNeedsOnlyAPodSlot) {
  handle.add_node(node_with(1, 1, 0));
  handle.state.seal();
  handle.occupy({0}, pod_with(1, 1, 0));
  EXPECT_EQ(filter({}).kept, NodeNumbers{0});
}

TEST_F(NodeResourcesFitTest, MoreGpusThanAnyNodeCanHaveFitNowhere) {
  handle.add_node(node_with(64, 256, 16));
  handle.state.seal();
  const Verdict verdict = filter(pod_with(1, 1, 17));
  EXPECT_EQ(verdict.kept, NodeNumbers{});
  EXPECT_EQ(verdict.unresolvable, NodeNumbers{0});
}

TEST_F(NodeResourcesFitTest, AnyDeletionWakesAPodUnlessHintsAskForAFit) {
  handle.add_node(node_with(64, 256, 8));
  handle.state.seal();
  handle.occupy({0}, pod_with(1, 1, 6));
  policy();
  EXPECT_EQ(hint(pod_with(1, 1, 4), ClusterEventKind::AssignedPodDeleted, {0}), QueueHint::Queue);
}

TEST_F(NodeResourcesFitTest, WithFitsOnlyADeletionThatMakesRoomWakesAPod) {
  handle.add_node(node_with(64, 256, 8));
  handle.state.seal();
  handle.occupy({0}, pod_with(1, 1, 6));
  policy("{deletedPodHint: fits}");
  EXPECT_EQ(hint(pod_with(1, 1, 4), ClusterEventKind::AssignedPodDeleted, {0}), QueueHint::Skip);
  EXPECT_EQ(hint(pod_with(1, 1, 2), ClusterEventKind::AssignedPodDeleted, {0}), QueueHint::Queue);
}

TEST_F(NodeResourcesFitTest, ANewNodeWakesOnlyPodsThatItCouldEverHold) {
  handle.add_node(node_with(64, 256, 4));
  handle.state.seal();
  handle.occupy({0}, pod_with(1, 1, 4));
  policy();
  EXPECT_EQ(hint(pod_with(1, 1, 4), ClusterEventKind::NodeAdded, {0}), QueueHint::Queue);
  EXPECT_EQ(hint(pod_with(1, 1, 8), ClusterEventKind::NodeAdded, {0}), QueueHint::Skip);
}

TEST_F(NodeResourcesFitTest, TellsWhatIsWrongWithItsArguments) {
  const auto wrong = [](std::string_view strategy) {
    return complaints("NodeResourcesFit", "{scoringStrategy: " + std::string{strategy} + "}");
  };
  EXPECT_EQ(wrong("{type: MostAllocated}"), "");
  EXPECT_THAT(wrong("{type: MostAlocated}"), HasSubstr("MostAllocated"));
  EXPECT_THAT(wrong("{resources: []}"), HasSubstr("at least one resource"));
  EXPECT_THAT(wrong("{resources: [{name: pods}]}"), HasSubstr("pods cannot be scored"));
  EXPECT_THAT(wrong("{resources: [{name: cpu}, {name: cpu}]}"), HasSubstr("twice"));
  EXPECT_THAT(wrong("{resources: [{name: cpu, weight: 0}]}"), HasSubstr("weight"));
  EXPECT_THAT(wrong("{type: RequestedToCapacityRatio}"), HasSubstr("at least one point"));
  EXPECT_THAT(wrong("{requestedToCapacityRatio: {shape: [{utilization: 0, score: 1}]}}"),
              HasSubstr("only with type RequestedToCapacityRatio"));
  EXPECT_THAT(wrong("{type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
                    "[{utilization: 50, score: 1}, {utilization: 50, score: 2}]}}"),
              HasSubstr("must rise"));
}

}  // namespace
}  // namespace orrery
