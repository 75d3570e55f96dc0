// models/workload/steps/few_servers.hpp -- gangs on fewer nodes than their parameter servers need.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/workload/job/job_news.hpp"
#include "models/workload/job/job_table.hpp"

namespace orrery {

// The number of nodes of a job is known only once it runs.
class FewServers {
 public:
  explicit FewServers(const JobTable& jobs) : jobs_{jobs} {}  // the table must outlive it

  void connect(JobNews& jobs);
  // Names the first such job and counts them; empty if there was none.
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
