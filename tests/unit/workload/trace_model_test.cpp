// Traces drawn from a model of a recorded trace; also quantiles and the Kolmogorov-Smirnov
// distance.
#include "models/workload/traces/synthesis/trace_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "models/workload/traces/synthesis/quantiles.hpp"

namespace orrery {
namespace {

using traces::ks_bound;
using traces::ks_distance;
using traces::Quantiles;

TEST(Quantiles, DrawsOfASmallSampleAreItsValuesAndThoseOfALargeOneKeepItsMean) {
  const Quantiles small{{3, 1, 2}};
  EXPECT_EQ(small.at(0), 1);
  EXPECT_EQ(small.at(0.5), 2);
  EXPECT_EQ(small.at(1), 3);
  std::vector<double> sample;
  for (int i = 0; i < 10'000; ++i) sample.push_back(i * i);
  const Quantiles large{sample};
  double sum = 0;
  for (size_t i = 0; i < Quantiles::kPointsMax; ++i) {
    sum += large.at((static_cast<double>(i) + 0.5) / Quantiles::kPointsMax);
  }
  EXPECT_NEAR(sum / Quantiles::kPointsMax, 9'999.0 * 19'999 / 6, 1e-3 * 3.3e7);
}

TEST(KolmogorovSmirnov, IsTheLargestDifferenceBetweenTheShares) {
  EXPECT_EQ(ks_distance({1, 2, 3, 4}, {4, 3, 2, 1}), 0);
  EXPECT_EQ(ks_distance({1, 2}, {3, 4}), 1);
  EXPECT_EQ(ks_distance({1, 1, 1, 2}, {1, 2, 2, 2}), 0.5);
  EXPECT_NEAR(ks_bound(100, 100), 1.358 * 0.14142, 1e-4);
}

// A model of two users. Each day, one submits a job of one GPU every ten minutes from 8 to 20 h,
// and the other submits four jobs of 32 GPUs at noon.
TraceModel two_users() {
  TraceModel model;
  std::vector<TraceJob> jobs;
  for (int64_t day = 0; day < 20; ++day) {
    for (int64_t i = 0; i < 72; ++i) {
      TraceJob job;
      job.submit = Time{} + 1_d * day + 8_h + 600_s * i;
      job.duration = 60_s * (1 + i % 5);
      job.gpus_per_pod = job.gpus_last_pod = 1;
      job.user = "small";
      job.status = i % 4 == 0 ? TraceStatus::Failed : TraceStatus::Completed;
      model.add(job);
      if (i != 24) continue;
      job.user = "large";
      job.status = TraceStatus::Completed;
      job.pods = 4;
      job.gpus_per_pod = job.gpus_last_pod = 8;
      job.duration = 1_d;
      for (int k = 0; k < 4; ++k) model.add(job);
    }
  }
  model.fit();
  return model;
}

TEST(TraceModel, ImitatesHoursUsersSizesAndDurations) {
  const TraceModel model = two_users();
  ASSERT_EQ(model.jobs(), 20 * 76);
  EXPECT_GT(model.user_repeats(), 0.5) << "of five jobs of the large user four follow one another";
  ModelledTrace trace{model, {.span = 400_d}};
  std::map<std::string, int64_t> users;
  int64_t jobs = 0, failed = 0, by_night = 0;
  Time last;
  while (const TraceJob* job = trace.next()) {
    ++jobs;
    ++users[std::string{job->user}];
    EXPECT_GE(job->submit, last);
    EXPECT_EQ(job->submit.ns % Duration{1_s}.ns, 0) << "the trace counts whole seconds";
    last = job->submit;
    const int64_t hour = job->submit.ns / Duration{1_h}.ns % 24;
    by_night += hour < 7 || hour > 20 ? 1 : 0;
    failed += job->status == TraceStatus::Failed ? 1 : 0;
    if (job->user == "large") {
      EXPECT_EQ(job->gpus(), 32);
      EXPECT_EQ(job->duration, 1_d);
    } else {
      EXPECT_EQ(job->gpus(), 1);
      EXPECT_LE(job->duration, 300_s);
    }
  }
  EXPECT_NEAR(static_cast<double>(jobs), 400 * 76, 0.05 * 400 * 76);
  EXPECT_EQ(by_night, 0);
  const auto share = [&](int64_t n) { return static_cast<double>(n) / static_cast<double>(jobs); };
  EXPECT_NEAR(share(users["large"]), 4.0 / 76, 0.02);
  EXPECT_NEAR(share(failed), 18.0 / 76, 0.02);
}

TEST(TraceModel, LoadSpanAndNumberOfJobsCanBeChosen) {
  const TraceModel model = two_users();
  const auto count = [&](TraceModelParams params) {
    ModelledTrace trace{model, params};
    int64_t jobs = 0;
    while (trace.next() != nullptr) ++jobs;
    return jobs;
  };
  EXPECT_EQ(count({.jobs_max = 100}), 100);
  const auto once = static_cast<double>(count({.span = 200_d}));
  EXPECT_NEAR(static_cast<double>(count({.load = 10, .span = 200_d})), 10 * once, 0.15 * 10 * once);
  EXPECT_NE(count({.seed = 1}), count({.seed = 2}));
  EXPECT_EQ(count({.seed = 3}), count({.seed = 3}));
}

TEST(TraceModel, JobsOfOneInstantStayAtOneInstant) {
  TraceModel model;
  TraceJob job;
  job.submit = Time{} + 5_s;
  for (int i = 0; i < 7; ++i) model.add(job);
  model.fit();
  ModelledTrace trace{model, {}};
  int64_t jobs = 0;
  for (; const TraceJob* made = trace.next(); ++jobs) EXPECT_EQ(made->submit, Time{} + 5_s);
  EXPECT_EQ(jobs, 7);
  TraceModel single;
  single.add(job);
  single.fit();
  ModelledTrace one{single, {.span = 1_d}};
  EXPECT_NE(one.next(), nullptr);
  EXPECT_EQ(one.next(), nullptr);
}

}  // namespace
}  // namespace orrery
