#include "models/telemetry/useful_curve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/core/check.hpp"
#include "sim/core/rng.hpp"

namespace orrery {
namespace {

using ::testing::ElementsAre;

constexpr JobId kCurveJob{3};

Time curve_time(int64_t seconds) { return Time{} + 1_s * seconds; }

WorkDone eight_gpus(int64_t from, int64_t to) {
  return {kCurveJob, {}, curve_time(from), curve_time(to), int128_t{8000} * (1_s * (to - from)).ns};
}
int128_t eight_gpu_time(int64_t seconds) { return int128_t{8000} * (1_s * seconds).ns; }

// GPU seconds by interval.
std::vector<double> curve_rows(const UsefulCurve& curve, size_t intervals) {
  std::vector<double> rows;
  curve.for_each(intervals,
                 [&](int128_t computed) { rows.push_back(static_cast<double>(computed) / 1e18); });
  return rows;
}

TEST(UsefulCurve, WhatIsKeptIsBookedToTheTimeInWhichItWasDone) {
  UsefulCurve curve{60_s};
  curve.work_done(eight_gpus(0, 100));
  EXPECT_THAT(curve_rows(curve, 3), ElementsAre(0, 0, 0)) << "a failure may still undo it";
  curve.work_settled({.job = kCurveJob, .pod = {}, .kept = eight_gpu_time(100)});
  curve.work_done(eight_gpus(110, 150));
  curve.work_settled({.job = kCurveJob, .pod = {}, .lost = eight_gpu_time(40)});
  EXPECT_THAT(curve_rows(curve, 3), ElementsAre(480, 320, 0));
}

TEST(UsefulCurve, TheOldestIsKeptAndTheLatestLost) {
  UsefulCurve curve{10_s};
  curve.work_done(eight_gpus(0, 20));
  curve.work_done(eight_gpus(40, 60));
  curve.work_settled({.job = kCurveJob, .pod = {}, .lost = eight_gpu_time(10)});
  curve.work_settled({.job = kCurveJob, .pod = {}, .kept = eight_gpu_time(30)});
  EXPECT_THAT(curve_rows(curve, 6), ElementsAre(80, 80, 0, 0, 80, 0));
}

TEST(UsefulCurve, RunsOfJobsAndOfPodsAreApart) {
  UsefulCurve curve{10_s};
  const PodId pod{kCurveJob.index};
  curve.work_done(eight_gpus(0, 10));
  curve.work_done({kCurveJob, pod, curve_time(10), curve_time(20), eight_gpu_time(5)});
  curve.work_settled({.job = kCurveJob, .pod = {}, .lost = eight_gpu_time(10)});
  curve.work_settled({.job = kCurveJob, .pod = pod, .kept = eight_gpu_time(5)});
  EXPECT_THAT(curve_rows(curve, 2), ElementsAre(0, 40));
}

TEST(UsefulCurve, TheLastRowHasAllThatComesAfterTheOthers) {
  UsefulCurve curve{10_s};
  curve.work_done(eight_gpus(0, 50));
  curve.work_settled({.job = kCurveJob, .pod = {}, .kept = eight_gpu_time(50)});
  EXPECT_THAT(curve_rows(curve, 2), ElementsAre(80, 320));
  EXPECT_THAT(curve_rows(curve, 7), ElementsAre(80, 80, 80, 80, 80, 0, 0));
}

TEST(UsefulCurve, AnInstantBetweenTwoIntervalsEndsTheFirst) {
  UsefulCurve curve{10_s};
  curve.work_done(
      // Rounding may book 1000 milli-GPU-nanoseconds of work to a span of length 0.
      {kCurveJob, {}, curve_time(10), curve_time(10), 1000});
  curve.work_done({kCurveJob, {}, curve_time(10), curve_time(10), -400});
  curve.work_settled({.job = kCurveJob, .pod = {}, .kept = 600});
  double sum = 0;
  for (const double row : curve_rows(curve, 1)) sum += row;
  EXPECT_DOUBLE_EQ(sum, 600e-12);
}

TEST(UsefulCurve, APaceThatChangesForWeeksTakesBoundedMemoryAndKeepsTheSum) {
  UsefulCurve curve{60_s};
  constexpr size_t kHours = 24 * 28;
  int128_t all = 0;
  const auto merged_before = mark_count("telemetry.useful_pieces_merged");
  for (int64_t minute = 0; minute < int64_t{kHours} * 60;
       minute += 2) {  // the job computes in every second minute
    curve.work_done(eight_gpus(minute * 60, minute * 60 + 60));
    all += eight_gpu_time(60);
  }
  EXPECT_GT(mark_count("telemetry.useful_pieces_merged"), merged_before);
  curve.work_settled({.job = kCurveJob, .pod = {}, .kept = all});
  const std::vector<double> rows = curve_rows(curve, kHours * 60);
  double sum = 0;
  for (size_t hour = 0; hour < kHours; hour += 2) {
    double two_hours = 0;
    for (size_t i = 0; i < 120; ++i) two_hours += rows[hour * 60 + i];
    EXPECT_NEAR(two_hours, 8 * 3600, 8 * 360) << "hour " << hour;
    sum += two_hours;
  }
  EXPECT_NEAR(sum, 8.0 * kHours * 1800, 1e-3);
}

// Random histories of one run. No row may be negative or above 8 GPUs, and the rows must add up to
// the compute that is kept in the end.
TEST(UsefulCurve, IsWhatRemainsOfAnyHistory) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng{seed};
    UsefulCurve curve{30_s};
    int128_t unsaved = 0, kept = 0;
    Time now;
    for (int i = 0; i < 100; ++i) {
      const Time from = now + rng.exponential(20_s), to = from + 1_ns + rng.exponential(50_s);
      now = to;
      const auto milli = static_cast<int64_t>(rng.below(8001));
      const int128_t done = int128_t{milli} * (to - from).ns;
      if (done > 0) curve.work_done({kCurveJob, {}, from, to, done});
      unsaved += done;
      if (unsaved > 0 && rng.chance(0.2)) {
        const auto part = static_cast<int64_t>(rng.below(1'000'001));
        const int128_t settled = rng.chance(0.3) ? unsaved : unsaved * part / 1'000'000;
        unsaved -= settled;
        const bool is_kept = rng.chance(0.6);
        if (is_kept) kept += settled;
        curve.work_settled({kCurveJob, {}, is_kept ? settled : 0, is_kept ? 0 : settled});
      }
    }
    double sum = 0;
    for (const double row : curve_rows(curve, static_cast<size_t>((now - Time{}) / 30_s) + 1)) {
      EXPECT_GE(row, 0);
      EXPECT_LE(row, 8 * 30 * (1 + 1e-9));
      sum += row;
    }
    EXPECT_NEAR(sum, static_cast<double>(kept) * 1e-12, 1e-9 * sum);
  }
}

}  // namespace
}  // namespace orrery
