// models/workload/job/job_sources.hpp -- several sources of jobs as one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/workload/job/job_source.hpp"

namespace orrery {

// Merges jobs by submit time, then in the order in which their sources were added.
class JobSources {
 public:
  void add(std::unique_ptr<JobSource> source) { sources_.push_back(std::move(source)); }
  // The source with the next job; null if no source has a job.
  JobSource* next();
  bool is_empty() const;  // no more jobs
  // The first input error that next() found while streaming.
  const std::optional<std::string>& error() const { return error_; }
  std::vector<std::string> notes() const;  // see JobSource::notes()

 private:
  std::vector<std::unique_ptr<JobSource>> sources_;
  std::optional<std::string> error_;
};

}  // namespace orrery
