// Fair shares of time on several GPU models, by hand and against a search through all shares. Also
// linear programs.
#include "models/scheduling/toolbox/fair_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "models/scheduling/toolbox/linear_program.hpp"
#include "sim/core/rng.hpp"

namespace orrery {
namespace {

using Term = LinearProgram::Term;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

double value_of(const FairTimeJob& job, const std::vector<double>& gpus,
                const std::vector<double>& x) {
  double speed = 0, mean = 0, all = 0;
  for (size_t k = 0; k < gpus.size(); ++k) {
    speed += x[k] * job.speed[k];
    mean += gpus[k] * job.speed[k];
    all += gpus[k];
  }
  return job.gpus * speed / (job.weight * mean / all);
}

// Checks that the shares of time `found.x` respect the constraints of the cluster, and that
// `found.value` is the smallest of the jobs' values.
void expect_sound(const std::vector<FairTimeJob>& jobs, const std::vector<double>& gpus,
                  const FairTime& found) {
  std::vector<double> used(gpus.size());
  double least = kInfinite;
  for (size_t j = 0; j < jobs.size(); ++j) {
    double time = 0;
    for (size_t k = 0; k < gpus.size(); ++k) {
      EXPECT_GE(found.x[j][k], 0);
      time += found.x[j][k];
      used[k] += found.x[j][k] * jobs[j].gpus;
    }
    EXPECT_LE(time, 1 + 1e-7);
    least = std::min(least, value_of(jobs[j], gpus, found.x[j]));
  }
  for (size_t k = 0; k < gpus.size(); ++k) EXPECT_LE(used[k], gpus[k] + 1e-7);
  EXPECT_NEAR(least, found.value, 1e-6 * std::max(1.0, found.value));
}

TEST(LinearProgram, ASmallOneHasTheValueFoundByHand) {
  // The maximum of 3x + 5y for x <= 4, 2y <= 12, 3x + 2y <= 18 is at x = 2, y = 6.
  LinearProgram program;
  const int32_t x = program.add_column(3), y = program.add_column(5);
  program.add_row(std::vector<Term>{{x, 1}}, {-kInfinite, 4});
  program.add_row(std::vector<Term>{{y, 2}}, {-kInfinite, 12});
  program.add_row(std::vector<Term>{{x, 3}, {y, 2}}, {-kInfinite, 18});
  const auto solution = program.solve();
  ASSERT_TRUE(solution.has_value());
  EXPECT_NEAR(solution->value, 36, 1e-9);
  program.add_row(std::vector<Term>{{x, 1}}, {5, kInfinite});
  EXPECT_FALSE(program.solve().has_value()) << "x is at most 4";
}

TEST(LinearProgram, WithoutABoundThereIsNoSolution) {
  LinearProgram program;
  program.add_column(1);
  EXPECT_FALSE(program.solve().has_value());
}

TEST(FairTime, OnOneModelJobsRiseTogetherUntilTheyRunAllTheTime) {
  // The value of a job is its GPUs times the share of time that it runs. The small job runs all the
  // time, so its value is 1. The other two share the remaining three GPUs: 4 * 3/8 = 1.5 each.
  const std::vector<FairTimeJob> jobs{
      {.gpus = 1, .speed = {1}}, {.gpus = 4, .speed = {1}}, {.gpus = 4, .speed = {1}}};
  const std::vector<double> gpus{4};
  const FairTime found = max_min_time(jobs, gpus);
  EXPECT_NEAR(found.value, 1, 1e-12);
  EXPECT_NEAR(found.x[0][0], 1, 1e-12);
  EXPECT_NEAR(found.x[1][0], 3.0 / 8, 1e-12);
  EXPECT_NEAR(found.x[2][0], 3.0 / 8, 1e-12);
}

TEST(FairTime, TwiceTheWeightIsTwiceTheTime) {
  const std::vector<FairTimeJob> jobs{{.gpus = 1, .weight = 2, .speed = {1}},
                                      {.gpus = 1, .weight = 1, .speed = {1}}};
  const FairTime found = max_min_time(jobs, std::vector<double>{1});
  EXPECT_NEAR(found.x[0][0], 2.0 / 3, 1e-12);
  EXPECT_NEAR(found.x[1][0], 1.0 / 3, 1e-12);
}

// One GPU of each model. Job A has the speeds 1 and 3, with the mean 2. Job B has the speed 1 on
// both. A job's value is its speed divided by its mean speed. If A always runs on the second model
// and B on the first, their values are 3/2 and 1. B's value cannot exceed 1, so the maximised least
// value is 1.
TEST(FairTime, EachJobIsSentWhereItGainsMost) {
  const std::vector<FairTimeJob> jobs{{.gpus = 1, .speed = {1, 3}}, {.gpus = 1, .speed = {1, 1}}};
  const std::vector<double> gpus{1, 1};
  const FairTime found = max_min_time(jobs, gpus);
  EXPECT_NEAR(found.value, 1, 1e-7);
  expect_sound(jobs, gpus, found);
  EXPECT_NEAR(value_of(jobs[0], gpus, found.x[0]), 1.5, 1e-6) << "what is left is not wasted";
}

// Three jobs share two GPUs, one of each model. Every job has the speeds 1 and 2, with the
// mean 1.5. The speeds of the two GPUs add up to 3, so each job runs at speed 1.
TEST(FairTime, AlikeJobsShareTheSpeedOfTheWholeCluster) {
  const std::vector<FairTimeJob> jobs(3, {.gpus = 1, .speed = {1, 2}});
  const std::vector<double> gpus{1, 1};
  const FairTime found = max_min_time(jobs, gpus);
  EXPECT_NEAR(found.value, 1 / 1.5, 1e-7);
  expect_sound(jobs, gpus, found);
}

TEST(FairTime, AJobLargerThanAModelHasNoTimeOnIt) {
  const std::vector<FairTimeJob> jobs{{.gpus = 4, .speed = {1, 5}}};
  const FairTime found = max_min_time(jobs, std::vector<double>{8, 2});
  EXPECT_EQ(found.x[0][1], 0);
  EXPECT_NEAR(found.x[0][0], 1, 1e-9);
}

// Two jobs share one GPU. A job's rho is the time from its submission to its end, divided by its
// run time on half of the GPU, 200 s. If neither job has waited, each gets half, and both have
// rho 1. If the first job has waited 100 s and gets the share x, both jobs have the same rho when
// (100 + 100 / x) / 200 = (100 / (1 - x)) / 200. So x is 0.618.
TEST(FairTime, WhoWaitedHasMoreTimeToFinish) {
  std::vector<FairTimeJob> jobs(2, {.gpus = 1, .speed = {1}, .left = 100});
  const std::vector<double> gpus{1};
  EXPECT_NEAR(finish_time(jobs, gpus).value, 1, 2e-4);
  jobs[0].elapsed = 100;
  const FairTime found = finish_time(jobs, gpus);
  EXPECT_NEAR(found.x[0][0], 0.618, 1e-3);
  EXPECT_NEAR(found.value, (100 / (1 - 0.618034)) / 200, 1e-3);
}

TEST(FairTime, FinishTimesAreTheSameByProgramAndByHand) {
  // Two GPU models of equal speed, with one GPU each, must give the same result as one model with
  // two GPUs. With one model, no linear program is used.
  std::vector<FairTimeJob> jobs(3, {.gpus = 1, .speed = {1, 1}, .left = 100});
  jobs[1].left = 1000;
  jobs[2].elapsed = 300;
  const double two = finish_time(jobs, std::vector<double>{1, 1}).value;
  for (FairTimeJob& job : jobs) job.speed = {1};
  EXPECT_NEAR(finish_time(jobs, std::vector<double>{2}).value, two, 5e-4 * two);
}

TEST(FairTime, JobsThatFitOnNoModelGetNone) {
  const std::vector<double> gpus{0.6, 0.4};
  const std::vector<FairTimeJob> jobs{{.gpus = 0.7, .speed = {1, 2}},
                                      {.gpus = 0.1, .speed = {0, 0}}};
  for (const FairTime& found : {max_min_time(jobs, gpus), finish_time(jobs, gpus)}) {
    EXPECT_EQ(found.x, (std::vector<std::vector<double>>{{0, 0}, {0, 0}}));
  }
}

// Tries all shares of two jobs in steps of 1/16. The objective is the smaller of the two jobs'
// values. The largest objective found must be close to that of max_min_time(), but not above it.
TEST(FairTime, NoShareOfRandomSmallClustersIsBetter) {
  Rng rng = RngStreams{7}.stream("fair_time");
  constexpr int kSteps = 16;
  for (int run = 0; run < 16; ++run) {
    std::vector<FairTimeJob> jobs(2);
    for (FairTimeJob& job : jobs) {
      job = {.gpus = 1.0 + static_cast<double>(rng.below(3)),
             .weight = 1.0 + static_cast<double>(rng.below(2)),
             .speed = {0.5 + rng.uniform(), 0.5 + 2 * rng.uniform()}};
    }
    const std::vector<double> gpus{3.0 + static_cast<double>(rng.below(2)), 3};
    const FairTime found = max_min_time(jobs, gpus);
    expect_sound(jobs, gpus, found);
    double best = 0;
    for (int code = 0; code < 17 * 17 * 17 * 17; ++code) {
      const auto part = [&](int i) {
        int rest = code;
        for (; i > 0; --i) rest /= kSteps + 1;
        return static_cast<double>(rest % (kSteps + 1)) / kSteps;
      };
      const double a0 = part(0), a1 = part(1), b0 = part(2), b1 = part(3);
      if (a0 + a1 > 1 || b0 + b1 > 1) continue;
      if (jobs[0].gpus * a0 + jobs[1].gpus * b0 > gpus[0] + 1e-9) continue;
      if (jobs[0].gpus * a1 + jobs[1].gpus * b1 > gpus[1] + 1e-9) continue;
      best = std::max(
          best, std::min(value_of(jobs[0], gpus, {a0, a1}), value_of(jobs[1], gpus, {b0, b1})));
    }
    EXPECT_LE(best, found.value * (1 + 1e-6)) << "run " << run;
    EXPECT_GE(best, found.value * (1 - 3.0 / kSteps)) << "run " << run;
  }
}

}  // namespace
}  // namespace orrery
