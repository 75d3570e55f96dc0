#include "models/workload/training/run_progress.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "sim/core/rng.hpp"

namespace orrery {
namespace {

constexpr CheckpointPlan kPlan{.interval = 10_s, .write = 2_s};

struct CutCase {
  Duration elapsed;
  int64_t checkpoints;
  Duration computing, unsaved, half_written;
};

TEST(RunProgress, AStopSavesWholeCheckpointsAndLosesTheRest) {
  const CutCase cases[] = {
      {0_s, 0, 0_s, 0_s, 0_s},
      {3_s, 0, 3_s, 3_s, 0_s},
      {10_s, 0, 10_s, 10_s, 0_s},
      {11_s, 0, 10_s, 10_s, 1_s},                // a half-written checkpoint
      {12_s - 1_ns, 0, 10_s, 10_s, 2_s - 1_ns},  // one nanosecond before the checkpoint is written
      {12_s, 1, 10_s, 0_s, 0_s},                 // the checkpoint is written
      {12_s + 1_ns, 1, 10_s + 1_ns, 1_ns, 0_s},
      {24_s, 2, 20_s, 0_s, 0_s},
      // The last 5 s of work, after which no checkpoint follows.
      {29_s - 1_ns, 2, 25_s - 1_ns, 5_s - 1_ns, 0_s},
      {29_s, 2, 25_s, 5_s, 0_s},
  };
  for (const CutCase& c : cases) {
    const RunCut cut = cut_run({}, {25_s, kPlan, {}}, c.elapsed);
    EXPECT_EQ(cut.checkpoints, c.checkpoints) << c.elapsed.ns;
    EXPECT_EQ(cut.to_last, kPlan.interval * c.checkpoints) << c.elapsed.ns;
    EXPECT_EQ(cut.computing, c.computing) << c.elapsed.ns;
    EXPECT_EQ(cut.unsaved, c.unsaved) << c.elapsed.ns;
    EXPECT_EQ(cut.half_written, c.half_written) << c.elapsed.ns;
  }
}

TEST(RunProgress, WorkThatDividesEvenlyEndsWithoutACheckpoint) {
  const RunCut cut = cut_run({}, {20_s, kPlan, {}}, 22_s);
  EXPECT_EQ(cut.checkpoints, 1);
  EXPECT_EQ(cut.unsaved, 10_s);
  EXPECT_EQ(cut.half_written, 0_s);
}

TEST(RunProgress, WithoutCheckpointsEverythingIsLost) {
  const RunCut cut = cut_run({}, {100_s, {}, {}}, 99_s);
  EXPECT_EQ(cut.checkpoints, 0);
  EXPECT_EQ(cut.unsaved, 99_s);
}

// With most paces, a nanosecond of work takes a fractional number of nanoseconds. The rounding
// must not depend on how often advance() is called.
TEST(RunProgress, IsWhereItWouldBeHoweverOftenItIsLookedAt) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng{seed};
    const auto ns = [&](uint64_t least, uint64_t most) {
      return Duration{static_cast<int64_t>(least + rng.below(most))};
    };
    const CheckpointPlan plan{rng.chance(0.7) ? ns(1, 200) : Duration{}, ns(0, 40)};
    const RunTerms terms{ns(1, 2000), plan, Pace::of_step(ns(1, 50), ns(1, 50))};
    RunProgress often, once;
    const Duration all = time_left(often, terms);
    EXPECT_EQ(cut_run(often, terms, all).unsaved,
              terms.work - plan.interval * checkpoints_of(terms.work, plan));
    for (Duration passed; passed < all; passed += ns(1, 30)) {
      RunProgress now = once;
      advance(now, terms, Time{} + passed);
      advance(often, terms, Time{} + passed);
      ASSERT_EQ(now.done(), often.done());
      ASSERT_EQ(now.half_written, often.half_written);
      ASSERT_EQ(now.rest, often.rest);
      ASSERT_EQ(time_left(often, terms), all - passed);
    }
  }
}

TEST(RunProgress, TheCheckpointCycleGoesOnWhenThePaceChanges) {
  RunProgress run;
  resume(run, {});
  RunTerms terms{100_s, kPlan, {}};
  EXPECT_EQ(advance(run, terms, Time{} + 6_s).useful, 0_s);
  EXPECT_EQ(run.unsaved, 6_s);
  change_pace(run);
  terms.pace = Pace::of_step(1_s, 2_s);  // a second of work takes 2 s
  // 4 s of compute are left until the checkpoint, and take 8 s. The checkpoint is written from 14 s
  // to 16 s.
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
  change_pace(run);
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
  change_pace(run);
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

// Random changes of pace at random times. Every nanosecond must be accounted for, and all work is
// saved in the end. Rounding may change the useful time by 1 ns between two changes of pace.
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
      change_pace(run);
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
