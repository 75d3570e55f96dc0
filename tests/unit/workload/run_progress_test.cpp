#include "models/workload/run_progress.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sim/core/rng.hpp"

namespace orrery {
namespace {

constexpr CheckpointPlan kPlan{.interval = 10_s, .write = 2_s};

TEST(RunProgress, TheCheckpointCycleGoesOnWhenThePaceChanges) {
  RunProgress run;
  resume(run, {});
  RunTerms terms{100_s, kPlan, {}};
  EXPECT_EQ(advance(run, terms, Time{} + 6_s).useful, 0_s);
  EXPECT_EQ(run.unsaved, 6_s);
  terms.pace = Pace::of_step(1_s, 2_s);  // twice as long; half of the time is exchanges
  // 4 s of compute are left until the checkpoint: 8 s; it is written at 14 s and done at 16 s.
  const RunSpans spans = advance(run, terms, Time{} + 16_s);
  EXPECT_EQ(spans.useful, 10_s);
  EXPECT_EQ(spans.exchange, 4_s);
  EXPECT_EQ(spans.checkpoint, 2_s);
  EXPECT_EQ(run.saved, 10_s);
  EXPECT_EQ(run.unsaved, 0_s);
  EXPECT_EQ(time_left(run, terms), 180_s + 16_s);
}

TEST(RunProgress, AWriteIsNotStretchedAndGoesOnWhereItWas) {
  RunProgress run;
  resume(run, {});
  RunTerms terms{100_s, kPlan, Pace::of_millionths(500'000)};
  advance(run, terms, Time{} + 21_s);
  EXPECT_EQ(run.half_written, 1_s);
  terms.pace = {};
  EXPECT_EQ(advance(run, terms, Time{} + 22_s).checkpoint, 1_s);
  EXPECT_EQ(run.saved, 10_s);
  EXPECT_EQ(run.half_written, 0_s);
}

TEST(RunProgress, ARunThatStandsStillFinishesItsWriteAndWaits) {
  RunProgress run;
  resume(run, {});
  RunTerms terms{100_s, kPlan, {}};
  advance(run, terms, Time{} + 11_s);
  terms.pace = Pace::of_step(1_s, Duration::max());
  EXPECT_EQ(time_left(run, terms), Duration::max());
  const RunSpans spans = advance(run, terms, Time{} + 20_s);
  EXPECT_EQ(spans.checkpoint, 1_s);
  EXPECT_EQ(spans.exchange, 8_s);
  EXPECT_EQ(run.saved, 10_s);
  EXPECT_EQ(run.unsaved, 0_s);
}

TEST(RunProgress, AFailureLosesWhatNoCheckpointKeeps) {
  RunProgress run;
  resume(run, {});
  const RunTerms terms{100_s, kPlan, {}};
  advance(run, terms, Time{} + 15_s);
  EXPECT_EQ(run.unsaved_from, Time{} + 12_s);
  EXPECT_EQ(lose(run).lost, 3_s);
  EXPECT_EQ(run.done(), 10_s);
}

TEST(RunProgress, ASnapshotKeepsWhatWasDoneWhenItWasTaken) {
  RunProgress run;
  resume(run, {});
  const RunTerms terms{100_s, {}, {}};
  advance(run, terms, Time{} + 10_s);
  const Snapshot taken = snapshot(run);
  advance(run, terms, Time{} + 15_s);
  EXPECT_EQ(save(run, taken).useful, 10_s);
  EXPECT_EQ(run.saved, 10_s);
  EXPECT_EQ(run.done(), 15_s);
  EXPECT_EQ(lose(run).lost, 5_s);
}

// Random paces at random times: time is spent on something, work gets done, and a run at paces
// that divide evenly ends when the sum of its stretches says.
TEST(RunProgress, EveryNanosecondIsAccountedForAtWhateverPaces) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng{seed};
    const Duration work{static_cast<int64_t>(1 + rng.below(5000))};
    const CheckpointPlan plan{{static_cast<int64_t>(rng.below(300))},
                              {static_cast<int64_t>(rng.below(40))}};
    RunTerms terms{work, plan, {}};
    RunProgress run;
    resume(run, {});
    RunSpans total;
    Time now;
    int64_t pieces = 0;
    while (run.done() < work) {
      const int64_t slow = static_cast<int64_t>(rng.below(5));
      terms.pace = slow == 0 ? Pace::of_step({1}, Duration::max()) : Pace::of_step({1}, {slow});
      const Duration left = time_left(run, terms);
      Duration piece{static_cast<int64_t>(1 + rng.below(700))};
      piece = std::min(piece, left);
      now = now + piece;
      total = total + advance(run, terms, now);
      ++pieces;
      ASSERT_LE(run.done(), work);
      ASSERT_LT(pieces, 100'000);
    }
    total = total + keep(run);
    EXPECT_EQ(total.useful + total.lost + total.checkpoint + total.exchange, now - Time{});
    EXPECT_EQ(run.saved, work);
    EXPECT_NEAR(static_cast<double>(total.useful.ns), static_cast<double>(work.ns),
                static_cast<double>(pieces));
    EXPECT_EQ(total.checkpoint, plan.write * checkpoints_of(work, plan));
  }
}

}  // namespace
}  // namespace orrery
