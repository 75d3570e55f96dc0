// models/control_plane/base/job_namespaces.hpp -- gives each job's namespace a number, for
// ApiRequest::name_space.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "models/workload/job/job_table.hpp"
#include "sim/core/id.hpp"

namespace orrery {

// With `namespaces.per_job` a job has its own namespace; otherwise it uses the namespace of its
// team.
class JobNamespaces {
 public:
  static constexpr uint32_t kKubeSystem = 1, kDefault = 2;  // kDefault: jobs without a team

  // `jobs` must outlive the object.
  JobNamespaces(const JobTable& jobs, bool per_job) : jobs_{jobs}, per_job_{per_job} {}

  void job_arrived(JobId job) {
    if (job.index >= of_jobs_.size()) of_jobs_.resize(job.index + size_t{1});
    of_jobs_[job] = per_job_ ? next_++ : of_team(jobs_.job(job).spec.team);
  }
  uint32_t of(JobId job) const { return of_jobs_[job]; }  // the job must have arrived
  uint32_t of_team(const std::string& team) {
    if (team.empty()) return kDefault;
    const auto [found, is_new] = of_teams_.try_emplace(team, next_);
    next_ += is_new ? 1 : 0;
    return found->second;
  }

 private:
  const JobTable& jobs_;
  bool per_job_;
  uint32_t next_ = kDefault + 1;
  std::map<std::string, uint32_t> of_teams_;
  IdVector<JobId, uint32_t> of_jobs_;
};

}  // namespace orrery
