#include "models/workload/sources/distributions.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

using SizeClass = PublishedJobs::SizeClass;

// Each row is {maximum GPUs, GPUs drawn, % of jobs, % of GPU time}. The percentages are cumulative.
// Almost all jobs have a power of two of GPUs. The publications omit the largest size; its row is
// the rest up to 100 %. Jobs of 513 to 1,023 GPUs are drawn with 768. The share of jobs above 512
// GPUs is divided between 768 and 1,024 GPUs. Each size's part is proportional to its GPU time /
// its number of GPUs.
constexpr SizeClass kHelios[] = {
    {1, 1, 72.2, 5.4},    {2, 2, 74.7, 7.2},      {4, 4, 80.5, 12.1},
    {8, 8, 94.7, 41.3},   {16, 16, 97.7, 61.5},   {32, 32, 99.4, 86.6},
    {64, 64, 99.7, 94.4}, {128, 128, 99.9, 97.5}, {256, 256, 100, 100}};
constexpr SizeClass kPhilly[] = {{1, 1, 82.4, 16.4}, {2, 2, 84.5, 19.4},   {4, 4, 92.0, 38.2},
                                 {8, 8, 98.9, 88.0}, {16, 16, 99.8, 97.2}, {32, 32, 100, 100}};
constexpr SizeClass kSeren[] = {
    {1, 1, 54.0, 1.3},      {2, 2, 65.4, 1.8},         {4, 4, 67.9, 2.4},
    {8, 8, 96.7, 11.9},     {16, 16, 97.9, 13.2},      {32, 32, 98.8, 19.1},
    {64, 64, 99.3, 27.6},   {128, 128, 99.6, 41.7},    {256, 256, 99.7, 56.3},
    {512, 512, 99.8, 66.9}, {1023, 768, 99.937, 87.4}, {1024, 1024, 100, 100}};
constexpr SizeClass kKalos[] = {
    {1, 1, 86.3, 0.2},      {2, 2, 88.4, 0.2},         {4, 4, 88.4, 0.2},
    {8, 8, 93.9, 0.6},      {16, 16, 94.3, 0.6},       {32, 32, 94.7, 2.0},
    {64, 64, 95.3, 3.3},    {128, 128, 95.7, 3.7},     {256, 256, 96.9, 24.9},
    {512, 512, 98.1, 50.4}, {1023, 768, 98.748, 64.3}, {1024, 1024, 100, 100}};

// The traces cover 183 days (Helios), 137 days (Philly) and 184 days (Seren and Kalos). A month has
// 30 days.
constexpr PublishedJobs kPublished[] = {
    {.sizes = kHelios,
     .duration_percent = {10.7, 24.9, 56.6, 75.2, 87.5, 94.4, 97.8, 99.5},
     .duration_mean_s = 6652,
     .duration_max_s = 4.32e6,
     .gpus_mean = 3.72,
     .jobs_per_month = 1'580'464 * 30.0 / 183,
     .cancelled_percent = 22.1,
     .failed_percent = 15.5},
    {.sizes = kPhilly,
     .duration_percent = {3.6, 18.9, 31.5, 54.9, 79.3, 90.3, 94.9, 98.4},
     .duration_mean_s = 18'006,
     .duration_max_s = 4.24e6,
     .gpus_mean = 1.93,
     .jobs_per_month = 112'956 * 30.0 / 137,
     .cancelled_percent = 9.0,
     .failed_percent = 30.5},
    {.sizes = kSeren,
     .duration_percent = {23.4, 37.1, 65.6, 88.0, 96.0, 98.4, 99.6, 99.9},
     .duration_mean_s = 1414,
     .duration_max_s = 1.21e6,
     .gpus_mean = 5.68,
     .jobs_per_month = 663'813 * 30.0 / 184,
     .cancelled_percent = 7.5,
     .failed_percent = 42.9},
    {.sizes = kKalos,
     .duration_percent = {1.5, 38.2, 69.1, 85.9, 97.1, 99.1, 99.7, 99.9},
     .duration_mean_s = 1260,
     .duration_max_s = 6.3e5,
     .gpus_mean = 26.77,
     .jobs_per_month = 19'907 * 30.0 / 184,
     .cancelled_percent = 6.2,
     .failed_percent = 39.7},
};

constexpr double kShortestS = 1;
constexpr int kRounds = 2000;
constexpr double kTiltMax = 60;
// The tilt decides whether jobs of a size run for minutes or hours. It has the same effect on all
// bins from number 5 on (beyond 4,096 s), so the distribution of longer durations has the same
// shape for all sizes. Otherwise the few longest jobs would all have the largest size, and one draw
// would decide a month's GPU time.
constexpr size_t kTiltedBins = 5;
// The share of GPU time assumed for a size whose published share is rounded to 0.0 %: half of the
// largest share that rounds to 0.0 %.
constexpr double kRoundedAwayPercent = 0.025;

double log_uniform_mean(double low, double high) { return (high - low) / std::log(high / low); }

}  // namespace

const PublishedJobs& published_jobs(JobSizePreset preset) {
  return kPublished[static_cast<size_t>(preset)];
}

double JobSizeModel::Bin::mean_s() const { return log_uniform_mean(low_s, high_s); }

JobSizeModel::JobSizeModel(const PublishedJobs& published) {
  build_bins(published);
  build_sizes(published);
  solve();
}

const JobSizeModel& JobSizeModel::preset(JobSizePreset preset) {
  static const std::array<JobSizeModel, 4> models = {
      JobSizeModel{kPublished[0]}, JobSizeModel{kPublished[1]}, JobSizeModel{kPublished[2]},
      JobSizeModel{kPublished[3]}};
  return models[static_cast<size_t>(preset)];
}

// The last bin has no published end. Its end, at most the longest published duration, is chosen so
// that the mean of all durations equals the published mean. For Seren and Kalos every end
// gives a mean above the published one, so the last bin ends at 1.05 times its start.
void JobSizeModel::build_bins(const PublishedJobs& published) {
  double low = kShortestS;
  double percent_below = 0;
  double mean = 0;
  for (size_t i = 0; i < kPublishedDurationsS.size(); ++i) {
    bins_.push_back({low, kPublishedDurationsS[i]});
    bin_shares_.push_back((published.duration_percent[i] - percent_below) / 100);
    mean += bin_shares_.back() * bins_.back().mean_s();
    low = kPublishedDurationsS[i];
    percent_below = published.duration_percent[i];
  }
  const double rest = 1 - percent_below / 100;
  ORRERY_CHECK(rest > 0, "some jobs must be longer than the last abscissa");
  const double wanted = (published.duration_mean_s - mean) / rest;
  double shortest = low * 1.05;
  double longest = published.duration_max_s;
  for (int i = 0; i < 100; ++i) {
    const double middle = (shortest + longest) / 2;
    (log_uniform_mean(low, middle) < wanted ? shortest : longest) = middle;
  }
  bins_.push_back({low, longest});
  bin_shares_.push_back(rest);
}

// Let jobs of g GPUs be a share p of all jobs and use a share s of all GPU time. Their mean
// duration is s * G / (p * g), where G is the mean GPU time of a job. G is chosen so that the mean
// duration over the sizes equals the mean over the bins. Example: jobs with 8 GPUs are 10 % of the
// jobs and use 40 % of the GPU time. With G = 2 GPU hours they run for 0.4 * 2 / (0.1 * 8) = 1 h.
void JobSizeModel::build_sizes(const PublishedJobs& published) {
  double mean = 0;
  for (size_t j = 0; j < bins_.size(); ++j) mean += bin_shares_[j] * bins_[j].mean_s();
  std::vector<double> time_shares;
  double sum = 0;
  double jobs_before = 0;
  double time_before = 0;
  for (const SizeClass& size : published.sizes) {
    const double jobs = size.count_percent - jobs_before;
    const double time = std::max(size.gpu_time_percent - time_before, kRoundedAwayPercent);
    jobs_before = size.count_percent;
    time_before = size.gpu_time_percent;
    if (jobs <= 0) continue;
    sizes_.push_back({.gpus = size.gpus_drawn, .share = jobs / 100, .mean_s = 0, .bins = {}});
    time_shares.push_back(time);
    sum += time / size.gpus_drawn;
  }
  for (size_t i = 0; i < sizes_.size(); ++i) {
    sizes_[i].mean_s = time_shares[i] / sizes_[i].gpus / sum * mean / sizes_[i].share;
  }
}

// Sets p(bin | size) proportional to weight(bin) * exp(tilt * min(bin, kTiltedBins)). A bisection
// finds the tilt with which the mean duration is size.mean_s. The mean grows with the tilt.
void JobSizeModel::tilt_to_mean(Size& size, const std::vector<double>& weights) const {
  double low = -kTiltMax;
  double high = kTiltMax;
  for (int step = 0; step < 60; ++step) {
    size.tilt = (low + high) / 2;
    // exp() gets no positive argument and never overflows, because bins are counted from the end
    // that the tilt favours.
    const size_t from = size.tilt > 0 ? kTiltedBins : 0;
    double total = 0;
    double mean = 0;
    for (size_t j = 0; j < bins_.size(); ++j) {
      const double distance =
          static_cast<double>(std::min(j, kTiltedBins)) - static_cast<double>(from);
      size.bins[j] = weights[j] * std::exp(size.tilt * distance);
      total += size.bins[j];
      mean += size.bins[j] * bins_[j].mean_s();
    }
    for (double& share : size.bins) share /= total;
    (mean / total < size.mean_s ? low : high) = size.tilt;
  }
}

void JobSizeModel::solve() {
  std::vector<double> weights = bin_shares_;
  for (Size& size : sizes_) size.bins.assign(bins_.size(), 0);
  for (int round = 0; round < kRounds; ++round) {
    for (Size& size : sizes_) tilt_to_mean(size, weights);
    double worst = 0;
    for (size_t j = 0; j < bins_.size(); ++j) {
      double share = 0;
      for (const Size& size : sizes_) share += size.share * size.bins[j];
      worst = std::max(worst, std::abs(share - bin_shares_[j]));
      weights[j] *= bin_shares_[j] / share;
    }
    if (worst < 1e-7) break;
  }
}

JobSizeModel::Draw JobSizeModel::draw(Rng& rng) const {
  double left = rng.uniform();
  size_t i = 0;
  while (i + 1 < sizes_.size() && left > sizes_[i].share) left -= sizes_[i++].share;
  const Size& size = sizes_[i];
  left = rng.uniform();
  size_t j = 0;
  while (j + 1 < bins_.size() && left > size.bins[j]) left -= size.bins[j++];
  const double ratio = bins_[j].high_s / bins_[j].low_s;
  return {.gpus = size.gpus,
          .duration = nearest_ns(bins_[j].low_s * std::pow(ratio, rng.uniform()))};
}

double JobSizeModel::count_share(int32_t gpus_max) const {
  double share = 0;
  for (const Size& size : sizes_) share += size.gpus <= gpus_max ? size.share : 0;
  return share;
}

double JobSizeModel::gpu_time_share(int32_t gpus_max) const {
  double below = 0;
  double all = 0;
  for (const Size& size : sizes_) {
    double mean = 0;
    for (size_t j = 0; j < bins_.size(); ++j) mean += size.bins[j] * bins_[j].mean_s();
    all += size.share * size.gpus * mean;
    below += size.gpus <= gpus_max ? size.share * size.gpus * mean : 0;
  }
  return below / all;
}

double JobSizeModel::duration_share(Duration span) const {
  double share = 0;
  for (size_t j = 0; j < bins_.size(); ++j) {
    double in_bin = 0;
    for (const Size& size : sizes_) in_bin += size.share * size.bins[j];
    const double position =
        std::log(span.seconds() / bins_[j].low_s) / std::log(bins_[j].high_s / bins_[j].low_s);
    share += in_bin * std::clamp(position, 0.0, 1.0);
  }
  return share;
}

Duration JobSizeModel::duration_mean() const {
  double mean = 0;
  for (const Size& size : sizes_) {
    for (size_t j = 0; j < bins_.size(); ++j) mean += size.share * size.bins[j] * bins_[j].mean_s();
  }
  return nearest_ns(mean);
}

double JobSizeModel::gpus_mean() const {
  double mean = 0;
  for (const Size& size : sizes_) mean += size.share * size.gpus;
  return mean;
}

}  // namespace orrery
