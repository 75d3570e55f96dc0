// GangDefragmenter: which gangs it suspends to make room for a large one, and when they resume.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/fake_board.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class GangDefragmenterTest : public ::testing::Test {
 protected:
  static JobView gang(JobPhase phase) {
    JobView view;
    view.phase = phase;
    view.is_gang = true;
    return view;
  }
  // Adds a running gang of one pod. A suspension would lose `unsaved` of the gang's compute.
  JobId add_small(int32_t gpus, uint32_t node, Duration unsaved, int32_t priority = 0) {
    PodSpec spec = FakeBoard::gpus(gpus);
    spec.priority = priority;
    const JobId job = board.add_job(spec, {NodeId{node}}, gang(JobPhase::Running));
    board.not_saved[job] = unsaved;
    return job;
  }
  JobId add_large(size_t pods, int32_t priority = 0) {
    PodSpec spec = FakeBoard::gpus(8);
    spec.priority = priority;
    return board.add_job(spec, std::vector<NodeId>(pods), gang(JobPhase::Pending));
  }
  // Four nodes of 8 GPUs. On each node, a gang holds 4 GPUs. The gang on node i has 4 - i minutes
  // of unsaved compute.
  void half_full() {
    for (int i = 0; i < 4; ++i) board.add_node();
    for (uint32_t i = 0; i < 4; ++i) add_small(4, i, Duration{(4 - i) * Duration{1_min}.ns});
  }
  void wait(Duration span) { board.clock = board.clock + span; }
  // Suspends the job, as the executor and the job controller of a run would.
  void suspend(JobId job) {
    board.all.at(job).is_suspended = true;
    board.all.at(job).phase = JobPhase::Pending;
    board.remove(board.all.at(job).first_pod);
  }
  FakeBoard board;
};

TEST_F(GangDefragmenterTest, TheCheapestGangsAreSuspendedOnceTheLimitIsOver) {
  half_full();
  add_large(2);
  FakeController controller{board, "GangDefragmenter", "{wait_limit: 30min}"};
  wait(29_min);
  EXPECT_THAT(controller.tick(), IsEmpty());
  wait(1_min);
  EXPECT_THAT(controller.tick(), ElementsAre("suspend 2", "suspend 3"));
  EXPECT_EQ(controller.last.ordered().front().why, "makes room for job 4, which waits for 30 min");
}

TEST_F(GangDefragmenterTest, GangsThatWriteACheckpointLoseNothing) {
  half_full();
  for (const uint32_t job : {0U, 1U}) board.all.at({job}).has_checkpoints = true;
  add_large(2);
  wait(30_min);
  EXPECT_THAT((FakeController{board, "GangDefragmenter"}.tick()),
              ElementsAre("suspend 0", "suspend 1"));
}

TEST_F(GangDefragmenterTest, SuspendedGangsAreResumedOnceTheLargeOneHasStarted) {
  half_full();
  const JobId large = add_large(2);
  FakeController controller{board, "GangDefragmenter"};
  wait(30_min);
  ASSERT_THAT(controller.tick(), SizeIs(2));
  EXPECT_THAT(controller.tick(), IsEmpty()) << "the suspensions are on their way";
  suspend({2});
  suspend({3});
  EXPECT_THAT(controller.tick(), IsEmpty()) << "the large gang waits";
  board.all.at(large).phase = JobPhase::Starting;
  EXPECT_THAT(controller.tick(), ElementsAre("resume 2", "resume 3"));
  board.all.at({2}).is_suspended = false;
  EXPECT_THAT(controller.tick(), ElementsAre("resume 3")) << "its checkpoint was still written";
  board.all.at({3}).is_suspended = false;
  EXPECT_THAT(controller.tick(), IsEmpty());
}

TEST_F(GangDefragmenterTest, SuspendedGangsAreResumedIfTheLargeOneDoesNotStart) {
  half_full();
  add_large(2);
  FakeController controller{board, "GangDefragmenter", "{give_up_after: 20min}"};
  wait(30_min);
  ASSERT_THAT(controller.tick(), SizeIs(2));
  EXPECT_EQ(controller.last.wakes_at(), board.clock + 20_min);
  suspend({2});
  suspend({3});
  wait(19_min);
  EXPECT_THAT(controller.tick(), IsEmpty());
  wait(1_min);
  EXPECT_THAT(controller.tick(), ElementsAre("resume 2", "resume 3"));
}

TEST_F(GangDefragmenterTest, GangsOfHigherPriorityOrAsLargeStay) {
  for (int i = 0; i < 2; ++i) board.add_node();
  add_small(4, 0, 1_min, 10);
  board.add_job(FakeBoard::gpus(4), {NodeId{1}}, gang(JobPhase::Running));
  add_large(2, 5);
  wait(30_min);
  EXPECT_THAT((FakeController{board, "GangDefragmenter", "{may_wait: true}"}.tick()), IsEmpty());
}

TEST_F(GangDefragmenterTest, NothingIsSuspendedInVain) {
  half_full();
  add_large(3);  // the one node left has no room for the three suspended gangs
  wait(30_min);
  EXPECT_THAT((FakeController{board, "GangDefragmenter"}.tick()), IsEmpty());
  EXPECT_THAT((FakeController{board, "GangDefragmenter", "{may_wait: true}"}.tick()),
              ElementsAre("suspend 1", "suspend 2", "suspend 3"));
  EXPECT_THAT((FakeController{board, "GangDefragmenter", "{may_wait: true, moved_max: 2}"}.tick()),
              IsEmpty());
}

TEST_F(GangDefragmenterTest, GangsThatAreNotNeededAreLeftAlone) {
  for (int i = 0; i < 3; ++i) board.add_node();
  // The large gang needs two nodes. Suspending the gang on nodes 1 and 2 frees both. Freeing node 0
  // would suspend two more gangs.
  add_small(2, 0, 1_min);
  add_small(2, 0, 1_min);
  const JobId wide =
      board.add_job(FakeBoard::gpus(2), {NodeId{1}, NodeId{2}}, gang(JobPhase::Running));
  board.not_saved[wide] = 10_min;
  add_large(2);
  wait(30_min);
  EXPECT_THAT((FakeController{board, "GangDefragmenter"}.tick()), ElementsAre("suspend 2"));
}

TEST_F(GangDefragmenterTest, GangsWithRoomOrHeldOrSmallAreNotHelped) {
  half_full();
  const JobId large = add_large(2);
  wait(30_min);
  board.held.insert(large);
  EXPECT_THAT((FakeController{board, "GangDefragmenter"}.tick()), IsEmpty());
  board.held.clear();
  EXPECT_THAT((FakeController{board, "GangDefragmenter", "{gpus_min: 17}"}.tick()), IsEmpty());
  suspend({0});
  suspend({1});
  EXPECT_THAT((FakeController{board, "GangDefragmenter"}.tick()), IsEmpty())
      << "two nodes are free: another thing keeps it from starting";
}

TEST_F(GangDefragmenterTest, ASearchInVainIsRepeatedLater) {
  half_full();
  const JobId large = add_large(2);
  FakeController controller{board, "GangDefragmenter", "{retry_after: 10min}"};
  wait(30_min);
  board.held.insert(large);
  EXPECT_THAT(controller.tick(), IsEmpty());
  board.held.clear();
  wait(9_min);
  EXPECT_THAT(controller.tick(), IsEmpty());
  wait(1_min);
  EXPECT_THAT(controller.tick(), SizeIs(2));
}

}  // namespace
}  // namespace orrery
