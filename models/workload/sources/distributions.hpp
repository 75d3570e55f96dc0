// models/workload/sources/distributions.hpp -- published distributions of job sizes and durations,
// and draws from them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/core/rng.hpp"
#include "sim/core/time.hpp"

namespace orrery {

enum class JobSizePreset : uint8_t { Helios, Philly, Seren, Kalos };
constexpr std::array<std::string_view, 4> enum_names(JobSizePreset) {
  return {"helios", "philly", "seren", "kalos"};
}

// How drawn jobs end: all with success, or with the published shares of cancellations and failures.
enum class PresetEnds : uint8_t { Completed, Published };
constexpr std::array<std::string_view, 2> enum_names(PresetEnds) {
  return {"completed", "published"};
}

// Statistics of one cluster's GPU jobs, from the AcmeTrace release (Hu et al., NSDI 2024):
// cluster_summary.csv and the distributions behind the paper's figures. Percentages are shares of
// jobs unless the name says otherwise.
struct PublishedJobs {
  // The shares are cumulative: they include all jobs with up to `gpus_max` GPUs. A job drawn from
  // the class has exactly `gpus_drawn` GPUs.
  struct SizeClass {
    int32_t gpus_max;
    int32_t gpus_drawn;
    double count_percent;
    double gpu_time_percent;
  };
  std::span<const SizeClass> sizes;
  std::array<double, 8> duration_percent;  // cumulative: jobs of up to 16, 64, 256, ... 262,144 s
  double duration_mean_s;
  double duration_max_s;
  double gpus_mean;
  double jobs_per_month;  // a month has 30 days
  double cancelled_percent, failed_percent;
};
inline constexpr std::array<double, 8> kPublishedDurationsS = {16,   64,    256,   1024,
                                                               4096, 16384, 65536, 262144};
const PublishedJobs& published_jobs(JobSizePreset preset);

// Draws the number of GPUs and the duration of a job. The draws reproduce three published
// distributions at once: of sizes, of durations, and of GPU time over sizes. The distribution of
// GPU time fixes the mean duration of each size.
//
// Durations fall into the bins between kPublishedDurationsS and are log-uniform inside a bin, so
// that their CDF is a straight line there on a log axis. The joint table p(size, bin) has the
// published shares of sizes and bins as its marginals:
//     p = a(size) * b(bin) * exp(tilt(size) * min(bin, 5))
// Factors a and b fit the marginals, and the tilt gives each size its mean duration. Without tilts,
// sizes and bins would be independent. Factors and tilts are adjusted in turn until they converge.
class JobSizeModel {
 public:
  struct Draw {
    int32_t gpus = 1;
    Duration duration;
  };

  explicit JobSizeModel(const PublishedJobs& published);
  static const JobSizeModel& preset(JobSizePreset preset);

  Draw draw(Rng& rng) const;

  // Expected shares and means of draws, for comparison with published figures.
  double count_share(int32_t gpus_max) const;     // share of jobs with at most `gpus_max` GPUs
  double gpu_time_share(int32_t gpus_max) const;  // share of GPU time that these jobs use
  double duration_share(Duration span) const;     // share of jobs that run for at most `span`
  Duration duration_mean() const;
  double gpus_mean() const;

 private:
  struct Bin {
    double low_s;
    double high_s;
    double mean_s() const;  // mean of the log-uniform distribution
  };
  struct Size {
    int32_t gpus;
    double share;   // share of jobs
    double mean_s;  // the mean duration, which the tilt must give
    double tilt = 0;
    std::vector<double> bins;  // p(bin | size)
  };

  void build_bins(const PublishedJobs& published);
  void build_sizes(const PublishedJobs& published);
  void solve();
  void tilt_to_mean(Size& size, const std::vector<double>& weights) const;

  std::vector<Bin> bins_;
  std::vector<double> bin_shares_;
  std::vector<Size> sizes_;
};

}  // namespace orrery
