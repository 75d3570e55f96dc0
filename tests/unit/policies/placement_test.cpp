// Policies that filter or score nodes by name, cordon, taints, labels, spreading, images or balance
// of resources, or at random.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/fake_handle.hpp"

namespace orrery {
namespace {

using ::testing::HasSubstr;
using NodeNumbers = std::vector<uint32_t>;

class PlacementTest : public ::testing::Test {
 protected:
  // The nodes that the policy accepts. Sets `reason` and `is_unresolvable` to those of the last
  // rejection.
  NodeNumbers feasible(const std::unique_ptr<Policy>& policy, const PodView& pod) {
    const Cycle cycle = handle.cycle(pod);
    NodeSet nodes = handle.state.up();
    if (auto* const pre = dynamic_cast<PreFilter*>(policy.get()); pre != nullptr) {
      if (pre->pre_filter(cycle, nodes).code == Code::Skip) return list(nodes);
    }
    Candidates candidates{nodes};
    as<Filter>(policy).filter(cycle, candidates);
    reason = "";
    for (const Rejection& rejection : candidates.rejections()) {
      reason = rejection.reason;
      is_unresolvable = rejection.is_unresolvable;
    }
    return list(candidates.nodes());
  }
  std::vector<int64_t> scores(const std::unique_ptr<Policy>& policy, const PodView& pod) {
    return scores(policy, handle.cycle(pod));
  }
  std::vector<int64_t> scores(const std::unique_ptr<Policy>& policy, const Cycle& cycle) {
    std::vector<NodeId> nodes;
    handle.state.up().for_each([&](NodeId n) { nodes.push_back(n); });
    if (auto* const pre = dynamic_cast<PreScore*>(policy.get()); pre != nullptr) {
      if (pre->pre_score(cycle, nodes).code == Code::Skip) return {};
    }
    std::vector<int64_t> result(nodes.size(), -1);
    as<Score>(policy).score(cycle, nodes, result);
    as<Score>(policy).normalize(result);
    return result;
  }
  QueueHint hint(const std::unique_ptr<Policy>& policy, const PodView& pod, NodeId node) {
    return as<EventHints>(policy).hint(pod, {ClusterEventKind::NodeChanged, node, {}, {}});
  }
  static NodeNumbers list(const NodeSet& set) {
    NodeNumbers nodes;
    set.for_each([&](NodeId n) { nodes.push_back(n.index); });
    return nodes;
  }
  static PodSpec requiring(Requirement requirement) {
    PodSpec spec;
    spec.required_terms = {{{std::move(requirement)}}};
    return spec;
  }
  FakeHandle handle;
  std::string reason;
  bool is_unresolvable = false;
};

TEST_F(PlacementTest, NodeNameLeavesOnlyTheNodeNamed) {
  for (int i = 0; i < 3; ++i) handle.add_node({});
  handle.state.seal();
  const auto policy = make_policy(handle, "NodeName");
  EXPECT_EQ(feasible(policy, handle.add_pod({})), (NodeNumbers{0, 1, 2}));
  PodSpec spec;
  spec.node_name = "n1";
  const PodView pod = handle.add_pod(spec);
  EXPECT_EQ(feasible(policy, pod), NodeNumbers{1});
  EXPECT_EQ(reason, "node(s) didn't match the requested node name");
  EXPECT_TRUE(is_unresolvable);
  EXPECT_EQ(hint(policy, pod, {1}), QueueHint::Queue);
  EXPECT_EQ(hint(policy, pod, {2}), QueueHint::Skip);
}

TEST_F(PlacementTest, CordonedNodesTakeOnlyPodsThatTolerateTheCordon) {
  for (int i = 0; i < 2; ++i) handle.add_node({});
  handle.state.seal();
  handle.state.set_cordoned({0}, true);
  const auto policy = make_policy(handle, "NodeUnschedulable");
  const PodView plain = handle.add_pod({});
  EXPECT_EQ(feasible(policy, plain), NodeNumbers{1});
  EXPECT_EQ(reason, "node(s) were unschedulable");
  EXPECT_TRUE(is_unresolvable);
  PodSpec tolerant;
  tolerant.tolerations = {
      {.key = "node.kubernetes.io/unschedulable", .op = TolerationOperator::Exists, .value = ""}};
  EXPECT_EQ(feasible(policy, handle.add_pod(tolerant)), (NodeNumbers{0, 1}));
  EXPECT_EQ(hint(policy, plain, {0}), QueueHint::Skip);
  handle.state.set_cordoned({0}, false);
  EXPECT_EQ(hint(policy, plain, {0}), QueueHint::Queue);
}

TEST_F(PlacementTest, TaintsRepelPodsThatDoNotTolerateThem) {
  handle.add_node({});
  handle.add_node({}, 0, {}, {{"team", "vision", TaintEffect::NoSchedule}});
  handle.add_node({}, 0, {}, {{"team", "speech", TaintEffect::NoExecute}});
  handle.add_node({}, 0, {}, {{"old", "", TaintEffect::PreferNoSchedule}});
  handle.state.seal();
  const auto policy = make_policy(handle, "TaintToleration");
  const PodView plain = handle.add_pod({});
  EXPECT_EQ(feasible(policy, plain), (NodeNumbers{0, 3}));
  EXPECT_EQ(reason, "node(s) had untolerated taint(s)");
  EXPECT_TRUE(is_unresolvable);
  const auto tolerating = [&](Toleration toleration) {
    PodSpec spec;
    spec.tolerations = {std::move(toleration)};
    return handle.add_pod(spec);
  };
  using Op = TolerationOperator;
  EXPECT_EQ(feasible(policy, tolerating({"team", Op::Equal, "vision"})), (NodeNumbers{0, 1, 3}));
  EXPECT_EQ(feasible(policy, tolerating({"team", Op::Exists, ""})), (NodeNumbers{0, 1, 2, 3}));
  EXPECT_EQ(feasible(policy, tolerating({"", Op::Exists, ""})), (NodeNumbers{0, 1, 2, 3}));
  EXPECT_EQ(feasible(policy, tolerating({"team", Op::Exists, "", false, TaintEffect::NoExecute})),
            (NodeNumbers{0, 2, 3}));
  EXPECT_EQ(hint(policy, plain, {1}), QueueHint::Skip);
  EXPECT_EQ(hint(policy, plain, {3}), QueueHint::Queue);
}

TEST_F(PlacementTest, SoftTaintsCostPointsInProportion) {
  const Taint a{"a", "", TaintEffect::PreferNoSchedule}, b{"b", "", TaintEffect::PreferNoSchedule};
  handle.add_node({});
  handle.add_node({}, 0, {}, {a});
  handle.add_node({}, 0, {}, {a, b});
  handle.state.seal();
  const auto policy = make_policy(handle, "TaintToleration");
  EXPECT_EQ(scores(policy, handle.add_pod({})), (std::vector<int64_t>{100, 50, 0}));
  PodSpec tolerant;
  tolerant.tolerations = {{.key = "", .op = TolerationOperator::Exists, .value = ""}};
  EXPECT_EQ(scores(policy, handle.add_pod(tolerant)), (std::vector<int64_t>{100, 100, 100}));
}

TEST_F(PlacementTest, NodeAffinityUnderstandsEveryOperator) {
  handle.add_node({}, 0, {{"gpu", "A100"}, {"mem", "40"}});
  handle.add_node({}, 0, {{"gpu", "H100"}, {"mem", "80"}});
  handle.add_node({}, 0, {{"cpu-only", "true"}});
  handle.state.seal();
  const auto policy = make_policy(handle, "NodeAffinity");
  const auto where = [&](Requirement r) {
    return feasible(policy, handle.add_pod(requiring(std::move(r))));
  };
  using Op = SelectorOperator;
  EXPECT_EQ(where({"gpu", Op::In, {"A100", "H100"}}), (NodeNumbers{0, 1}));
  EXPECT_EQ(reason, "node(s) didn't match Pod's node affinity/selector");
  EXPECT_TRUE(is_unresolvable);
  EXPECT_EQ(where({"gpu", Op::NotIn, {"A100"}}), (NodeNumbers{1, 2}));
  EXPECT_EQ(where({"gpu", Op::Exists, {}}), (NodeNumbers{0, 1}));
  EXPECT_EQ(where({"gpu", Op::DoesNotExist, {}}), NodeNumbers{2});
  EXPECT_EQ(where({"mem", Op::Gt, {"40"}}), NodeNumbers{1});
  EXPECT_EQ(where({"mem", Op::Lt, {"80"}}), NodeNumbers{0});
  EXPECT_EQ(where({"kubernetes.io/hostname", Op::In, {"n2"}}), NodeNumbers{2});
}

TEST_F(PlacementTest, OneOfTheRequiredTermsIsEnoughAndAllOfItMustHold) {
  handle.add_node({}, 0, {{"gpu", "A100"}, {"zone", "a"}});
  handle.add_node({}, 0, {{"gpu", "A100"}, {"zone", "b"}});
  handle.add_node({}, 0, {{"gpu", "T4"}});
  handle.state.seal();
  const auto policy = make_policy(handle, "NodeAffinity");
  using Op = SelectorOperator;
  PodSpec spec;
  spec.required_terms = {{{{"gpu", Op::In, {"A100"}}, {"zone", Op::In, {"b"}}}},
                         {{{"gpu", Op::In, {"T4"}}}}};
  const PodView pod = handle.add_pod(spec);
  EXPECT_EQ(feasible(policy, pod), (NodeNumbers{1, 2}));
  EXPECT_EQ(feasible(policy, pod), (NodeNumbers{1, 2})) << "the remembered answer is the same";
  EXPECT_EQ(hint(policy, pod, {0}), QueueHint::Skip);
  EXPECT_EQ(hint(policy, pod, {2}), QueueHint::Queue);
  spec.required_terms = {{}};
  EXPECT_EQ(feasible(policy, handle.add_pod(spec)), NodeNumbers{})
      << "an empty term matches nothing";
}

TEST_F(PlacementTest, PreferredTermsScoreByWeight) {
  handle.add_node({}, 0, {{"gpu", "A100"}});
  handle.add_node({}, 0, {{"gpu", "A100"}, {"fast", "yes"}});
  handle.add_node({});
  handle.state.seal();
  const auto policy = make_policy(handle, "NodeAffinity");
  EXPECT_TRUE(scores(policy, handle.add_pod({})).empty()) << "nothing preferred, nothing scored";
  using Op = SelectorOperator;
  PodSpec spec;
  spec.preferred_terms = {{10, {{{"gpu", Op::In, {"A100"}}}}}, {30, {{{"fast", Op::Exists, {}}}}}};
  EXPECT_EQ(scores(policy, handle.add_pod(spec)), (std::vector<int64_t>{25, 100, 0}));
}

TEST_F(PlacementTest, HardSpreadConstraintsKeepTheSkew) {
  for (uint32_t i = 0; i < 4; ++i) handle.add_node({}, i / 2);
  handle.state.seal();
  const auto policy = make_policy(handle, "PodTopologySpread",
                                  "{defaultConstraints: [{maxSkew: 1, topologyKey: leaf, "
                                  "whenUnsatisfiable: DoNotSchedule}]}");
  const PodView first = handle.add_pod({}), second = handle.add_pod({});
  const PodView stranger = handle.add_pod({}, {1});
  EXPECT_EQ(feasible(policy, first), (NodeNumbers{0, 1, 2, 3}));
  handle.place(first, {0});
  EXPECT_EQ(feasible(policy, second), (NodeNumbers{2, 3})) << "the other leaf has none yet";
  EXPECT_EQ(reason, "node(s) didn't match pod topology spread constraints");
  EXPECT_FALSE(is_unresolvable);
  EXPECT_EQ(feasible(policy, stranger), (NodeNumbers{0, 1, 2, 3})) << "other jobs do not count";
  handle.leave(first);
  EXPECT_EQ(feasible(policy, second), (NodeNumbers{0, 1, 2, 3}));
}

TEST_F(PlacementTest, SpreadLooksOnlyAtNodesThePodMayGoTo) {
  handle.add_node({}, 0, {{"gpu", "A100"}});
  handle.add_node({}, 1, {{"gpu", "A100"}});
  handle.add_node({}, 2);
  handle.state.seal();
  const auto policy = make_policy(handle, "PodTopologySpread",
                                  "{defaultConstraints: [{maxSkew: 1, topologyKey: leaf, "
                                  "whenUnsatisfiable: DoNotSchedule}]}");
  const PodSpec spec = requiring({"gpu", SelectorOperator::In, {"A100"}});
  for (uint32_t i = 0; i < 2; ++i) handle.place(handle.add_pod(spec), {i});
  const NodeNumbers nodes = feasible(policy, handle.add_pod(spec));
  EXPECT_EQ(nodes, (NodeNumbers{0, 1, 2})) << "the third leaf, empty for ever, sets no minimum";
}

TEST_F(PlacementTest, APodsOwnSpreadCountsPodsOfAnyJobWithTheLabels) {
  for (uint32_t i = 0; i < 3; ++i) handle.add_node({}, i);
  handle.state.seal();
  const auto policy = make_policy(handle, "PodTopologySpread");
  PodSpec web, batch;
  web.labels = {{"app", "web"}};
  web.topology_spread = {{1, PodTopology::Leaf, true, web.labels}};
  batch.labels = {{"app", "batch"}};
  const PodView pod = handle.add_pod(web);
  const PodView other = handle.add_pod(web, {7}), stranger = handle.add_pod(batch);
  EXPECT_EQ(feasible(policy, pod), (NodeNumbers{0, 1, 2}));
  handle.place(stranger, {1});
  EXPECT_EQ(feasible(policy, pod), (NodeNumbers{0, 1, 2})) << "of its job, but not labelled so";
  handle.place(other, {0});
  EXPECT_EQ(feasible(policy, pod), (NodeNumbers{1, 2})) << "labelled so, though of another job";
  PodSpec soft = web;
  soft.topology_spread[0].is_hard = false;
  const std::vector<int64_t> ranked = scores(policy, handle.add_pod(soft, {8}));
  ASSERT_EQ(ranked.size(), 3U);
  EXPECT_LT(ranked[0], ranked[1]);
  EXPECT_EQ(ranked[1], ranked[2]);
}

TEST_F(PlacementTest, SpreadSeesAWhatIfWithinAnAttempt) {
  for (uint32_t i = 0; i < 2; ++i) handle.add_node({}, i);
  handle.state.seal();
  const auto policy = make_policy(handle, "PodTopologySpread");
  PodSpec spec;
  spec.labels = {{"app", "web"}};
  spec.topology_spread = {{1, PodTopology::Hostname, true, spec.labels}};
  const PodView victim = handle.add_pod(spec), pod = handle.add_pod(spec, {1});
  handle.place(victim, {0});
  const Cycle cycle = handle.cycle(pod);
  NodeSet nodes = handle.state.up();
  ASSERT_TRUE(as<PreFilter>(policy).pre_filter(cycle, nodes).ok());
  const auto left = [&] {
    Candidates candidates{handle.state.up()};
    as<Filter>(policy).filter(cycle, candidates);
    return list(candidates.nodes());
  };
  EXPECT_EQ(left(), NodeNumbers{1});
  handle.leave(victim);
  EXPECT_EQ(left(), (NodeNumbers{0, 1}));
  handle.place(victim, {0});
  EXPECT_EQ(left(), NodeNumbers{1});
}

TEST_F(PlacementTest, SpreadWithoutConstraintsAbstains) {
  handle.add_node({});
  handle.state.seal();
  const auto policy = make_policy(handle, "PodTopologySpread");
  const PodView pod = handle.add_pod({});
  const Cycle cycle = handle.cycle(pod);
  NodeSet nodes = handle.state.up();
  EXPECT_EQ(as<PreFilter>(policy).pre_filter(cycle, nodes).code, Code::Skip);
  EXPECT_EQ(as<PreScore>(policy).pre_score(cycle, {}).code, Code::Skip);
}

TEST_F(PlacementTest, ANodeHoldsTheImagesOfPodsBoundToIt) {
  for (int i = 0; i < 2; ++i) handle.add_node({});
  handle.state.seal();
  const auto policy = make_policy(handle, "ImageLocality");
  PodSpec spec;
  spec.images = {{"trainer", int64_t{1000} << 20}};
  const PodView pod = handle.add_pod(spec);
  EXPECT_EQ(scores(policy, pod), (std::vector<int64_t>{0, 0}));
  // The image is on half of the nodes, so half of its size counts.
  as<PostBind>(policy).post_bind(pod, {1});
  EXPECT_EQ(scores(policy, pod), (std::vector<int64_t>{0, 100 * (500 - 23) / (1000 - 23)}));
  as<PostBind>(policy).post_bind(pod, {0});
  EXPECT_EQ(scores(policy, pod), (std::vector<int64_t>{100, 100}));
  EXPECT_EQ(scores(policy, handle.add_pod({})), (std::vector<int64_t>{0, 0}));
}

TEST_F(PlacementTest, RandomDrawsOneNodeAndFavoursNone) {
  for (int i = 0; i < 4; ++i) handle.add_node({});
  handle.state.seal();
  const auto policy = make_policy(handle, "Random");
  const PodView pod = handle.add_pod({});
  std::vector<int64_t> drawn(4);
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    const auto got = scores(policy, pod);
    ASSERT_EQ(std::ranges::count(got, 100), 1);
    ASSERT_EQ(std::ranges::count(got, 0), 3);
    for (size_t i = 0; i < 4; ++i) drawn[i] += got[i] / 100;
  }
  // Each node is drawn with probability 1/4. The standard deviation of its count is sqrt(2000 * 1/4
  // * 3/4) = 19.4.
  for (const int64_t n : drawn) EXPECT_NEAR(static_cast<double>(n), kRounds / 4.0, 4 * 19.4);
  for (uint64_t attempt = 0; attempt < 20; ++attempt) {
    CycleState first{attempt, handle.streams()}, again{attempt, handle.streams()};
    EXPECT_EQ(scores(make_policy(handle, "Random"), FakeHandle::cycle(handle, pod, first)),
              scores(policy, FakeHandle::cycle(handle, pod, again)))
        << "whatever other attempts draw";
  }
}

TEST_F(PlacementTest, BestEffortPodsAreNotBalanced) {
  Resources has;
  has[Resource::Cpu] = has[Resource::Memory] = 10'000;
  handle.add_node(has);
  handle.state.seal();
  const auto policy = make_policy(handle, "NodeResourcesBalancedAllocation");
  EXPECT_TRUE(scores(policy, handle.add_pod({})).empty());
}

TEST(PlacementArguments, MistakesAreNamed) {
  EXPECT_THAT(complaints("NodeResourcesBalancedAllocation", "{version: old}"), HasSubstr("delta"));
  EXPECT_THAT(complaints("NodeResourcesBalancedAllocation", "{resources: []}"),
              HasSubstr("at least one resource"));
  EXPECT_THAT(complaints("ImageLocality", "{preloaded: [{image: a, values: [b]}]}"),
              HasSubstr("only with a key"));
  EXPECT_THAT(complaints("ImageLocality", "{preloaded: [{image: a, key: b}]}"),
              HasSubstr("at least one value"));
  EXPECT_THAT(complaints("PodTopologySpread", "{defaultConstraints: [{maxSkew: 0}]}"),
              HasSubstr("maxSkew"));
  EXPECT_THAT(complaints("PodTopologySpread",
                         "{defaultConstraints: [{maxSkew: 1, topologyKey: leaf, whenUnsatisfiable: "
                         "ScheduleAnyway}, {maxSkew: 2, topologyKey: leaf, whenUnsatisfiable: "
                         "ScheduleAnyway}]}"),
              HasSubstr("must differ"));
}

}  // namespace
}  // namespace orrery
