#include "models/workload/traces/trace_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

TraceStatistics::Distribution describe(std::vector<int64_t> values, double unit) {
  TraceStatistics::Distribution out;
  out.count = static_cast<int64_t>(values.size());
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  double sum = 0;
  for (const int64_t value : values) sum += static_cast<double>(value);
  out.mean = sum / unit / static_cast<double>(values.size());
  for (size_t i = 0; i < out.at.size(); ++i) {
    const double rank =
        std::ceil(TraceStatistics::kQuantiles[i] * static_cast<double>(values.size()));
    const auto index = static_cast<size_t>(std::max(rank, 1.0)) - 1;
    out.at[i] = static_cast<double>(values[index]) / unit;
  }
  return out;
}

}  // namespace

void TraceStatistics::add(const TraceJob& job) {
  submits_.push_back(job.submit.ns);
  durations_.push_back(job.duration.ns);
  if (job.wait_recorded.ns >= 0) waits_.push_back(job.wait_recorded.ns);
  if (job.requested_time.ns >= 0) requested_.push_back(job.requested_time.ns);
  StatusShare& share = statuses_[static_cast<size_t>(job.status)];
  ++share.jobs;
  share.gpu_seconds += static_cast<double>(job.gpu_milli_total()) / 1000 * job.duration.seconds();
  share.core_seconds += static_cast<double>(job.cpu_milli()) / 1000 * job.duration.seconds();
  if (job.gpus() > 0) {
    ++gpu_jobs_;
    gpu_milli_.push_back(job.gpu_milli_total());
  } else if (job.cpu_milli() > 0) {
    cpu_milli_.push_back(job.cpu_milli());
  }
  if (!job.user.empty()) users_.insert(job.user);
  if (!job.group.empty()) groups_.insert(job.group);
  if (!job.queue.empty()) queues_.insert(job.queue);
  if (!job.application.empty()) applications_.insert(job.application);
  with_deadline_ += job.deadline.ns >= 0 ? 1 : 0;
  chained_ += job.after >= 0 ? 1 : 0;
  const Time end = job.submit + std::max(job.wait_recorded, Duration{}) + job.duration;
  first_end_ = std::min(first_end_, end);
  last_end_ = std::max(last_end_, job.submit + job.duration);
}

int64_t TraceStatistics::before_first_end() const {
  return std::ranges::count_if(submits_, [this](int64_t ns) { return ns < first_end_.ns; });
}

double TraceStatistics::gpu_seconds() const {
  double sum = 0;
  for (const StatusShare& share : statuses_) sum += share.gpu_seconds;
  return sum;
}

double TraceStatistics::core_seconds() const {
  double sum = 0;
  for (const StatusShare& share : statuses_) sum += share.core_seconds;
  return sum;
}

Time TraceStatistics::first_submit() const { return Time{submits_.empty() ? 0 : submits_.front()}; }
Time TraceStatistics::last_submit() const { return Time{submits_.empty() ? 0 : submits_.back()}; }

TraceStatistics::Distribution TraceStatistics::durations() const {
  return describe(durations_, 1e9);
}
TraceStatistics::Distribution TraceStatistics::waits() const { return describe(waits_, 1e9); }
TraceStatistics::Distribution TraceStatistics::requested() const {
  return describe(requested_, 1e9);
}
TraceStatistics::Distribution TraceStatistics::gpus() const { return describe(gpu_milli_, 1e3); }
TraceStatistics::Distribution TraceStatistics::cores() const { return describe(cpu_milli_, 1e3); }

TraceStatistics::Distribution TraceStatistics::gaps() const {
  std::vector<int64_t> gaps;
  for (size_t i = 1; i < submits_.size(); ++i) gaps.push_back(submits_[i] - submits_[i - 1]);
  return describe(std::move(gaps), 1e9);
}

std::vector<int64_t> TraceStatistics::arrivals(size_t bins) const {
  std::vector<int64_t> counts(bins, 0);
  if (submits_.empty()) return counts;
  const double width =
      static_cast<double>(submits_.back() - submits_.front()) / static_cast<double>(bins);
  for (const int64_t submit : submits_) {
    const double offset = static_cast<double>(submit - submits_.front());
    const auto bin = width > 0 ? static_cast<size_t>(offset / width) : 0;
    ++counts[std::min(bin, bins - 1)];
  }
  return counts;
}

std::array<int64_t, 24> TraceStatistics::arrivals_by_hour() const {
  constexpr int64_t kNsPerHour = 3'600'000'000'000;
  std::array<int64_t, 24> counts{};
  for (const int64_t submit : submits_) ++counts[static_cast<size_t>(submit / kNsPerHour % 24)];
  return counts;
}

}  // namespace orrery
