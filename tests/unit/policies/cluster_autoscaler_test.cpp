// ClusterAutoscaler: which nodes it adds, drains and removes, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/fake_board.hpp"

namespace orrery {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A board with one pool, whose size the autoscaler may change. The autoscaler's loop runs every
// 10 s and takes no time.
class ClusterAutoscalerTest : public ::testing::Test {
 protected:
  void add_nodes(int count, int64_t gpus = 8) {
    for (int i = 0; i < count; ++i) nodes.push_back(board.add_node(gpus));
  }
  JobId put(uint32_t node, int32_t gpus, JobView view = {}, int32_t priority = 0) {
    PodSpec spec = FakeBoard::gpus(gpus);
    spec.priority = priority;
    return board.add_job(spec, {NodeId{node}}, view);
  }
  PodId pod_of(JobId job) const { return board.all.at(job).first_pod; }
  void begin(const std::string& args = "", uint32_t size_min = 0, uint32_t absent = 0) {
    const auto all = static_cast<uint32_t>(nodes.size());
    board.scaled = {{.name = "p",
                     .nodes = nodes,
                     .size = all - absent,
                     .size_min = size_min,
                     .size_max = all,
                     .unregistered = absent}};
    for (uint32_t i = 0; i < all; ++i) {
      board.pool_states[nodes[i]] =
          i < all - absent ? PoolNodeState::Member : PoolNodeState::Absent;
    }
    static_cast<void>(board.placements());
    for (uint32_t i = all - absent; i < all; ++i) board.state.set_up(nodes[i], false);
    autoscaler = std::make_unique<FakeController>(
        board, "ClusterAutoscaler", "{time_per_node: 0s" + (args.empty() ? "" : ", " + args) + "}");
  }
  // Ticks every 10 s until `end`, and returns the actions of the last tick. Earlier ticks must give
  // no action.
  std::vector<std::string> run_until(Duration end) {
    std::vector<std::string> wanted;
    while (board.clock < Time{} + end) {
      EXPECT_THAT(wanted, IsEmpty()) << "before " << (board.clock - Time{}).seconds() << " s";
      board.clock = board.clock + 10_s;
      wanted = autoscaler->tick();
    }
    return wanted;
  }
  // Removes the node, as the executor of a run would.
  void remove(uint32_t node) {
    board.pool_states[NodeId{node}] = PoolNodeState::Absent;
    board.state.set_up(NodeId{node}, false);
    --board.scaled[0].size;
  }
  void drain(uint32_t node) {
    board.draining.insert(NodeId{node});
    board.state.set_cordoned(NodeId{node}, true);
  }
  static JobView gang() {
    JobView view;
    view.is_gang = true;
    return view;
  }
  FakeBoard board;
  std::vector<NodeId> nodes;
  std::unique_ptr<FakeController> autoscaler;
};
constexpr Duration kFirst = 10_s;  // time of the first loop, which finds nodes unneeded

TEST_F(ClusterAutoscalerTest, ANodeWithLittleUseIsDrainedAfterTenMinutesAndThenRemoved) {
  add_nodes(2);
  put(0, 3);
  const JobId full = put(1, 4);
  begin();
  EXPECT_THAT(run_until(kFirst + 590_s), IsEmpty());
  EXPECT_THAT(run_until(kFirst + 10_min), ElementsAre("drain 0"));
  const auto& order = std::get<DrainNode>(autoscaler->last.ordered()[0].action);
  EXPECT_EQ(order.evict_for, 2_min);
  EXPECT_EQ(order.deadline, 12_min);
  drain(0);
  EXPECT_THAT(run_until(kFirst + 11_min), IsEmpty());
  board.remove(PodId{0});
  board.draining.clear();
  EXPECT_THAT(run_until(kFirst + 11_min + 10_s), ElementsAre("remove_nodes 0"));
  EXPECT_EQ(board.all.at(full).pods_bound, 1);
}

// Node 0 uses 60 of 64 cores, but only 3 of 8 GPUs, which is below the threshold of 0.5. Node 1
// uses 4 of 8 GPUs and no core.
TEST_F(ClusterAutoscalerTest, OnNodesWithGpusTheirShareIsTheUse) {
  add_nodes(2);
  board.add_job(FakeBoard::gpus(3, 60), {NodeId{0}});
  put(1, 4);
  begin();
  EXPECT_THAT(run_until(kFirst + 10_min), ElementsAre("drain 0"));
}

TEST_F(ClusterAutoscalerTest, WithoutGpusTheLargerShareOfCpuAndMemoryIsTheUse) {
  add_nodes(3, 0);
  PodSpec cores = FakeBoard::gpus(0, 33), memory = FakeBoard::gpus(0, 1),
          little = FakeBoard::gpus(0, 20);
  memory.memory_bytes = int64_t{300} << 30;
  board.add_job(cores, {NodeId{0}});
  board.add_job(memory, {NodeId{1}});
  board.add_job(little, {NodeId{2}});
  begin();
  EXPECT_THAT(run_until(kFirst + 10_min), ElementsAre("drain 2"));
}

TEST_F(ClusterAutoscalerTest, WithAThresholdOfZeroOnlyIdleNodesGo) {
  add_nodes(3);
  put(0, 1);
  put(1, 4);
  begin("scale_down: {utilization_threshold: 0}");
  EXPECT_THAT(run_until(kFirst + 10_min), ElementsAre("remove_nodes 2"));
  remove(2);
  EXPECT_THAT(run_until(2_h), IsEmpty());
}

TEST_F(ClusterAutoscalerTest, ANodeWhosePodsFitNowhereIsLookedAtAgainAfterFiveMinutes) {
  add_nodes(2);
  put(0, 3);
  const JobId large = put(1, 6);
  begin();
  EXPECT_THAT(run_until(1_min), IsEmpty());
  board.remove(pod_of(large));
  put(1, 4);
  EXPECT_THAT(run_until(kFirst + 5_min + 590_s), IsEmpty());
  EXPECT_THAT(run_until(kFirst + 15_min), ElementsAre("drain 0"));
}

TEST_F(ClusterAutoscalerTest, PodsOfGangsKeepTheirNodeUnlessAllowed) {
  add_nodes(2);
  put(0, 3, gang());
  put(1, 4);
  begin();
  EXPECT_THAT(run_until(1_h), IsEmpty());
}

TEST_F(ClusterAutoscalerTest, PodsOfGangsMoveIfAllowed) {
  add_nodes(2);
  put(0, 3, gang());
  put(1, 4);
  begin("scale_down: {gangs: true}");
  EXPECT_THAT(run_until(kFirst + 10_min), ElementsAre("drain 0"));
}

TEST_F(ClusterAutoscalerTest, DisruptionBudgetsMustAllowAllPodsOfANode) {
  add_nodes(2);
  for (int i = 0; i < 2; ++i) put(0, 1);
  put(1, 4);
  board.budgets_of = {{PodId{0}, {0}}, {PodId{1}, {0}}};
  board.allowed[0] = 1;
  begin();
  EXPECT_THAT(run_until(1_h), IsEmpty());
  board.allowed[0] = 2;
  EXPECT_THAT(run_until(1_h + kFirst + 10_min), ElementsAre("drain 0"));
}

TEST_F(ClusterAutoscalerTest, APodOfSeveralBudgetsKeepsItsNode) {
  add_nodes(2);
  put(0, 1);
  put(1, 4);
  board.budgets_of = {{PodId{0}, {0, 1}}};
  board.allowed = {{0, 9}, {1, 9}};
  begin();
  EXPECT_THAT(run_until(1_h), IsEmpty());
}

TEST_F(ClusterAutoscalerTest, IdleNodesGoTenAtATimeAndOthersOneAtATime) {
  add_nodes(16);
  for (uint32_t node = 0; node < 3; ++node) put(node, 1);
  put(3, 4);
  begin();
  EXPECT_THAT(run_until(kFirst + 10_min), ElementsAre("remove_nodes 4 5 6 7 8 9 10 11 12 13"));
  for (uint32_t node = 4; node < 14; ++node) remove(node);
  EXPECT_THAT(run_until(kFirst + 10_min + 10_s), ElementsAre("remove_nodes 14 15", "drain 0"));
  for (uint32_t node = 14; node < 16; ++node) remove(node);
  drain(0);
  EXPECT_THAT(run_until(kFirst + 11_min), IsEmpty()) << "one drain at a time";
  board.remove(PodId{0});
  board.draining.clear();
  EXPECT_THAT(run_until(kFirst + 11_min + 10_s), ElementsAre("remove_nodes 0", "drain 1"));
}

// Nodes 0 and 1 each have 3 pods of one GPU. Draining both would move 6 pods to node 2, which has
// only 4 free GPUs.
TEST_F(ClusterAutoscalerTest, PodsOfOneNodeTakeTheRoomThatThoseOfAnotherWouldNeed) {
  add_nodes(3);
  for (int i = 0; i < 3; ++i) put(0, 1);
  for (int i = 0; i < 3; ++i) put(1, 1);
  put(2, 4);
  begin("scale_down: {drain_parallel: 2}");
  EXPECT_THAT(run_until(kFirst + 10_min), ElementsAre("drain 0"));
}

TEST_F(ClusterAutoscalerTest, NodesThatLeaveOrAreCordonedTakeNoPods) {
  add_nodes(3);
  put(0, 1);
  put(1, 8);
  begin("scale_down: {unneeded_time: 1h}");
  static_cast<void>(run_until(kFirst));
  EXPECT_THAT(run_until(50_min), IsEmpty());
  put(2, 4);  // node 2 is no longer idle, so it is not removed and could take pods
  board.state.set_cordoned(NodeId{2}, true);
  EXPECT_THAT(run_until(3_h), IsEmpty());
  board.state.set_cordoned(NodeId{2}, false);
  EXPECT_THAT(run_until(3_h + 1_h + 10_s), ElementsAre("drain 0"));
}

TEST_F(ClusterAutoscalerTest, APodThatComesStartsTheTimeAnew) {
  add_nodes(2);
  put(0, 3);
  put(1, 4);
  begin();
  EXPECT_THAT(run_until(9_min), IsEmpty());
  const JobId more = put(0, 2);
  EXPECT_THAT(run_until(10_min), IsEmpty());
  board.remove(pod_of(more));
  EXPECT_THAT(run_until(10_min + 10_min), IsEmpty());
  EXPECT_THAT(run_until(10_min + 10_min + 10_s), ElementsAre("drain 0"));
}

TEST_F(ClusterAutoscalerTest, AFailedDrainIsUndoneAndNothingGoesForAWhile) {
  add_nodes(4);
  put(0, 1);
  put(1, 1);
  put(2, 4);
  put(3, 4);
  begin();
  EXPECT_THAT(run_until(kFirst + 10_min), ElementsAre("drain 0"));
  drain(0);
  EXPECT_THAT(run_until(kFirst + 12_min), IsEmpty());
  board.draining.clear();  // the drain has failed: the pod still runs on node 0
  EXPECT_THAT(run_until(kFirst + 12_min + 20_s), ElementsAre("uncordon 0"));
  board.state.set_cordoned(NodeId{0}, false);
  EXPECT_THAT(run_until(kFirst + 15_min + 10_s), IsEmpty());
  EXPECT_THAT(run_until(kFirst + 15_min + 20_s), ElementsAre("drain 1"));
}

TEST_F(ClusterAutoscalerTest, APoolKeepsItsMinimum) {
  add_nodes(3);
  put(0, 1);
  put(1, 4);
  begin("", 2);
  EXPECT_THAT(run_until(kFirst + 10_min), ElementsAre("remove_nodes 2"));
  remove(2);
  EXPECT_THAT(run_until(1_h), IsEmpty());
}

TEST_F(ClusterAutoscalerTest, NothingGoesForTenMinutesAfterNodesWereAskedFor) {
  add_nodes(4);
  put(0, 1);
  put(1, 4);
  put(2, 8);
  begin("", 0, 1);
  EXPECT_THAT(run_until(9_min), IsEmpty());
  const JobId waits = board.add_job(FakeBoard::gpus(8), {NodeId{}});
  board.without_node = {{pod_of(waits), board.clock}};
  EXPECT_THAT(run_until(9_min + 10_s), ElementsAre("add_nodes 3"));
  board.pool_states[NodeId{3}] = PoolNodeState::Member;
  board.scaled[0].size = 4;
  board.scaled[0].unregistered = 0;
  board.without_node.clear();
  board.state.set_up(NodeId{3}, true);
  board.place_later(pod_of(waits), NodeId{3});
  EXPECT_THAT(run_until(19_min), IsEmpty());
  EXPECT_THAT(run_until(19_min + 10_s), ElementsAre("drain 0"));
}

TEST_F(ClusterAutoscalerTest, ExpendablePodsNeitherHoldANodeNorCount) {
  add_nodes(2);
  put(0, 8, {}, -11);
  put(1, 4);
  begin();
  EXPECT_THAT(run_until(kFirst + 10_min), ElementsAre("remove_nodes 0"));
  EXPECT_EQ(std::get<RemoveNodes>(autoscaler->last.ordered()[0].action).lost_below, -10);
}

TEST_F(ClusterAutoscalerTest, ExpendablePodsMakeRoom) {
  add_nodes(2);
  put(0, 3);
  put(1, 4);
  put(1, 4, {}, -11);
  begin();
  EXPECT_THAT(run_until(kFirst + 10_min), ElementsAre("drain 0"));
}

TEST_F(ClusterAutoscalerTest, WithTooManyNodesNotReadyNothingGoes) {
  add_nodes(8);
  for (uint32_t node = 0; node < 4; ++node) board.not_ready.insert(NodeId{node});
  begin();
  EXPECT_THAT(run_until(2_h), IsEmpty());
}

TEST_F(ClusterAutoscalerTest, NodesThatAreNotReadyAreNotDrained) {
  add_nodes(8);
  for (uint32_t node = 0; node < 8; ++node) put(node, node < 1 ? 1 : 4);
  board.not_ready.insert(NodeId{0});
  begin();
  EXPECT_THAT(run_until(2_h), IsEmpty());
}

// Node 0 is already down, so its removal does not change the cluster state. The autoscaler must see
// the removal in the state of the pool.
TEST_F(ClusterAutoscalerTest, ADeadNodeIsRemovedOnce) {
  add_nodes(2);
  put(1, 8);
  begin();
  board.state.set_up(NodeId{0}, false);
  board.not_ready.insert(NodeId{0});
  EXPECT_THAT(run_until(kFirst + 20_min), ElementsAre("remove_nodes 0"));
  remove(0);
  EXPECT_THAT(run_until(2_h), IsEmpty());
}

TEST_F(ClusterAutoscalerTest, ArgumentsAreChecked) {
  EXPECT_EQ(complaints_of_controller("ClusterAutoscaler", "{}"), "");
  EXPECT_THAT(
      complaints_of_controller("ClusterAutoscaler", "{scale_down: {utilization_threshold: 1.5}}"),
      ::testing::HasSubstr("utilization_threshold"));
  EXPECT_THAT(complaints_of_controller("ClusterAutoscaler", "{scan_interval: 10s}"),
              ::testing::HasSubstr("scan_interval"));
}

}  // namespace
}  // namespace orrery
