// models/workload/traces/trace_statistics.hpp -- statistics of the jobs of a trace.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "models/workload/traces/formats/trace_job.hpp"

namespace orrery {

// Stores at most five 8-byte numbers of each job. The texts of jobs must outlive the statistics.
class TraceStatistics {
 public:
  static constexpr std::array<double, 7> kQuantiles{0, 0.25, 0.5, 0.75, 0.9, 0.99, 1};

  struct Distribution {
    int64_t count = 0;
    double mean = 0;
    std::array<double, kQuantiles.size()> at{};  // the nearest-rank quantiles
  };
  struct StatusShare {
    int64_t jobs = 0;
    double gpu_seconds = 0;
    double core_seconds = 0;
  };

  void add(const TraceJob& job);

  int64_t jobs() const { return static_cast<int64_t>(submits_.size()); }
  int64_t gpu_jobs() const { return gpu_jobs_; }
  size_t users() const { return users_.size(); }
  size_t groups() const { return groups_.size(); }
  size_t queues() const { return queues_.size(); }
  size_t applications() const { return applications_.size(); }
  double gpu_seconds() const;   // of all jobs; a quarter of a GPU counts as 0.25
  double core_seconds() const;  // of jobs with recorded cores
  Time first_submit() const;
  Time last_submit() const;
  int64_t with_deadline() const { return with_deadline_; }
  // Number of jobs whose row names a preceding job (TraceJob::after).
  int64_t chained() const { return chained_; }
  Time first_end() const { return first_end_; }  // the earliest recorded end of a job
  // Number of jobs submitted before first_end().
  int64_t before_first_end() const;
  // The latest end of a job, computed as if no job had waited.
  Time last_end() const { return last_end_; }
  const std::array<StatusShare, enum_names(TraceStatus{}).size()>& statuses() const {
    return statuses_;
  }
  Distribution durations() const;  // seconds
  Distribution waits() const;      // seconds, where recorded
  Distribution requested() const;  // seconds, where recorded
  Distribution gpus() const;       // GPUs of a job; only jobs with GPUs
  Distribution cores() const;      // cores of a job; only jobs without GPUs
  Distribution gaps() const;       // seconds from one submission to the next
  // Divides the time from the first submission to the last into `bins` equal parts. Returns the
  // number of submissions in each part.
  std::vector<int64_t> arrivals(size_t bins) const;
  std::array<int64_t, 24> arrivals_by_hour() const;

 private:
  std::vector<int64_t> submits_, durations_, waits_, requested_, gpu_milli_, cpu_milli_;
  std::set<std::string_view> users_, groups_, queues_, applications_;
  std::array<StatusShare, enum_names(TraceStatus{}).size()> statuses_{};
  int64_t gpu_jobs_ = 0, with_deadline_ = 0, chained_ = 0;
  Time first_end_ = Time::max();
  Time last_end_;
};

}  // namespace orrery
