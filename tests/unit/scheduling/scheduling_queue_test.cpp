#include "models/scheduling/queue/scheduling_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace orrery {
namespace {

using Place = SchedulingQueue::Place;

class QueueOfPods {
 public:
  explicit QueueOfPods(QueueParams params = {})
      : queue{params,
              [](const QueuedUnit& a, const QueuedUnit& b) { return a.priority > b.priority; },
              [this](uint8_t plugin, PodId pod, const ClusterEvent&) {
                hinted.push_back(pod);
                return plugin == deaf_plugin ? QueueHint::Skip : QueueHint::Queue;
              },
              [](GangId) { return Time{-1}; }} {}

  static QueuedUnit unit(uint32_t pod, int32_t priority = 0) {
    QueuedUnit made;
    made.pod = {pod};
    made.priority = priority;
    return made;
  }
  void add(uint32_t pod, int32_t priority = 0, uint32_t spec = 0) {
    queue.add(unit(pod, priority), {spec});
  }
  int pop(Time now) {
    const auto unit = queue.pop(now);
    return unit ? static_cast<int>(unit->pod.index) : -1;
  }
  void fail(uint32_t pod, Time now, uint32_t plugins = 1, uint32_t pending = 0) {
    queue.fail({pod}, now, plugins, pending);
  }

  std::vector<PodId> hinted;
  uint8_t deaf_plugin = UINT8_MAX;
  SchedulingQueue queue;
};

constexpr ClusterEvent kDeleted{ClusterEventKind::AssignedPodDeleted, {}, {}, {}};
constexpr Time at(Duration since_start) { return Time{} + since_start; }

TEST(SchedulingQueue, PopsByPriorityThenByArrival) {
  QueueOfPods pods;
  pods.add(0);
  pods.add(1, 5);
  pods.add(2);
  pods.add(3, 5);
  for (const int expected : {1, 3, 0, 2, -1}) EXPECT_EQ(pods.pop({}), expected);
}

// The backoffs of case SCH-2 of tests/validation.
TEST(SchedulingQueue, BackoffDoublesFromOneSecondToTen) {
  std::vector<int64_t> seconds;
  for (int32_t n = 1; n <= 6; ++n) {
    seconds.push_back(SchedulingQueue::backoff({}, n).ns / 1'000'000'000);
  }
  EXPECT_EQ(seconds, (std::vector<int64_t>{1, 2, 4, 8, 10, 10}));
}

TEST(SchedulingQueue, AnEventSendsAPodToBackoffUntilAWholeSecond) {
  QueueOfPods pods{{.pop_from_backoff = false}};
  pods.add(0);
  ASSERT_EQ(pods.pop(at(1500_ms)), 0);
  pods.fail(0, at(1500_ms));
  EXPECT_EQ(pods.queue.place({0}), Place::Unschedulable);
  pods.queue.move_for(kDeleted, at(1600_ms));
  EXPECT_EQ(pods.queue.place({0}), Place::Backoff);
  // 1.5 s + 1 s of backoff = 2.5 s, rounded down to a whole second.
  EXPECT_EQ(pods.queue.next_flush(at(1600_ms)), at(2_s));
  pods.queue.flush(at(1999_ms));
  EXPECT_EQ(pods.pop(at(1999_ms)), -1);
  pods.queue.flush(at(2_s));
  EXPECT_EQ(pods.pop(at(2_s)), 0);
}

TEST(SchedulingQueue, AnEventAfterTheBackoffSendsAPodStraightToActive) {
  QueueOfPods pods;
  pods.add(0);
  pods.pop({});
  pods.fail(0, {});
  pods.queue.move_for(kDeleted, at(5_s));
  EXPECT_EQ(pods.queue.place({0}), Place::Active);
}

TEST(SchedulingQueue, PopsFromBackoffOnlyWhenNothingIsActive) {
  QueueOfPods pods;
  pods.add(0, 9);
  pods.add(1);
  ASSERT_EQ(pods.pop(at(10_ms)), 0);
  pods.fail(0, at(10_ms));
  pods.queue.move_for(kDeleted, at(10_ms));
  EXPECT_EQ(pods.pop(at(20_ms)), 1);
  EXPECT_EQ(pods.pop(at(10_ms)), -1) << "not at the instant of its failure";
  EXPECT_EQ(pods.pop(at(20_ms)), 0);
}

TEST(SchedulingQueue, ErrorsSitOutTheirBackoffAndNoEventHelps) {
  QueueOfPods pods;
  pods.add(0);
  pods.pop({});
  pods.fail(0, {}, 0);
  EXPECT_EQ(pods.queue.place({0}), Place::ErrorBackoff);
  pods.queue.move_for(kDeleted, at(10_ms));
  EXPECT_EQ(pods.pop(at(20_ms)), -1);
  pods.queue.flush(at(1_s));
  EXPECT_EQ(pods.pop(at(1_s)), 0);
}

TEST(SchedulingQueue, ARejectionClearsTheCountOfErrorsButNotOfRejections) {
  QueueOfPods pods{{.pop_from_backoff = false}};
  pods.add(0);
  Time now;
  const auto wait_after_failure = [&](uint32_t plugins) {
    EXPECT_EQ(pods.pop(now), 0);
    pods.fail(0, now, plugins);
    if (plugins != 0) pods.queue.move_for(kDeleted, now);
    const Time next = pods.queue.next_flush(now);
    const int64_t seconds = (next.ns - now.ns) / 1'000'000'000;
    pods.queue.flush(now = next);
    return seconds;
  };
  EXPECT_EQ(wait_after_failure(1), 1);  // first rejection
  EXPECT_EQ(wait_after_failure(0), 1);  // first error
  EXPECT_EQ(wait_after_failure(0), 2);
  EXPECT_EQ(wait_after_failure(1), 2);  // second rejection
  EXPECT_EQ(wait_after_failure(0), 1);
}

TEST(SchedulingQueue, OneHintSpeaksForABucketOfAlikePods) {
  QueueOfPods pods;
  for (uint32_t i = 0; i < 5; ++i) pods.add(i, 0, i < 3 ? 7 : 8);
  for (int i = 0; i < 5; ++i) pods.fail(static_cast<uint32_t>(pods.pop({})), {});
  pods.queue.move_for(kDeleted, at(5_s));
  EXPECT_EQ(pods.hinted.size(), 2u);
  EXPECT_EQ(pods.queue.active(), 5u);
}

TEST(SchedulingQueue, AnyPluginThatRejectedMayBeHelped) {
  QueueOfPods pods;
  pods.deaf_plugin = 0;
  pods.add(0);
  pods.add(1);
  pods.pop({});
  pods.pop({});
  pods.fail(0, {}, 0b01);
  pods.fail(1, {}, 0b11);
  pods.queue.move_for(kDeleted, at(5_s));
  EXPECT_EQ(pods.queue.place({0}), Place::Unschedulable);
  EXPECT_EQ(pods.queue.place({1}), Place::Active);
}

TEST(SchedulingQueue, APendingPluginSkipsTheBackoff) {
  QueueOfPods pods;
  pods.add(0);
  pods.add(1);
  pods.pop({});
  pods.pop({});
  pods.fail(0, {}, 0b1, 0b1);
  pods.fail(1, {}, 0b1);
  pods.queue.move_for(kDeleted, at(1_ms));
  EXPECT_EQ(pods.queue.place({0}), Place::Active);
  EXPECT_EQ(pods.queue.place({1}), Place::Backoff);
}

// Case SCH-2: a pod that has been unschedulable for 5 minutes moves at the next multiple of 30 s,
// and at no earlier flush.
TEST(SchedulingQueue, LeftoversMoveAtTheFirstTickAfterFiveMinutes) {
  QueueOfPods pods;
  pods.add(0);
  pods.pop(at(7_s));
  pods.fail(0, at(7_s));
  EXPECT_EQ(pods.queue.next_flush(at(7_s)), at(330_s));
  pods.queue.flush(at(329_s));
  EXPECT_EQ(pods.queue.place({0}), Place::Unschedulable);
  pods.queue.flush(at(330_s));
  EXPECT_EQ(pods.queue.place({0}), Place::Active);
}

TEST(SchedulingQueue, ARemovedPodIsForgottenWhereverItWas) {
  QueueOfPods pods;
  for (uint32_t i = 0; i < 4; ++i) pods.add(i);
  for (uint32_t i = 0; i < 3; ++i) pods.pop({});
  pods.fail(0, {});
  pods.fail(1, {}, 0);
  pods.fail(2, {});
  pods.queue.activate({2}, at(1_ms));
  for (uint32_t i = 0; i < 4; ++i) pods.queue.remove({i});
  EXPECT_EQ(pods.queue.size(), 0u);
  EXPECT_EQ(pods.queue.next_flush({}), Time::max());
  EXPECT_EQ(pods.pop(at(600_s)), -1);
  pods.add(0);  // another pod with the same id: its first failure has the shortest backoff
  pods.pop({});
  pods.fail(0, {}, 0);
  EXPECT_EQ(pods.queue.next_flush({}), at(1_s));
}

TEST(SchedulingQueue, GatedPodsStandAside) {
  QueueOfPods pods;
  pods.queue.gate(QueueOfPods::unit(3), {});
  EXPECT_EQ(pods.queue.gated(), 1u);
  EXPECT_EQ(pods.pop({}), -1);
  pods.queue.activate({3}, at(1_ms));
  EXPECT_EQ(pods.queue.place({3}), Place::Gated) << "only PreEnqueue opens the gate";
  pods.add(3);
  EXPECT_EQ(pods.queue.gated(), 0u);
  EXPECT_EQ(pods.pop({}), 3);
}

TEST(SchedulingQueue, GatedUnitsAndNoOthersAreVisitedInTheOrderOfTheirPods) {
  QueueOfPods pods;
  const auto visited = [&] {
    std::vector<uint32_t> units;
    pods.queue.for_each_gated([&](PodId unit) { units.push_back(unit.index); });
    return units;
  };
  for (const uint32_t pod : {8u, 3u, 5u, 1'000'000u, 0u}) {
    pods.queue.gate(QueueOfPods::unit(pod), {});
  }
  for (const uint32_t pod : {1u, 2u, 4u, 6u}) pods.add(pod);
  // Pod 1 is unschedulable, pods 2, 4 and 6 are active.
  pods.fail(static_cast<uint32_t>(pods.pop({})), {});
  EXPECT_EQ(visited(), (std::vector<uint32_t>{0, 3, 5, 8, 1'000'000}));
  pods.queue.gate(QueueOfPods::unit(5), {});  // no effect: unit 5 is gated already
  pods.add(3);
  pods.queue.remove({8});
  pods.queue.gate(QueueOfPods::unit(6), {});
  EXPECT_EQ(visited(), (std::vector<uint32_t>{0, 5, 6, 1'000'000}));
  EXPECT_EQ(pods.queue.gated(), 4u);
}

TEST(SchedulingQueue, APodPutBackKeepsItsPlace) {
  QueueOfPods pods{{.head_of_line = HeadOfLine::Block}};
  pods.add(0);
  pods.add(1);
  ASSERT_EQ(pods.pop({}), 0);
  pods.queue.put_back({0});
  EXPECT_EQ(pods.pop(at(1_s)), 0);
}

TEST(SchedulingQueue, AUnitThatIsGatedNoMoreStandsWhereItCameFirst) {
  QueueOfPods pods;
  QueuedUnit gated = QueueOfPods::unit(7);
  gated.queued = at(1_s);
  pods.queue.gate(gated, {});
  pods.add(3);
  gated.queued = at(9_s);
  pods.queue.add(gated, {});
  const auto first = pods.queue.pop(at(9_s));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->pod, PodId{7});
  EXPECT_EQ(first->queued, at(1_s));
  EXPECT_EQ(pods.pop(at(9_s)), 3);
}

TEST(SchedulingQueue, AUnitIsTakenFromWhereverItStandsButNotWhenItIsGated) {
  QueueOfPods pods;
  for (uint32_t pod = 0; pod < 3; ++pod) pods.add(pod);
  EXPECT_EQ(pods.pop({}), 0);
  pods.fail(0, {});
  pods.queue.gate(QueueOfPods::unit(3), {0});
  EXPECT_EQ(pods.queue.place({0}), Place::Unschedulable);
  for (const uint32_t pod : {0u, 2u}) EXPECT_EQ(pods.queue.take({pod})->pod, PodId{pod});
  EXPECT_FALSE(pods.queue.take({2})) << "it stands in no queue any more";
  EXPECT_FALSE(pods.queue.take({3}));
  EXPECT_FALSE(pods.queue.take({9}));
  EXPECT_EQ(pods.queue.front(), PodId{1});
  EXPECT_EQ(pods.pop({}), 1);
  EXPECT_FALSE(pods.queue.front().is_valid());
}

// A queue with two gangs of three pods. The test sets `failed`, the time of a gang's last failure,
// while the gang's pods are queued.
class QueueOfGangs {
 public:
  QueueOfGangs()
      : queue{
            {},
            [](const QueuedUnit& a, const QueuedUnit& b) { return a.gang_failed < b.gang_failed; },
            [](uint8_t, PodId, const ClusterEvent&) { return QueueHint::Queue; },
            [this](GangId gang) { return failed[gang.index]; }} {
    for (uint32_t pod = 0; pod < 6; ++pod) {
      QueuedUnit unit;
      unit.pod = {pod};
      unit.gang = {pod / 3};
      queue.add(unit, {0});
    }
  }
  std::vector<uint32_t> pop_all() {
    std::vector<uint32_t> order;
    while (const auto unit = queue.pop({})) order.push_back(unit->pod.index);
    return order;
  }
  std::vector<Time> failed{Time{-1}, Time{-1}};
  SchedulingQueue queue;
};

TEST(SchedulingQueue, AFailureMovesTheMembersThatAlreadyStandInLineBack) {
  QueueOfGangs gangs;
  gangs.failed[0] = Time{5};
  EXPECT_EQ(gangs.queue.front(), PodId{3});
  EXPECT_EQ(gangs.queue.pop({})->pod, PodId{3});
  gangs.failed[1] = Time{7};
  EXPECT_EQ(gangs.pop_all(), (std::vector<uint32_t>{0, 1, 2, 4, 5}));
}

TEST(SchedulingQueue, AForgottenFailureMovesThemForwardAgain) {
  QueueOfGangs gangs;
  gangs.failed = {Time{5}, Time{3}};
  EXPECT_EQ(gangs.queue.pop({})->pod, PodId{3});
  gangs.failed[0] = Time{-1};
  for (uint32_t pod = 0; pod < 3; ++pod) gangs.queue.gang_recovered({pod});
  EXPECT_EQ(gangs.pop_all(), (std::vector<uint32_t>{0, 1, 2, 4, 5}));
}

}  // namespace
}  // namespace orrery
