#include "models/workload/training/training_progress.hpp"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr CheckpointPlan kShortPlan{.interval = 10_s, .write = 2_s};

TEST(TrainingProgress, TheLastStretchHasNoCheckpointAfterIt) {
  EXPECT_EQ(checkpoints_of(Duration{}, kShortPlan), 0);
  EXPECT_EQ(checkpoints_of(10_s, kShortPlan), 0);
  EXPECT_EQ(checkpoints_of(10_s + 1_ns, kShortPlan), 1);
  EXPECT_EQ(checkpoints_of(20_s, kShortPlan), 1);
  EXPECT_EQ(checkpoints_of(20_s + 1_ns, kShortPlan), 2);
  EXPECT_EQ(checkpoints_of(20_s, {}), 0);
}

TEST(TrainingProgress, ARunTakesItsWorkAndItsCheckpoints) {
  EXPECT_EQ(run_time(25_s, kShortPlan), 29_s);
  EXPECT_EQ(run_time(20_s, kShortPlan), 22_s);
  EXPECT_EQ(run_time(20_s, {}), 20_s);
  EXPECT_EQ(run_time(Duration::max(), {.interval = 1_ns, .write = 1_h}), Duration::max());
}

TEST(TrainingProgress, TheComputeFractionLeavesOutTheWriting) {
  EXPECT_DOUBLE_EQ(compute_fraction(Duration::max(), kShortPlan), 10.0 / 12.0);
  EXPECT_DOUBLE_EQ(compute_fraction(9_s, kShortPlan), 1.0) << "none is due";
  EXPECT_DOUBLE_EQ(compute_fraction(25_s, kShortPlan), 25.0 / 29.0);
  EXPECT_DOUBLE_EQ(compute_fraction(25_s, {}), 1.0);
}

}  // namespace
}  // namespace orrery
