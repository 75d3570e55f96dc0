// models/workload/job/job_table.hpp -- owns the jobs, gangs and pods that are alive; ids are
// recycled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "models/workload/job/job.hpp"
#include "models/workload/job/pod_spec.hpp"

namespace orrery {

class JobTable {
 public:
  JobId add(const JobSpec& spec);  // pods start Absent
  // A counted job has no roles, pods or gangs in the table. It takes resources of CountedPool.
  JobId add_counted(const JobSpec& spec);
  void remove(JobId id);  // call once the job is over and recorded
  // After remove(): frees the ids of the job, its gangs, roles and pods for new jobs; the caller
  // must not use these ids afterwards.
  void recycle(JobId id);

  const Job& job(JobId id) const { return jobs_[id.index]; }
  const Gang& gang(GangId id) const { return gangs_[id.index]; }
  const Pod& pod(PodId id) const { return pods_[id.index]; }
  const Role& role(RoleId id) const { return roles_[id.index]; }
  const RoleSpec& role_spec(RoleId id) const {
    const Role& role = roles_[id.index];
    return jobs_[role.job.index].spec.gangs[role.gang].roles[role.role];
  }
  const RoleSpec& role_spec(PodId id) const { return role_spec(pods_[id.index].role); }
  // The kind of controller that creates the pods of the role: the role's own, else the job's.
  WorkloadKind controller(RoleId id) const {
    return role_spec(id).controller.value_or(jobs_[roles_[id.index].job.index].spec.controller);
  }
  WorkloadKind controller(PodId id) const { return controller(pods_[id.index].role); }
  Job& job(JobId id) { return jobs_[id.index]; }
  Gang& gang(GangId id) { return gangs_[id.index]; }
  Pod& pod(PodId id) { return pods_[id.index]; }
  Role& role(RoleId id) { return roles_[id.index]; }
  const PodSpec& spec(PodId id) const { return specs_[pods_[id.index].spec]; }
  const ClusterState::Request& request(PodId id) const {
    return specs_.request(pods_[id.index].spec);
  }
  const SpecTable& specs() const { return specs_; }
  struct Members {
    int32_t pods = 0, gpus = 0;
  };
  // Whether each gang of the job, and each role with a minimum, has min_available pods with nodes.
  bool has_quorum(JobId id) const;
  // Total number of pods that the gang's roles lack to reach their own minimums. `pods_of(role)`
  // must return the number of pods that the role has.
  template <class F>
  int32_t role_pods_missing(const Gang& gang, F&& pods_of) const {
    int32_t missing = 0;
    if (!gang.has_role_minimums) return missing;
    for (uint32_t r = 0; r < static_cast<uint32_t>(gang.roles); ++r) {
      const RoleId id{gang.first_role.index + r};
      const int32_t least = roles_[id.index].min_available;
      if (least > 0) missing += std::max(least - pods_of(id), 0);
    }
    return missing;
  }
  Members taking_part(JobId id) const;  // pods and GPUs in the present run of the job's gangs

  // Sizes for arrays indexed by id: all ids so far are smaller.
  size_t jobs_bound() const { return jobs_.size(); }
  size_t gangs_bound() const { return gangs_.size(); }
  size_t roles_bound() const { return roles_.size(); }
  size_t pods_bound() const { return pods_.size(); }
  size_t live_jobs() const { return live_jobs_; }
  uint64_t submitted() const { return next_serial_; }
  bool is_live(JobId id) const { return is_live_[id.index]; }

  template <class F>
  void for_each_job(F&& f) const {  // live jobs, in id order
    for (uint32_t i = 0; i < jobs_.size(); ++i) {
      if (is_live_[i]) f(JobId{i});
    }
  }
  template <class F>
  static void for_each_pod(PodId first, int32_t count, F&& f) {
    for (uint32_t i = 0; i < static_cast<uint32_t>(count); ++i) f(PodId{first.index + i});
  }

 private:
  // Free ranges of ids, by length. A free range is reused only as a whole.
  using FreeRanges = std::map<int32_t, std::vector<uint32_t>>;
  JobId take_id();
  template <class T>
  static uint32_t take_range(FreeRanges& free, std::vector<T>& all, int32_t length);
  void add_pods(JobId job, const RoleSpec& role, RoleId role_id, GangId gang);

  std::vector<Job> jobs_;
  std::vector<bool> is_live_;
  std::vector<Gang> gangs_;
  std::vector<Role> roles_;
  std::vector<Pod> pods_;
  SpecTable specs_;
  std::vector<uint32_t> free_jobs_;
  FreeRanges free_gangs_, free_roles_, free_pods_;
  size_t live_jobs_ = 0;
  uint64_t next_serial_ = 0;
};

}  // namespace orrery
