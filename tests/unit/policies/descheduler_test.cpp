// Descheduler: which pods it evicts, and which it leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/fake_board.hpp"

namespace orrery::descheduler_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr NodeId kA{0}, kB{1}, kC{2}, kD{3};

class DeschedulerTest : public ::testing::Test {
 protected:
  void add_nodes(int count) {
    for (int i = 0; i < count; ++i) board.add_node();
  }
  static JobView service() {
    JobView view;
    view.owner = WorkloadKind::ReplicaSet;
    view.is_service = true;
    return view;
  }
  static JobView gang() {
    JobView view;
    view.phase = JobPhase::Running;
    view.is_gang = true;
    return view;
  }
  std::vector<std::string> evictions(const std::string& args) {
    return FakeController{board, "Descheduler", args}.tick();
  }
  FakeBoard board;
};

// ---- RemoveDuplicates

TEST_F(DeschedulerTest, DuplicatesGoUntilNodesHaveTheirShareRoundedUp) {
  add_nodes(4);
  // Node kA has 5 of the 8 pods, kB 3.
  board.add_job(FakeBoard::gpus(1), {kA, kA, kA, kA, kB, kB, kB, kA}, service());
  EXPECT_THAT(evictions("{remove_duplicates: {}}"),
              ElementsAre("evict 2", "evict 3", "evict 7", "evict 6"))
      << "two a node: 8 pods on 4 nodes";
}

TEST_F(DeschedulerTest, WithoutAnotherNodeDuplicatesStay) {
  add_nodes(2);
  board.not_ready.insert(kB);
  board.add_job(FakeBoard::gpus(1), {kA, kA, kA}, service());
  EXPECT_THAT(evictions("{remove_duplicates: {}}"), IsEmpty());
}

TEST_F(DeschedulerTest, NodesThatDoNotLetThePodsInAreNotCounted) {
  add_nodes(2);
  board.add_node(8, 64, {{.key = "reserved", .value = "", .effect = TaintEffect::NoSchedule}});
  board.add_job(FakeBoard::gpus(1), {kA, kA, kA, kB, kB, kB}, service());
  EXPECT_THAT(evictions("{remove_duplicates: {}}"), IsEmpty()) << "three each on two nodes";
}

TEST_F(DeschedulerTest, UnlikePodsOfOneOwnerAreNoDuplicates) {
  add_nodes(2);
  board.add_job(FakeBoard::gpus(1), {kA}, service());
  board.add_job(FakeBoard::gpus(1), {kA}, service());
  EXPECT_THAT(evictions("{remove_duplicates: {}}"), IsEmpty()) << "of two owners";
}

TEST_F(DeschedulerTest, PodsOfExcludedOwnersAreNoDuplicates) {
  add_nodes(2);
  board.add_job(FakeBoard::gpus(1), {kA, kA}, service());
  EXPECT_THAT(evictions("{remove_duplicates: {}}"), ElementsAre("evict 1"));
  EXPECT_THAT(evictions("{remove_duplicates: {exclude_owner_kinds: [replica_set]}}"), IsEmpty());
}

// ---- limits on evictions, the same for every strategy

TEST_F(DeschedulerTest, GangsStayUnlessAskedForAndThenLoseOnePod) {
  add_nodes(3);
  board.add_job(FakeBoard::gpus(1), {kA, kA, kA, kA}, gang());
  EXPECT_THAT(evictions("{remove_duplicates: {}}"), IsEmpty());
  EXPECT_THAT(evictions("{remove_duplicates: {}, gangs: true}"), ElementsAre("evict 2"));
}

TEST_F(DeschedulerTest, PodsOfHighPriorityOrYoungOrFewStay) {
  add_nodes(2);
  PodSpec spec = FakeBoard::gpus(1);
  spec.priority = 100;
  board.add_job(spec, {kA, kA}, service());
  board.clock = Time{} + 5_min;
  struct Case {
    std::string args;
    size_t evictions;
  };
  for (const auto& [args, expected] :
       {Case{"priority_threshold: 100", 0}, Case{"priority_threshold: 101", 1},
        Case{"pod_age_min: 6min", 0}, Case{"pod_age_min: 5min", 1}, Case{"replicas_min: 3", 0},
        Case{"replicas_min: 2", 1}}) {
    EXPECT_THAT(evictions("{remove_duplicates: {}, " + args + "}"), SizeIs(expected)) << args;
  }
}

TEST_F(DeschedulerTest, NoMorePodsGoThanTheLimitsAllow) {
  add_nodes(4);
  board.add_job(FakeBoard::gpus(1), {kA, kA, kA, kB, kB, kB}, service());
  EXPECT_THAT(evictions("{remove_duplicates: {}}"), ElementsAre("evict 2", "evict 5"));
  EXPECT_THAT(evictions("{remove_duplicates: {}, evictions_max: 1}"), ElementsAre("evict 2"));
  board.add_job(FakeBoard::gpus(1), {kA, kA}, service());
  EXPECT_THAT(evictions("{remove_duplicates: {}, evictions_per_node_max: 1}"),
              ElementsAre("evict 2", "evict 5"));
}

TEST_F(DeschedulerTest, DisruptionBudgetsAreNotAskedForMoreThanTheyAllow) {
  add_nodes(4);
  board.add_job(FakeBoard::gpus(1), {kA, kA, kA, kA}, service());
  EXPECT_THAT(evictions("{remove_duplicates: {}}"), SizeIs(3));
  for (uint32_t pod = 0; pod < 4; ++pod) board.budgets_of[{pod}] = {0};
  board.allowed[0] = 2;
  EXPECT_THAT(evictions("{remove_duplicates: {}}"), SizeIs(2));
  board.allowed[0] = 0;
  EXPECT_THAT(evictions("{remove_duplicates: {}}"), IsEmpty());
}

TEST_F(DeschedulerTest, WithNodeFitPodsGoOnlyWhereThereIsRoom) {
  add_nodes(2);
  board.add_job(FakeBoard::gpus(2), {kA, kA, kA, kA}, service());
  board.add_job(FakeBoard::gpus(6), {kB}, gang());
  EXPECT_THAT(evictions("{remove_duplicates: {}}"), SizeIs(2));
  EXPECT_THAT(evictions("{remove_duplicates: {}, node_fit: true}"), SizeIs(1))
      << "two GPUs are free on the other node";
}

// ---- LowNodeUtilization

constexpr std::string_view kHalf = "thresholds: {gpus: 20}, target_thresholds: {gpus: 50}";

TEST_F(DeschedulerTest, OverutilizedNodesLosePodsUntilTheyReachTheTarget) {
  add_nodes(3);
  board.add_job(FakeBoard::gpus(1), {kA, kA, kA, kA, kA, kA, kA, kB, kB, kB}, service());
  EXPECT_THAT(evictions("{low_node_utilization: {" + std::string{kHalf} + "}}"),
              ElementsAre("evict 0", "evict 1", "evict 2"))
      << "7 of 8 GPUs are above 50 %, 4 are not";
}

TEST_F(DeschedulerTest, NoMoreGoThanUnderutilizedNodesCanTakeBelowTheTarget) {
  for (int i = 0; i < 2; ++i) board.add_node();
  board.add_node(2);
  board.add_job(FakeBoard::gpus(1), {kA, kA, kA, kA, kA, kA, kA, kB, kB}, service());
  EXPECT_THAT(evictions("{low_node_utilization: {" + std::string{kHalf} + "}}"), SizeIs(1))
      << "half of two GPUs";
}

TEST_F(DeschedulerTest, FullestNodesAndLowestPrioritiesComeFirst) {
  add_nodes(3);
  PodSpec spec = FakeBoard::gpus(1);
  spec.priority = 10;
  board.add_job(spec, {kA, kA, kA, kA, kA}, service());      // pods 0 to 4
  board.add_job(spec, {kB, kB, kB, kB, kB, kB}, service());  // pods 5 to 10
  board.add_job(FakeBoard::gpus(1), {kB}, service());        // pod 11
  EXPECT_THAT(evictions("{low_node_utilization: {" + std::string{kHalf} + "}}"),
              ElementsAre("evict 11", "evict 5", "evict 6", "evict 0"));
}

TEST_F(DeschedulerTest, WithoutUnderutilizedNodesNothingHappens) {
  add_nodes(3);
  board.add_job(FakeBoard::gpus(1), {kA, kA, kA, kA, kA, kA}, service());
  const std::string two =
      "{low_node_utilization: {number_of_nodes: 2, " + std::string{kHalf} + "}}";
  EXPECT_THAT(evictions(two), IsEmpty()) << "exactly two are underutilized";
  board.state.set_cordoned(kB, true);
  board.state.set_cordoned(kC, true);
  EXPECT_THAT(evictions("{low_node_utilization: {" + std::string{kHalf} + "}}"), IsEmpty())
      << "cordoned nodes take no pods";
}

TEST_F(DeschedulerTest, DeviationThresholdsAreCountedFromTheMean) {
  add_nodes(4);
  board.add_job(FakeBoard::gpus(1), {kA, kA, kA, kA, kB, kB, kC, kC, kD, kD}, service());
  // Nodes have 8 GPUs. Node A uses 4 of them, the others 2 each: 50 % and 25 %, with a mean of
  // 31.25 %.
  const std::string ten =
      "use_deviation_thresholds: true, thresholds: {gpus: 5}, "
      "target_thresholds: {gpus: 10}";
  EXPECT_THAT(evictions("{low_node_utilization: {" + ten + "}}"), SizeIs(1))
      << "until 3 of 8: 37.5 % are below 41.25 %";
}

// ---- passes that are skipped

TEST_F(DeschedulerTest, AfterALookInVainChangesOfTheClusterAreSeen) {
  add_nodes(2);
  FakeController controller{board, "Descheduler", "{remove_duplicates: {}}"};
  board.add_job(FakeBoard::gpus(1), {kA}, service());
  EXPECT_THAT(controller.tick(), IsEmpty());
  EXPECT_THAT(controller.tick(), IsEmpty());
  board.add_job(FakeBoard::gpus(1), {kA, kA}, service());
  EXPECT_THAT(controller.tick(), ElementsAre("evict 2"));
}

TEST_F(DeschedulerTest, ANodeThatBecomesOverutilizedIsSeenAfterLooksInVain) {
  add_nodes(3);
  FakeController controller{board, "Descheduler",
                            "{low_node_utilization: {" + std::string{kHalf} + "}}"};
  board.add_job(FakeBoard::gpus(1), {kA, kA, kA, kA}, service());
  EXPECT_THAT(controller.tick(), IsEmpty());
  board.add_job(FakeBoard::gpus(1), {kB}, service());
  EXPECT_THAT(controller.tick(), IsEmpty());
  board.add_job(FakeBoard::gpus(1), {kA}, service());
  EXPECT_THAT(controller.tick(), ElementsAre("evict 0"));
}

TEST_F(DeschedulerTest, WhatTimeOrBudgetsChangeIsSeenWithoutAnyChangeOfTheCluster) {
  add_nodes(2);
  board.add_job(FakeBoard::gpus(1), {kA, kA}, service());
  FakeController aged{board, "Descheduler", "{remove_duplicates: {}, pod_age_min: 5min}"};
  FakeController controller{board, "Descheduler", "{remove_duplicates: {}}"};
  board.budgets_of = {{PodId{0}, {0}}, {PodId{1}, {0}}};
  board.allowed[0] = 0;
  EXPECT_THAT(aged.tick(), IsEmpty());
  EXPECT_THAT(controller.tick(), IsEmpty());
  board.clock = Time{} + 5_min;
  board.budgets_of.clear();
  EXPECT_THAT(aged.tick(), ElementsAre("evict 1"));
  EXPECT_THAT(controller.tick(), ElementsAre("evict 1"));
}

TEST_F(DeschedulerTest, ArgumentsAreChecked) {
  EXPECT_THAT(complaints_of_controller("Descheduler", "{}"),
              HasSubstr("needs remove_duplicates or low_node_utilization"));
  const auto of = [](const std::string& args) {
    return complaints_of_controller("Descheduler", "{low_node_utilization: {" + args + "}}");
  };
  EXPECT_THAT(of("thresholds: {cpu: 20}, target_thresholds: {pods: 50}"),
              HasSubstr("must name the same resources as thresholds"));
  EXPECT_THAT(of("thresholds: {cpu: 60}, target_thresholds: {cpu: 50}"),
              HasSubstr("must not be above target_thresholds"));
  EXPECT_THAT(of("thresholds: {}, target_thresholds: {}"), HasSubstr("must name a resource"));
}

}  // namespace
}  // namespace orrery::descheduler_test
