#include "models/workload/training_progress.hpp"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr CheckpointPlan kPlan{.interval = 10_s, .write = 2_s};

TEST(TrainingProgress, TheLastStretchHasNoCheckpointAfterIt) {
  EXPECT_EQ(checkpoints_of(Duration{}, kPlan), 0);
  EXPECT_EQ(checkpoints_of(10_s, kPlan), 0);
  EXPECT_EQ(checkpoints_of(10_s + 1_ns, kPlan), 1);
  EXPECT_EQ(checkpoints_of(20_s, kPlan), 1);
  EXPECT_EQ(checkpoints_of(20_s + 1_ns, kPlan), 2);
  EXPECT_EQ(checkpoints_of(20_s, {}), 0);
}

TEST(TrainingProgress, ARunTakesItsWorkAndItsCheckpoints) {
  EXPECT_EQ(run_time(25_s, kPlan), 29_s);
  EXPECT_EQ(run_time(20_s, kPlan), 22_s);
  EXPECT_EQ(run_time(20_s, {}), 20_s);
  EXPECT_EQ(run_time(Duration::max(), {.interval = 1_ns, .write = 1_h}), Duration::max());
}

struct CutCase {
  Duration elapsed;
  int64_t checkpoints;
  Duration saved, lost, wrote, half_written;
};

TEST(TrainingProgress, AStopSavesWholeCheckpointsAndLosesTheRest) {
  const CutCase cases[] = {
      {0_s, 0, 0_s, 0_s, 0_s, 0_s},
      {3_s, 0, 0_s, 3_s, 0_s, 0_s},
      {10_s, 0, 0_s, 10_s, 0_s, 0_s},
      {11_s, 0, 0_s, 10_s, 0_s, 1_s},                // a checkpoint half written
      {12_s - 1_ns, 0, 0_s, 10_s, 0_s, 2_s - 1_ns},  // all but written
      {12_s, 1, 10_s, 0_s, 2_s, 0_s},                // just written
      {12_s + 1_ns, 1, 10_s, 1_ns, 2_s, 0_s},
      {24_s, 2, 20_s, 0_s, 4_s, 0_s},
      {29_s - 1_ns, 2, 20_s, 5_s - 1_ns, 4_s, 0_s},  // the last stretch
      {29_s, 2, 20_s, 5_s, 4_s, 0_s},
  };
  for (const CutCase& c : cases) {
    const RunCut cut = cut_run(25_s, kPlan, c.elapsed);
    EXPECT_EQ(cut.checkpoints, c.checkpoints) << c.elapsed.ns;
    EXPECT_EQ(cut.saved, c.saved) << c.elapsed.ns;
    EXPECT_EQ(cut.lost, c.lost) << c.elapsed.ns;
    EXPECT_EQ(cut.wrote, c.wrote) << c.elapsed.ns;
    EXPECT_EQ(cut.half_written, c.half_written) << c.elapsed.ns;
  }
}

TEST(TrainingProgress, WorkThatDividesEvenlyEndsWithoutACheckpoint) {
  const RunCut cut = cut_run(20_s, kPlan, 22_s);
  EXPECT_EQ(cut.saved, 10_s);
  EXPECT_EQ(cut.lost, 10_s);
  EXPECT_EQ(cut.half_written, 0_s);
}

TEST(TrainingProgress, WithoutCheckpointsEverythingIsLost) {
  const RunCut cut = cut_run(100_s, {}, 99_s);
  EXPECT_EQ(cut.saved, 0_s);
  EXPECT_EQ(cut.lost, 99_s);
}

TEST(TrainingProgress, EveryNanosecondOfARunIsAccountedFor) {
  const CheckpointPlan plan{.interval = 7_ns, .write = 3_ns};
  for (int64_t work = 0; work < 40; ++work) {
    const Duration total = run_time({work}, plan);
    for (int64_t e = 0; e <= total.ns; ++e) {
      const RunCut cut = cut_run({work}, plan, {e});
      ASSERT_EQ(cut.saved + cut.lost + cut.wrote + cut.half_written, Duration{e});
      ASSERT_LE(cut.saved + cut.lost, Duration{work});
      ASSERT_LE(cut.lost, plan.interval);
    }
  }
}

TEST(TrainingProgress, CatchingUpPassesTheCheckpointsOnTheWay) {
  EXPECT_EQ(time_to_compute(0_s, kPlan), 0_s);
  EXPECT_EQ(time_to_compute(10_s, kPlan), 10_s);
  EXPECT_EQ(time_to_compute(11_s, kPlan), 13_s);
}

TEST(TrainingProgress, TheComputeFractionLeavesOutTheWriting) {
  EXPECT_DOUBLE_EQ(compute_fraction(Duration::max(), kPlan), 10.0 / 12.0);
  EXPECT_DOUBLE_EQ(compute_fraction(9_s, kPlan), 1.0) << "none is due";
  EXPECT_DOUBLE_EQ(compute_fraction(25_s, kPlan), 25.0 / 29.0);
  EXPECT_DOUBLE_EQ(compute_fraction(25_s, {}), 1.0);
}

}  // namespace
}  // namespace orrery
