#include "models/scheduling/feasibility/deadlock_detector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/core/check.hpp"
#include "tests/support/gang_world.hpp"

namespace orrery {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;

TEST(DeadlockDetector, TwoGangsThatEachWantTheClusterBlockOneAnother) {
  GangWorld world{{8, 8, 8, 8}};
  const JobId a = world.add(4, 8), b = world.add(4, 8);
  world.wait(10_s);
  world.assign(a, 0, 0);
  world.wait(1_s);
  EXPECT_EQ(world.detector->deadlocks(), 0u);  // b holds nothing yet
  world.assign(b, 0, 1);                       // now neither gang can get four nodes
  world.wait(1_s);
  EXPECT_EQ(world.detector->deadlocks_present(), 1u);
  world.assign(a, 1, 2);
  world.assign(a, 2, 3);
  world.wait(100_s);
  world.detector->finish(world.engine.now());
  const auto rows = world.deadlocks();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].onset, Time{} + 11_s);
  EXPECT_EQ(rows[0].resolved_at, Time{-1});
  EXPECT_EQ(rows[0].resolution, DeadlockEnd::Unresolved);
  EXPECT_EQ(rows[0].members, 2u);
  EXPECT_EQ(rows[0].gpus_held, 32);
  EXPECT_DOUBLE_EQ(rows[0].gpu_s_lost, 1 * 16 + 100 * 32);
  EXPECT_THAT(
      world.members(),
      ElementsAre(
          AllOf(Field(&DeadlockMemberRow::job, 0u), Field(&DeadlockMemberRow::assigned, 3),
                Field(&DeadlockMemberRow::needed, 4), Field(&DeadlockMemberRow::gpus_held, 24.0)),
          AllOf(Field(&DeadlockMemberRow::job, 1u), Field(&DeadlockMemberRow::assigned, 1))));
}

TEST(DeadlockDetector, GangsThatCanCompleteOneAfterAnotherAreNotDeadlocked) {
  GangWorld world{{8, 8, 8, 8}};
  const JobId a = world.add(4, 8), b = world.add(3, 8);
  world.assign(b, 0, 0);
  world.assign(b, 1, 1);  // b needs one more node, and node 3 is free
  world.assign(a, 0, 2);  // a needs three more, and gets them after b
  world.wait(1_s);
  EXPECT_EQ(world.detector->deadlocks(), 0u);
  world.assign(a, 1, 3);  // the last free node, so b cannot complete
  world.wait(1_s);
  EXPECT_EQ(world.detector->deadlocks(), 1u);
}

TEST(DeadlockDetector, WhatRunsWillEndAndCountsAsFree) {
  GangWorld world{{8, 8, 8, 8}};
  const JobId running = world.add(2, 8), a = world.add(2, 8), b = world.add(2, 8);
  world.assign(running, 0, 0);
  world.assign(running, 1, 1);
  world.set_phase(running, JobPhase::Running);
  world.assign(a, 0, 2);
  world.assign(b, 0, 3);
  world.wait(1_s);
  EXPECT_EQ(world.detector->deadlocks(), 0u);
}

TEST(DeadlockDetector, AGangIsCompleteWithItsMinimum) {
  GangWorld world{{8, 8}};
  const JobId a = world.add(4, 8, 1), b = world.add(2, 8);
  world.assign(a, 0, 0);
  world.assign(b, 0, 1);
  world.wait(1_s);
  EXPECT_EQ(world.detector->deadlocks(), 0u);
}

// Gangs a and b each have one server and three workers. Each gang needs its server and at least two
// workers. The three workers of gang a have nodes, but its server has none, so gang a is
// incomplete. One worker of gang b has the last node.
TEST(DeadlockDetector, AGangIsNotCompleteWhileARoleLacksItsMinimum) {
  GangWorld world{{8, 8, 8, 8}};
  RoleSpec servers;
  servers.spec.gpus = 8;
  servers.min_available = 1;
  RoleSpec workers = servers;
  workers.pods = 3;
  workers.min_available = 2;
  const GangSpec gang{.roles = {servers, workers}, .min_available = 3};
  const JobId a = world.add({gang}), b = world.add({gang});
  for (uint32_t worker = 1; worker <= 3; ++worker) world.assign(a, worker, worker - 1);
  world.assign(b, 1, 3);
  world.wait(1_s);
  EXPECT_EQ(world.detector->deadlocks_present(), 1u);
  world.detector->finish(world.engine.now());
  EXPECT_THAT(
      world.members(),
      ElementsAre(
          AllOf(Field(&DeadlockMemberRow::assigned, 3), Field(&DeadlockMemberRow::needed, 4)),
          AllOf(Field(&DeadlockMemberRow::assigned, 1), Field(&DeadlockMemberRow::needed, 3))));
}

TEST(DeadlockDetector, NoDeadlockIsSeenInsideAnInstant) {
  GangWorld world{{8, 8}};
  const JobId a = world.add(2, 8), b = world.add(2, 8);
  world.assign(a, 0, 0);
  world.assign(b, 0, 1);
  world.give_up(b, 0);
  world.assign(a, 1, 1);
  world.wait(1_s);
  EXPECT_EQ(world.detector->deadlocks(), 0u);
}

TEST(DeadlockDetector, AJobThatNeverFitsIsInfeasibleAloneAndAMemberWhereItBlocksOthers) {
  GangWorld world{{8, 8, 8}};
  const JobId huge = world.add(4, 8), small = world.add(3, 8);
  world.assign(huge, 0, 0);
  world.wait(10_s);
  EXPECT_EQ(world.detector->deadlocks(), 0u);
  world.assign(small, 0, 1);
  world.wait(10_s);
  world.detector->finish(world.engine.now());
  world.detector->add_summary(world.recorder, world.engine.now());
  EXPECT_THAT(world.members(), ElementsAre(Field(&DeadlockMemberRow::is_infeasible, true),
                                           Field(&DeadlockMemberRow::is_infeasible, false)));
  ASSERT_EQ(world.recorder.summary().size(), 4u);
  EXPECT_EQ(std::get<int64_t>(world.recorder.summary()[2].value), 1);
  EXPECT_DOUBLE_EQ(std::get<double>(world.recorder.summary()[3].value), 8 * 10 / 3600.0);
}

TEST(DeadlockDetector, AReservationGivenUpEndsItByTimeout) {
  GangWorld world{{8, 8}};
  const JobId a = world.add(2, 8), b = world.add(2, 8);
  world.assign(a, 0, 0);
  world.assign(b, 0, 1);
  world.wait(60_s);
  world.give_up(a, 0);
  world.wait(1_s);
  const auto rows = world.deadlocks();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].resolution, DeadlockEnd::Timeout);
  EXPECT_EQ(rows[0].resolved_at, Time{} + 60_s);
  EXPECT_DOUBLE_EQ(rows[0].gpu_s_lost, 16 * 60);
  EXPECT_EQ(world.members().at(0).assigned, 1);
}

TEST(DeadlockDetector, AMemberReplacedAtOnceLeavesAndTheNewOneJoins) {
  GangWorld world{{8, 8}};
  const JobId a = world.add(2, 8), b = world.add(2, 8);
  world.assign(a, 0, 0);
  world.assign(b, 0, 1);
  world.wait(60_s);
  world.remove(a);
  const JobId next = world.add(2, 8);
  EXPECT_EQ(next, a);
  world.assign(next, 1, 0);  // b is still stuck, now with `next`
  world.wait(1_s);
  world.detector->finish(world.engine.now());
  const auto rows = world.deadlocks();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].members, 2u);
  EXPECT_THAT(world.members(),
              ElementsAre(Field(&DeadlockMemberRow::job, 0u), Field(&DeadlockMemberRow::job, 1u),
                          Field(&DeadlockMemberRow::job, 2u)));
  EXPECT_EQ(world.members()[0].left, Time{} + 60_s);
}

TEST(DeadlockDetector, DeletionEndsADeadlock) {
  GangWorld world{{8, 8}};
  const JobId a = world.add(2, 8), b = world.add(2, 8);
  world.assign(a, 0, 0);
  world.assign(b, 0, 1);
  world.wait(60_s);
  world.remove(a);
  world.wait(1_s);
  ASSERT_EQ(world.deadlocks().size(), 1u);
  EXPECT_EQ(world.deadlocks()[0].resolution, DeadlockEnd::PodsDeleted);
}

TEST(DeadlockDetector, AThirdGangJoinsTheSameDeadlock) {
  GangWorld world{{8, 8, 8}};
  const JobId a = world.add(3, 8), b = world.add(3, 8), c = world.add(2, 8);
  world.assign(a, 0, 0);
  world.assign(b, 0, 1);
  world.wait(1_s);
  world.assign(c, 0, 2);
  world.wait(1_s);
  world.give_up(c, 0);
  world.wait(1_s);
  world.detector->finish(world.engine.now());
  ASSERT_EQ(world.deadlocks().size(), 1u);
  EXPECT_EQ(world.deadlocks()[0].members, 3u);
  EXPECT_DOUBLE_EQ(world.deadlocks()[0].gpu_s_lost, 16 + 24 + 16);
}

PodSpec on(const char* half) {
  PodSpec spec;
  spec.gpus = 8;
  spec.required_terms = {
      {.all_of = {{.key = "half", .op = SelectorOperator::In, .values = {half}}}}};
  return spec;
}

TEST(DeadlockDetector, JobsOnDifferentNodesAreInDifferentDeadlocks) {
  GangWorld world{{8, 8, 8, 8}};
  std::vector<JobId> jobs;
  for (const char* half : {"even", "even", "odd", "odd"}) {
    jobs.push_back(world.add({{.roles = {{on(half), 2}}, .min_available = 0}}));
  }
  world.assign(jobs[0], 0, 0);
  world.assign(jobs[1], 0, 2);
  world.wait(1_s);
  world.assign(jobs[2], 0, 1);
  world.assign(jobs[3], 0, 3);
  world.wait(1_s);
  EXPECT_EQ(world.detector->deadlocks_present(), 2u);
}

TEST(DeadlockDetector, AJobThatBlocksTwoDeadlocksMergesThemIntoTheElder) {
  GangWorld world{{8, 8, 8, 8, 8, 8}};
  std::vector<JobId> jobs;
  for (const char* half : {"odd", "odd", "even", "even"}) {
    jobs.push_back(world.add({{.roles = {{on(half), 3}}, .min_available = 0}}));
  }
  world.assign(jobs[0], 0, 1);
  world.assign(jobs[1], 0, 3);
  world.wait(1_s);
  world.assign(jobs[2], 0, 0);
  world.assign(jobs[3], 0, 2);
  world.wait(1_s);
  EXPECT_EQ(world.detector->deadlocks_present(), 2u);
  const JobId bridge = world.add(6, 8);
  world.assign(bridge, 0, 4);
  world.wait(1_s);
  world.give_up(bridge, 0);
  world.wait(1_s);
  world.detector->finish(world.engine.now());
  const auto rows = world.deadlocks();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].id, 1u);
  EXPECT_EQ(rows[0].resolution, DeadlockEnd::Merged);
  EXPECT_GT(mark_count("deadlocks.merged"), 0u);
  // After the merge, the older deadlock had all five gangs. Once `bridge` gives up, only the first
  // two gangs remain in this deadlock.
  EXPECT_EQ(rows[1].id, 0u);
  EXPECT_EQ(rows[1].members, 5u);
  EXPECT_EQ(rows[2].id, 2u);  // the other two gangs are a new deadlock
  EXPECT_EQ(rows[2].onset, Time{} + 3_s);
}

TEST(DeadlockDetector, GangsThatOnlyWaitForARepairAreDeadlockedOnlyIfDownNodesDoNotCount) {
  for (const bool counts : {true, false}) {
    GangWorld world{{8, 8, 8}, {.counts_down_nodes = counts}};
    world.cluster.set_up({2}, false);
    const JobId a = world.add(2, 8), b = world.add(2, 8);
    world.assign(a, 0, 0);
    world.assign(b, 0, 1);
    world.wait(1_s);
    EXPECT_EQ(world.detector->deadlocks_present(), counts ? 0u : 1u);
    world.cluster.set_up({2}, true);
    world.detector->nodes_changed();
    world.wait(1_s);
    EXPECT_EQ(world.detector->deadlocks_present(), 0u);
    if (!counts) {
      EXPECT_EQ(world.deadlocks().at(0).resolution, DeadlockEnd::CapacityAdded);
    }
  }
}

TEST(DeadlockDetector, AJobOfTwoGangsHoldsTheCompleteOneUntilTheOtherIsComplete) {
  GangWorld world{{8, 8, 8}};
  PodSpec spec;
  spec.gpus = 8;
  const JobId pair = world.add({{.roles = {{spec, 1}}}, {.roles = {{spec, 2}}}});
  const JobId other = world.add(3, 8);
  world.assign(pair, 0, 0);  // the first gang of `pair` is complete
  world.assign(other, 0, 1);
  world.wait(1_s);
  EXPECT_EQ(world.detector->deadlocks_present(), 1u);
  world.give_up(other, 0);
  world.assign(pair, 1, 1);
  world.assign(pair, 2, 2);
  world.wait(1_s);
  EXPECT_EQ(world.detector->deadlocks_present(), 0u);
}

TEST(DeadlockDetector, SharesOfOneDeviceFitBesideOneAnother) {
  GangWorld world{{1, 1}};
  PodSpec share;
  share.gpus = 1;
  share.gpu_milli = 400;
  const JobId a = world.add({{.roles = {{share, 4}}}}), b = world.add({{.roles = {{share, 3}}}});
  world.assign(a, 0, 0);
  world.assign(a, 1, 1);
  world.assign(b, 0, 0);
  world.wait(1_s);  // the two GPUs have room for one more share, and each gang needs two
  EXPECT_EQ(world.detector->deadlocks_present(), 1u);
}

// ---- preemption

RoleSpec of_priority(int32_t priority, int32_t pods, bool may_preempt = true) {
  RoleSpec role = GangWorld::role_of(pods, 8);
  role.spec.priority = priority;
  role.spec.may_preempt = may_preempt;
  return role;
}

// Each gang holds two of four nodes and lacks two. Returns the number of deadlocks.
size_t deadlocks_of_two(const RoleSpec& first, const RoleSpec& second, bool foresees = true) {
  GangWorld world{{8, 8, 8, 8}};
  world.detector->foresee_preemption(foresees);
  const JobId a = world.add(first), b = world.add(second);
  for (uint32_t rank = 0; rank < 2; ++rank) world.assign(a, rank, rank);
  for (uint32_t rank = 0; rank < 2; ++rank) world.assign(b, rank, 2 + rank);
  world.wait(1_s);
  return world.detector->deadlocks_present();
}

TEST(DeadlockDetector, AGangThatMayPreemptTheOtherIsNotStuck) {
  EXPECT_EQ(deadlocks_of_two(of_priority(5, 4), of_priority(1, 4)), 0u);
  EXPECT_EQ(deadlocks_of_two(of_priority(1, 4), of_priority(5, 4)), 0u) << "in either order";
  EXPECT_EQ(deadlocks_of_two(of_priority(5, 4), of_priority(5, 4)), 1u) << "equals never preempt";
  EXPECT_EQ(deadlocks_of_two(of_priority(5, 4, false), of_priority(1, 4)), 1u) << "policy: never";
  EXPECT_EQ(deadlocks_of_two(of_priority(5, 4), of_priority(1, 4), false), 1u)
      << "no policy of the profile preempts";
}

// Gang c lacks one node, and may preempt a or b for it. That does not help a and b: they block one
// another until c has preempted one of them.
TEST(DeadlockDetector, GangsBelowOneThatPreemptsBlockOneAnotherUntilItDoes) {
  GangWorld world{{8, 8, 8, 8, 8}};
  world.detector->foresee_preemption(true);
  const JobId a = world.add(of_priority(0, 5)), b = world.add(of_priority(0, 5));
  const JobId c = world.add(of_priority(7, 2));
  for (uint32_t rank = 0; rank < 2; ++rank) world.assign(a, rank, rank);
  for (uint32_t rank = 0; rank < 2; ++rank) world.assign(b, rank, 2 + rank);
  world.assign(c, 0, 4);
  world.wait(1_s);
  EXPECT_THAT(world.detector->members_present(), ElementsAre(a, b));
  world.give_up(a, 0);  // c preempts a
  world.give_up(a, 1);
  world.assign(c, 1, 0);
  world.set_phase(c, JobPhase::Running);
  world.wait(1_s);
  EXPECT_EQ(world.detector->deadlocks_present(), 0u);
}

TEST(DeadlockDetector, AGangThatFitsNowhereIsStuckThoughItMayPreempt) {
  GangWorld world{{8, 8, 8, 8}};
  world.detector->foresee_preemption(true);
  const JobId large = world.add(of_priority(5, 5)), small = world.add(of_priority(1, 3));
  world.assign(large, 0, 0);
  world.assign(large, 1, 1);
  world.assign(small, 0, 2);
  world.wait(1_s);
  EXPECT_THAT(world.detector->members_present(), ElementsAre(large, small))
      << "it holds two nodes for nothing, and the other lacks one of them";
}

TEST(DeadlockDetector, AnotherProfileChangesWhatIsForeseen) {
  GangWorld world{{8, 8}};
  const JobId a = world.add(of_priority(5, 2)), b = world.add(of_priority(1, 2));
  world.assign(a, 0, 0);
  world.assign(b, 0, 1);
  world.wait(1_s);
  EXPECT_EQ(world.detector->deadlocks_present(), 1u);
  world.detector->foresee_preemption(true);
  world.wait(1_s);
  EXPECT_EQ(world.detector->deadlocks_present(), 0u);
}

}  // namespace
}  // namespace orrery
