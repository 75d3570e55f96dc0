#include "models/telemetry/job_statistics.hpp"

#include <algorithm>
#include <limits>

namespace orrery {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();  // of no job

// The smallest value that at least `percent` of the values do not exceed.
double quantile(std::vector<float>& values, size_t percent) {
  if (values.empty()) return kNone;
  const size_t rank = (values.size() * percent + 99) / 100;  // from 1
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::ranges::nth_element(values, at);
  return *at;
}

}  // namespace

void JobStatistics::job_arrived(JobId job) {
  if (job.index >= has_run_.size()) has_run_.resize(jobs_.jobs_bound());
  has_run_[job.index] = false;
}

void JobStatistics::phase_changed(JobId job, JobPhase after) {
  const double since = (sim_.engine.now() - jobs_.job(job).submitted).seconds();
  if (after == JobPhase::Running && !has_run_[job.index]) {
    has_run_[job.index] = true;
    waits_.push_back(static_cast<float>(since));
    wait_sum_ += since;
  } else if (after == JobPhase::Completed) {
    completions_.push_back(static_cast<float>(since));
    completion_sum_ += since;
  }
}

void JobStatistics::add_summary(Recorder& recorder) {
  const auto mean = [](double sum, size_t n) {
    return n == 0 ? kNone : sum / static_cast<double>(n);
  };
  recorder.add_summary("wait_mean", mean(wait_sum_, waits_.size()), "s",
                       "mean time from submission until a job first runs, of jobs that ran");
  recorder.add_summary("wait_p50", quantile(waits_, 50), "s", "its median");
  recorder.add_summary("wait_p99", quantile(waits_, 99), "s", "its 99th percentile");
  recorder.add_summary("jct_mean", mean(completion_sum_, completions_.size()), "s",
                       "mean time from submission until completion, of completed jobs");
  recorder.add_summary("jct_p50", quantile(completions_, 50), "s", "its median");
  recorder.add_summary("jct_p99", quantile(completions_, 99), "s", "its 99th percentile");
}

}  // namespace orrery
