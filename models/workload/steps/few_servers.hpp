// models/workload/steps/few_servers.hpp -- gangs on fewer nodes than their parameter servers need.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_table.hpp"

namespace orrery {

// On how many nodes a job lies is known only once it runs.
class FewServers {
 public:
  explicit FewServers(const JobTable& jobs) : jobs_{jobs} {}  // must outlive it

  void connect(JobNews& jobs);
  // The first such job, and how many there were; none if there was no job.
  std::optional<std::string> note() const;

 private:
  void phase_changed(JobId job, JobPhase after);
  int32_t nodes_of(const Job& job) const;

  const JobTable& jobs_;
  std::vector<uint64_t> counted_;  // by job: 1 + serial, so that a job that restarts counts once
  std::string first_;
  uint64_t found_ = 0;
};

}  // namespace orrery
