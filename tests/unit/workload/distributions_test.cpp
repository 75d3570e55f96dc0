// Compares JobSizeModel with the published figures from which the model was made. The tests show
// that the model reproduces these figures, not that it predicts other figures.
#include "models/workload/sources/distributions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/core/enum_names.hpp"

namespace orrery {
namespace {

constexpr JobSizePreset kPresets[] = {JobSizePreset::Helios, JobSizePreset::Philly,
                                      JobSizePreset::Seren, JobSizePreset::Kalos};

// The largest absolute differences between the published shares and those of a model. The shares of
// a model are its expected shares, or the shares of jobs drawn from it.
struct Misfit {
  double count = 0;
  double gpu_time = 0;
  double duration = 0;
};

void widen(double& worst, double share, double percent) {
  worst = std::max(worst, std::abs(share - percent / 100));
}

Misfit expected_misfit(JobSizePreset preset) {
  const JobSizeModel& model = JobSizeModel::preset(preset);
  const PublishedJobs& published = published_jobs(preset);
  Misfit worst;
  for (const auto& size : published.sizes) {
    widen(worst.count, model.count_share(size.gpus_max), size.count_percent);
    widen(worst.gpu_time, model.gpu_time_share(size.gpus_max), size.gpu_time_percent);
  }
  for (size_t i = 0; i < kPublishedDurationsS.size(); ++i) {
    const Duration span = nearest_ns(kPublishedDurationsS[i]);
    widen(worst.duration, model.duration_share(span), published.duration_percent[i]);
  }
  return worst;
}

Misfit drawn_misfit(JobSizePreset preset, uint64_t seeds, double months_each) {
  const JobSizeModel& model = JobSizeModel::preset(preset);
  const PublishedJobs& published = published_jobs(preset);
  std::vector<double> count(published.sizes.size());
  std::vector<double> gpu_time(published.sizes.size());
  std::vector<double> duration(kPublishedDurationsS.size());
  double jobs = 0;
  double gpu_seconds = 0;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    Rng rng = RngStreams{seed}.stream("workload.sizes");
    const auto draws = static_cast<int>(published.jobs_per_month * months_each);
    jobs += draws;
    for (int k = 0; k < draws; ++k) {
      const JobSizeModel::Draw draw = model.draw(rng);
      const double seconds = draw.duration.seconds();
      gpu_seconds += draw.gpus * seconds;
      for (size_t i = 0; i < count.size(); ++i) {
        if (draw.gpus > published.sizes[i].gpus_max) continue;
        count[i] += 1;
        gpu_time[i] += draw.gpus * seconds;
      }
      for (size_t i = 0; i < duration.size(); ++i) {
        duration[i] += seconds <= kPublishedDurationsS[i] ? 1 : 0;
      }
    }
  }
  Misfit worst;
  for (size_t i = 0; i < count.size(); ++i) {
    widen(worst.count, count[i] / jobs, published.sizes[i].count_percent);
    widen(worst.gpu_time, gpu_time[i] / gpu_seconds, published.sizes[i].gpu_time_percent);
  }
  for (size_t i = 0; i < duration.size(); ++i) {
    widen(worst.duration, duration[i] / jobs, published.duration_percent[i]);
  }
  return worst;
}

TEST(JobSizeModel, ExpectedSharesAreThePublishedOnes) {
  for (const JobSizePreset preset : kPresets) {
    SCOPED_TRACE(std::string{name_of(preset)});
    const Misfit misfit = expected_misfit(preset);
    EXPECT_LT(misfit.count, 1e-9);
    EXPECT_LT(misfit.duration, 1e-6);
    // Kalos has sizes whose published GPU-time is rounded to zero. The model gives these sizes a
    // little GPU-time.
    EXPECT_LT(misfit.gpu_time, preset == JobSizePreset::Kalos ? 0.001 : 1e-6);
  }
}

// Tolerances of 0.03 are for the sampling error of ten months of draws.
TEST(JobSizeModel, TenMonthsOfDrawsKeepThePublishedShares) {
  for (const JobSizePreset preset : kPresets) {
    SCOPED_TRACE(std::string{name_of(preset)});
    const Misfit misfit = drawn_misfit(preset, 10, 1);
    EXPECT_LT(misfit.count, 0.03);
    EXPECT_LT(misfit.duration, 0.03);
    // A month of Kalos has 3,246 jobs. About ten of them run longer than 18 h and use half of the
    // GPU-time. So the shares of GPU-time in ten months have a sampling error of about 0.05.
    EXPECT_LT(misfit.gpu_time, preset == JobSizePreset::Kalos ? 0.12 : 0.03);
  }
}

TEST(JobSizeModel, TheGpuTimeOfKalosConvergesWithMoreJobs) {
  EXPECT_LT(drawn_misfit(JobSizePreset::Kalos, 10, 30).gpu_time, 0.03);
}

// The model's means differ from the published means, because the published percentages are rounded
// and do not say how values are spread within a class. The highest classes contribute much to the
// means.
TEST(JobSizeModel, MeansAreNearThePublishedOnes) {
  for (const JobSizePreset preset : kPresets) {
    SCOPED_TRACE(std::string{name_of(preset)});
    const JobSizeModel& model = JobSizeModel::preset(preset);
    const PublishedJobs& published = published_jobs(preset);
    EXPECT_NEAR(model.gpus_mean() / published.gpus_mean, 1, 0.21);
    EXPECT_NEAR(model.duration_mean().seconds() / published.duration_mean_s, 1, 0.2);
  }
}

TEST(JobSizeModel, OneSeedGivesOneSequence) {
  const JobSizeModel& model = JobSizeModel::preset(JobSizePreset::Seren);
  Rng a{7};
  Rng b{7};
  for (int i = 0; i < 1000; ++i) {
    const JobSizeModel::Draw x = model.draw(a);
    const JobSizeModel::Draw y = model.draw(b);
    ASSERT_EQ(x.gpus, y.gpus);
    ASSERT_EQ(x.duration, y.duration);
    ASSERT_GE(x.duration, Duration{1'000'000'000});
  }
}

}  // namespace
}  // namespace orrery
