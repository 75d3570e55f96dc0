// RetryRounds replaces many equal rounds of attempts by one slow round of the same total length.
// Tests when it detects that rounds repeat, how long the slow round lasts, and what ends it.
#include "models/scheduling/queue/retry_rounds.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sim/core/time.hpp"

namespace orrery {
namespace {

// A scheduler that is never idle. It tries the units (gangs or pods) of a round in turn, 100 ms
// each.
class TurningScheduler {
 public:
  explicit TurningScheduler(std::vector<uint64_t> round) : round_{std::move(round)} {}

  int64_t attempt() { return attempt(round_[next_++ % round_.size()]); }
  int64_t attempt(uint64_t unit) {
    const Time began = now;
    if (rounds.is_due()) rounds.begin(now, {next_event, 1000_s, attempts_max});
    const int64_t counts = rounds.factor();
    counted += counts;
    now = now + cost * counts;
    rounds.ran({unit, began, cost});
    return counts;
  }
  // Returns the number of calls of attempt() until `end`. A call may stand for many attempts. The
  // last call may end after `end`.
  int64_t run_until(Time end) {
    int64_t carried_out = 0;
    for (; now < end; ++carried_out) attempt();
    return carried_out;
  }

  RetryRounds rounds;
  Duration cost = 100_ms;
  Time now, next_event = Time::max();
  uint64_t attempts_max = UINT64_MAX;
  int64_t counted = 0;

 private:
  std::vector<uint64_t> round_;
  size_t next_ = 0;
};

TEST(RetryRounds, OneRoundStandsForManyAndEndsWhenTheyWould) {
  TurningScheduler scheduler{{1, 2, 3}};
  scheduler.next_event = Time{} + 100_s;
  const int64_t carried_out = scheduler.run_until(Time{} + 100_s);
  EXPECT_EQ(scheduler.counted, 1000);  // 100 s / 100 ms
  EXPECT_EQ(scheduler.now, Time{} + 100_s);
  // 32 rounds of three attempts are observed. One slow round then stands for most of the other
  // rounds, and at most five rounds run at the normal pace.
  EXPECT_LT(carried_out, 3 * (32 + 1 + 5));
}

TEST(RetryRounds, TheLastRoundBeforeAnEventIsOfTheUsualLength) {
  TurningScheduler scheduler{{1, 2, 3}};
  scheduler.next_event = Time{} + 100_s;
  scheduler.run_until(scheduler.next_event - 300_ms);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(scheduler.attempt(), 1);
}

TEST(RetryRounds, ARoundThatIsBrokenIsSearchedAgain) {
  TurningScheduler scheduler{{1, 2, 3}};
  scheduler.next_event = Time{} + 1000_s;
  while (scheduler.attempt() == 1) {
  }
  scheduler.attempt();
  scheduler.attempt();
  EXPECT_EQ(scheduler.attempt(7), 1);
  scheduler.next_event = Time{} + 5000_s;
  for (int i = 0; i < 90; ++i) EXPECT_EQ(scheduler.attempt(), 1) << i;
  int64_t longest = 1;
  for (int i = 0; i < 90; ++i) longest = std::max(longest, scheduler.attempt());
  EXPECT_GT(longest, 1);
}

TEST(RetryRounds, UnlikeAttemptsAreCarriedOutOneByOne) {
  TurningScheduler scheduler{{1}};
  for (uint64_t i = 0; i < 5000; ++i) EXPECT_EQ(scheduler.attempt(i), 1);
}

TEST(RetryRounds, APauseOfTheSchedulerEndsThem) {
  TurningScheduler scheduler{{1, 2}};
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(scheduler.attempt(), 1);
    if (i % 20 == 19) scheduler.now = scheduler.now + 1_ns;
  }
}

// A slow round may start only once two of the round's four attempts have been the first attempt of
// a second. 25 rounds of 40 ms take exactly one second. So each second begins with the same one of
// the four attempts, and no slow round starts. With rounds of 40.4 ms, seconds begin with different
// attempts.
TEST(RetryRounds, DifferentStepsBeginWholeSecondsFirst) {
  TurningScheduler scheduler{{1, 2, 3, 4}};
  scheduler.cost = 10_ms;
  scheduler.run_until(Time{} + 60_s);
  EXPECT_EQ(scheduler.counted, 6000);
  TurningScheduler drifting{{1, 2, 3, 4}};
  drifting.cost = 10'100_us;
  EXPECT_LT(drifting.run_until(Time{} + 60_s), 1000);
}

TEST(RetryRounds, AnEventHasARoundToShowItself) {
  TurningScheduler scheduler{{1, 2, 3}};
  scheduler.next_event = Time{} + 100_s;
  scheduler.run_until(Time{} + 100_s);
  scheduler.next_event = Time{} + 200_s;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(scheduler.attempt(), 1);
}

TEST(RetryRounds, NoMoreAreCountedThanMay) {
  TurningScheduler scheduler{{1, 2}};
  scheduler.attempts_max = 30;
  for (int i = 0; i < 500; ++i) EXPECT_LE(scheduler.attempt(), 15);
  EXPECT_GT(scheduler.counted, 500);
}

}  // namespace
}  // namespace orrery
