// models/workload/steps/few_servers.hpp -- gangs on fewer nodes than their parameter servers need.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_table.hpp"

namespace orrery {

// Finds jobs that run on fewer nodes than their parameter servers need. The check is made when a
// job runs, because the number of its nodes is not known before.
class FewServers {
 public:
  explicit FewServers(const JobTable& jobs) : jobs_{jobs} {}  // `jobs` must outlive this object

  void connect(JobNews& jobs);
  // Names the first job found, and gives the number of jobs found. Empty if no job was found.
  std::optional<std::string> note() const;

 private:
  void phase_changed(JobId job, JobPhase after);
  int32_t nodes_of(const Job& job) const;

  const JobTable& jobs_;
  // By job index: 1 + serial of the last job that was counted in found_; 0: none. A job keeps its
  // serial when it restarts, so it is not counted again.
  std::vector<uint64_t> counted_;
  std::string first_;
  uint64_t found_ = 0;
};

}  // namespace orrery
