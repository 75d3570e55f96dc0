#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_handle.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr GangId kGang{0};

class GangTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Resources has;
    has[Resource::Cpu] = 8 * kMilli;
    has[Resource::Memory] = 8;
    for (uint32_t i = 0; i < 4; ++i) handle.add_node(has, i / 2);
    handle.state.seal();
  }
  void add_gang(int32_t pods, int32_t min, int32_t created) {
    GangView gang{};
    gang.id = gang.first_of_job = kGang;
    gang.gangs_of_job = 1;
    gang.first = {0};
    gang.name = "trainer";
    gang.pods = pods;
    gang.min_available = min;
    gang.created = created;
    handle.add_gang(gang);
    for (int32_t i = 0; i < created; ++i) members.push_back(handle.add_pod({}, {0}, kGang));
  }
  PermitStatus permit(const std::unique_ptr<Policy>& policy, const PodView& pod) {
    return as<Permit>(policy).permit(handle.cycle(pod), {0});
  }
  // One attempt of the pod: PreFilter and, if that accepts the pod, Reserve.
  Code attempt(const std::unique_ptr<Policy>& policy, const PodView& pod) {
    const Cycle cycle = handle.cycle(pod);
    NodeSet nodes = handle.state.up();
    const Status status = as<PreFilter>(policy).pre_filter(cycle, nodes);
    if (status.ok()) {
      EXPECT_TRUE(as<Reserve>(policy).reserve(cycle, {0}).ok());
    }
    return status.code;
  }
  FakeHandle handle;
  std::vector<PodView> members;
};

TEST_F(GangTest, CoschedulingTurnsDownEveryWaitingMemberWhenOneGivesUp) {
  add_gang(4, 4, 4);
  const auto policy = make_policy(handle, "Coscheduling");
  handle.on_reject = [&](PodId pod) { as<Reserve>(policy).unreserve(handle.pod(pod), {0}); };
  for (size_t i = 1; i < 3; ++i) handle.wait(members[i]);
  handle.clock = Time{} + 5_s;
  as<Reserve>(policy).unreserve(members[0], {0});
  EXPECT_THAT(handle.rejected, ElementsAre(PodId{1}, PodId{2})) << "each of them once";
  EXPECT_EQ(handle.gang(kGang).last_failure, Time{} + 5_s);
  as<Reserve>(policy).unreserve(members[0], {0});
  EXPECT_EQ(handle.rejected.size(), 2u);
}

TEST_F(GangTest, CoschedulingForgetsAFailureOnceTheGangIsComplete) {
  add_gang(2, 2, 2);
  handle.set_gang_failure(kGang, Time{7}, {});
  const auto policy = make_policy(handle, "Coscheduling");
  handle.wait(members[0]);
  EXPECT_EQ(permit(policy, members[1]).code, Code::Success);
  EXPECT_LT(handle.gang(kGang).last_failure, Time{});
}

TEST_F(GangTest, CoschedulingWaitsAsLongAsTheGangItselfSays) {
  add_gang(2, 2, 2);
  const auto policy = make_policy(handle, "Coscheduling", "{permitWaitingTimeSeconds: 20}");
  EXPECT_EQ(permit(policy, members[0]).timeout, 20_s);
  handle.gangs[kGang].schedule_timeout = 7_s;
  EXPECT_EQ(permit(policy, members[0]).timeout, 7_s);
}

TEST_F(GangTest, CoschedulingCountsWhatTheGangHoldsTowardsItsMinResources) {
  add_gang(2, 1, 2);
  Resources least;
  least[Resource::Cpu] = 32 * kMilli;  // the whole capacity of the cluster
  handle.gangs[kGang].min_resources = &least;
  PodSpec spec;
  spec.cpu_milli = 8 * kMilli;
  const PodView own = handle.add_pod(spec, {0}, kGang), stranger = handle.add_pod(spec);
  const auto policy = make_policy(handle, "Coscheduling");
  handle.occupy({0}, spec);
  handle.place(stranger, {0});
  EXPECT_EQ(attempt(policy, members[0]), Code::UnschedulableAndUnresolvable);
  handle.place(own, {0});  // the gang itself now holds the CPU that is missing
  EXPECT_EQ(attempt(policy, members[0]), Code::Success);
  handle.leave(own);
  EXPECT_EQ(attempt(policy, members[0]), Code::Success) << "granted for the time of a permit wait";
  handle.clock = Time{} + 61_s;
  EXPECT_EQ(attempt(policy, members[0]), Code::UnschedulableAndUnresolvable);
}

TEST_F(GangTest, CoschedulingGrantsMinResourcesOnlyToAnAttemptThatGoesOn) {
  add_gang(2, 1, 2);
  Resources least;
  least[Resource::Cpu] = 32 * kMilli;  // the whole capacity of the cluster
  handle.gangs[kGang].min_resources = &least;
  PodSpec spec;
  spec.cpu_milli = 8 * kMilli;
  const auto policy = make_policy(handle, "Coscheduling");
  NodeSet nodes = handle.state.up();
  EXPECT_TRUE(as<PreFilter>(policy).pre_filter(handle.cycle(members[0]), nodes).ok());
  handle.occupy({0}, spec);
  EXPECT_EQ(attempt(policy, members[1]), Code::UnschedulableAndUnresolvable);
}

TEST_F(GangTest, CoschedulingWakesOnlySiblings) {
  add_gang(2, 2, 1);
  const auto policy = make_policy(handle, "Coscheduling");
  const ClusterEvent sibling{ClusterEventKind::UnscheduledPodAdded, {}, {}, kGang};
  const ClusterEvent stranger{ClusterEventKind::UnscheduledPodAdded, {}, {}, GangId{5}};
  EXPECT_EQ(as<EventHints>(policy).hint(members[0], sibling), QueueHint::Queue);
  EXPECT_EQ(as<EventHints>(policy).hint(members[0], stranger), QueueHint::Skip);
}

TEST_F(GangTest, CoschedulingKeepsGangsOfOneInstantApart) {
  const auto policy = make_policy(handle, "Coscheduling");
  QueuedUnit a0{}, b0{}, a1{};
  a0.gang = a1.gang = GangId{0};
  b0.gang = GangId{1};
  a0.pod = {0}, b0.pod = {1}, a1.pod = {2};
  const auto& order = as<QueueSort>(policy);
  EXPECT_TRUE(order.less(a0, a1));
  EXPECT_TRUE(order.less(a1, b0)) << "no member of b comes between those of a";
  EXPECT_FALSE(order.less(b0, a0));
  EXPECT_FALSE(order.less(a0, a0));
}

TEST_F(GangTest, NativeGangsEnterTheQueueWhenEnoughMembersExist) {
  add_gang(3, 2, 1);
  const auto policy = make_policy(handle, "GangScheduling");
  const auto gate = [&](const PodView& pod) {
    return as<PreEnqueue>(policy).pre_enqueue(pod).code;
  };
  EXPECT_EQ(gate(members[0]), Code::UnschedulableAndUnresolvable);
  EXPECT_EQ(gate(handle.add_pod({})), Code::Success) << "no gang, no gate";
  handle.gangs[kGang].created = 2;
  EXPECT_EQ(gate(members[0]), Code::Success);
}

TEST_F(GangTest, NativeGangsWaitFiveMinutesForTheirQuorum) {
  add_gang(3, 2, 3);
  const auto policy = make_policy(handle, "GangScheduling");
  const PermitStatus first = permit(policy, members[0]);
  EXPECT_EQ(first.code, Code::Wait);
  EXPECT_EQ(first.timeout, 5_min);
  EXPECT_THAT(handle.activated, ElementsAre(PodId{1}, PodId{2}));
  handle.wait(members[0]);
  EXPECT_EQ(permit(policy, members[1]).code, Code::Success);
  EXPECT_THAT(handle.allowed, ElementsAre(PodId{0}));
  EXPECT_EQ(permit(policy, members[2]).code, Code::Success) << "late members just pass";
}

TEST_F(GangTest, StrictGangsGetAllTheirNodesOrNone) {
  add_gang(3, 2, 3);
  const auto all = make_policy(handle, "StrictGang");
  const auto min = make_policy(handle, "StrictGang", "{members: min_available}");
  EXPECT_EQ(permit(all, members[0]).code, Code::Unschedulable);
  handle.wait(members[0]);
  EXPECT_EQ(permit(all, members[1]).code, Code::Unschedulable);
  EXPECT_EQ(permit(min, members[1]).code, Code::Success);
  handle.wait(members[1]);
  EXPECT_EQ(permit(all, members[2]).code, Code::Success);
  EXPECT_EQ(permit(all, handle.add_pod({})).code, Code::Success) << "pods outside gangs pass";
}

// The gang needs three of its six pods, and two wait in Permit. A third pod passes only if every
// role then has its minimum of pods.
TEST_F(GangTest, AMemberPassesPermitOnlyWithTheMinimumsOfItsRoles) {
  add_gang(6, 3, 6);
  handle.wait(members[4]);
  handle.wait(members[5]);
  const char* const policies[][2] = {{"KoordinatorCoscheduling", "{}"},
                                     {"Coscheduling", "{}"},
                                     {"GangScheduling", "{}"},
                                     {"StrictGang", "{members: min_available}"}};
  for (const auto& [name, args] : policies) {
    const auto policy = make_policy(handle, name, args);
    handle.gangs[kGang].roles_missing = {.assigned = 1, .unbound = 1};
    EXPECT_NE(permit(policy, members[3]).code, Code::Success) << name;
    handle.gangs[kGang].roles_missing = {};
    EXPECT_EQ(permit(policy, members[0]).code, Code::Success) << name;
  }
}

TEST_F(GangTest, AGangIsNotTriedBeforeItsRolesHaveTheirPods) {
  add_gang(6, 3, 4);
  for (const char* const name : {"KoordinatorCoscheduling", "GangScheduling"}) {
    const auto policy = make_policy(handle, name);
    handle.gangs[kGang].roles_missing.created = 1;
    EXPECT_FALSE(as<PreEnqueue>(policy).pre_enqueue(members[0]).ok()) << name;
    handle.gangs[kGang].roles_missing.created = 0;
    EXPECT_TRUE(as<PreEnqueue>(policy).pre_enqueue(members[0]).ok()) << name;
  }
  const auto policy = make_policy(handle, "Coscheduling");
  handle.gangs[kGang].roles_missing.created = 1;
  EXPECT_EQ(attempt(policy, members[0]), Code::UnschedulableAndUnresolvable);
  handle.gangs[kGang].roles_missing.created = 0;
  EXPECT_EQ(attempt(policy, members[0]), Code::Success);
}

TEST_F(GangTest, APlacementScoresByTheMembersItTakes) {
  add_gang(8, 8, 8);
  const auto policy = make_policy(handle, "PodGroupPodsCount");
  const Cycle cycle = handle.cycle(members[0]);
  const std::vector<NodeId> nodes(6, NodeId{0});
  const auto score = [&](size_t count) {
    return as<ScorePlacement>(policy).score_placement(cycle, handle.gang(kGang),
                                                      std::span{nodes}.first(count));
  };
  EXPECT_EQ(score(0), 0);
  EXPECT_EQ(score(3), 37);
  EXPECT_EQ(score(6), 75);
}

class TopologyPlacementTest : public GangTest {
 protected:
  std::vector<std::vector<uint32_t>> domains(const std::unique_ptr<Policy>& policy) {
    std::vector<GangDomain> found;
    as<Domains>(policy).domains(handle.cycle(members[0]), handle.gang(kGang), found);
    std::vector<std::vector<uint32_t>> lists;
    for (const GangDomain& domain : found) {
      lists.emplace_back();
      nodes_of(domain, handle.state).for_each([&](NodeId n) { lists.back().push_back(n.index); });
    }
    return lists;
  }
};
using Lists = std::vector<std::vector<uint32_t>>;

TEST_F(TopologyPlacementTest, TriesLeafAfterLeafThenTheWholeClusterIfItMay) {
  add_gang(2, 2, 2);
  EXPECT_EQ(domains(make_policy(handle, "TopologyPlacement")), (Lists{{0, 1}, {2, 3}}));
  EXPECT_EQ(domains(make_policy(handle, "TopologyPlacement", "{required: false}")),
            (Lists{{0, 1}, {2, 3}, {0, 1, 2, 3}}));
  EXPECT_EQ(domains(make_policy(handle, "TopologyPlacement", "{level: hostname}")),
            (Lists{{0}, {1}, {2}, {3}}));
}

TEST_F(TopologyPlacementTest, LeavesOutNodesThatAreDown) {
  add_gang(2, 2, 2);
  for (uint32_t i = 1; i < 4; ++i) handle.state.set_up({i}, false);
  EXPECT_EQ(domains(make_policy(handle, "TopologyPlacement")), (Lists{{0}}));
}

TEST_F(TopologyPlacementTest, StaysWhereTheGangAlreadyIs) {
  add_gang(2, 2, 2);
  const auto policy = make_policy(handle, "TopologyPlacement");
  handle.place(members[1], {3});
  EXPECT_EQ(domains(policy), (Lists{{2, 3}}));
  handle.leave(members[1]);
  EXPECT_EQ(domains(policy), (Lists{{0, 1}, {2, 3}}));
}

TEST_F(TopologyPlacementTest, GivesLocalityUpStepByStepAfterAttemptsInVain) {
  add_gang(2, 2, 2);
  const auto policy =
      make_policy(handle, "TopologyPlacement", "{level: hostname, relax_attempts: 2}");
  const Lists nodes{{0}, {1}, {2}, {3}};
  const Lists leaves{{0}, {1}, {2}, {3}, {0, 1}, {2, 3}};
  const Lists any{{0}, {1}, {2}, {3}, {0, 1}, {2, 3}, {0, 1, 2, 3}};
  for (const Lists& expected : {nodes, nodes, leaves, leaves, any, any, any}) {
    EXPECT_EQ(domains(policy), expected);
  }
  ASSERT_TRUE(as<Reserve>(policy).reserve(handle.cycle(members[1]), {3}).ok());
  EXPECT_EQ(domains(policy), nodes) << "once placed, it starts anew";
}

TEST_F(TopologyPlacementTest, GivesLocalityUpAfterWaiting) {
  add_gang(2, 2, 2);
  const auto policy = make_policy(handle, "TopologyPlacement", "{relax_after: 10min}");
  EXPECT_EQ(domains(policy), (Lists{{0, 1}, {2, 3}}));
  handle.clock = handle.clock + 9_min;
  EXPECT_EQ(domains(policy), (Lists{{0, 1}, {2, 3}}));
  handle.clock = handle.clock + 1_min;
  EXPECT_EQ(domains(policy), (Lists{{0, 1}, {2, 3}, {0, 1, 2, 3}}));
}

TEST(GangArguments, MistakesAreNamed) {
  EXPECT_THAT(complaints("Coscheduling", "{permitWaitingTimeSeconds: 0}"),
              HasSubstr("permitWaitingTimeSeconds"));
  EXPECT_THAT(complaints("Coscheduling", "{permitWaitTimeSeconds: 9}"),
              HasSubstr("did you mean 'permitWaitingTimeSeconds'"));
  EXPECT_THAT(complaints("StrictGang", "{members: most}"), HasSubstr("min_available"));
}

TEST(QueueSorting, PrioritySortPutsPriorityBeforeAge) {
  FakeHandle handle;
  const auto policy = make_policy(handle, "PrioritySort");
  const auto& order = as<QueueSort>(policy);
  QueuedUnit old_low{}, young_low{}, young_high{};
  young_low.queued = young_high.queued = Time{9};
  young_high.priority = 1;
  EXPECT_TRUE(order.less(young_high, old_low));
  EXPECT_TRUE(order.less(old_low, young_low));
  EXPECT_FALSE(order.less(old_low, old_low));
}

// ---- Koordinator's gang groups

TEST_F(GangTest, KoordinatorForgetsThatAGroupRanOnceItsIdIsThatOfAnother) {
  add_gang(2, 2, 2);
  const auto policy = make_policy(handle, "KoordinatorCoscheduling");
  EXPECT_EQ(permit(policy, members[0]).code, Code::Wait);
  as<PostBind>(policy).post_bind(members[0], {0});
  EXPECT_EQ(permit(policy, members[0]).code, Code::Success) << "held to no minimum any more";
  handle.gang_over(kGang);
  EXPECT_EQ(permit(policy, members[0]).code, Code::Wait);
}

TEST_F(GangTest, KoordinatorEndsARoundWhoseGroupIsGone) {
  add_gang(3, 3, 3);
  const auto policy = make_policy(handle, "KoordinatorCoscheduling");
  EXPECT_EQ(attempt(policy, members[1]), Code::Success);
  EXPECT_EQ(as<NextPod>(policy).next(), members[0].id);
  handle.wait(members[1]);
  handle.gang_over(kGang);
  handle.gangs[kGang].job_uid = 1;
  EXPECT_FALSE(as<NextPod>(policy).next().is_valid());
  EXPECT_THAT(handle.rejected, IsEmpty()) << "they are another group's";
  EXPECT_FALSE(as<NextPod>(policy).next().is_valid());
}

TEST_F(GangTest, KoordinatorLetsPodsWithoutAGangBe) {
  const auto policy = make_policy(handle, "KoordinatorCoscheduling");
  const PodView pod = handle.add_pod({});
  NodeSet nodes = NodeSet::all(4);
  EXPECT_TRUE(as<PreEnqueue>(policy).pre_enqueue(pod).ok());
  EXPECT_TRUE(as<PreFilter>(policy).pre_filter(handle.cycle(pod), nodes).ok());
  EXPECT_FALSE(as<NextPod>(policy).next().is_valid());
  EXPECT_EQ(permit(policy, pod).code, Code::Success);
}

TEST_F(GangTest, KoordinatorWakesPodsForNewOnesOfTheirJobOnly) {
  add_gang(2, 2, 2);
  GangView other{};
  other.id = {2};
  other.job = {7};  // a gang of another job
  handle.add_gang(other);
  handle.gangs[kGang].job = {0};
  const auto policy = make_policy(handle, "KoordinatorCoscheduling");
  ClusterEvent added{ClusterEventKind::UnscheduledPodAdded, {}, {}, kGang};
  EXPECT_EQ(as<EventHints>(policy).hint(members[0], added), QueueHint::Queue);
  added.gang = other.id;
  EXPECT_EQ(as<EventHints>(policy).hint(members[0], added), QueueHint::Skip);
  added.gang = {};
  EXPECT_EQ(as<EventHints>(policy).hint(members[0], added), QueueHint::Skip);
}

}  // namespace
}  // namespace orrery
