#include "models/workload/job/job_table.hpp"

#include "sim/core/check.hpp"

namespace orrery {
namespace {

struct Size {
  int32_t pods = 0, gpus = 0, roles = 0;
  Resources demand;
};

Size size_of(const JobSpec& spec) {
  ORRERY_CHECK(!spec.gangs.empty(), "a job has at least one gang");
  Size size;
  for (const GangSpec& gang : spec.gangs) {
    for (const RoleSpec& role : gang.roles) {
      ORRERY_CHECK(role.pods > 0, "a role has at least one pod");
      ORRERY_CHECK(role.min_available <= role.pods, "a role needs no more pods than it has");
      ++size.roles;
      size.pods += role.pods;
      size.gpus += role.pods * role.spec.gpus;
      const Resources each = role.spec.requests();
      for (size_t i = 0; i < kResources; ++i) {
        int64_t& sum = size.demand.amount[i];
        sum = saturated_sum(sum, saturated_product(each.amount[i], role.pods));
      }
    }
  }
  return size;
}

Gang make_gang(const JobSpec& spec, size_t index, JobId job, PodId first, int32_t pods) {
  const int32_t min = spec.gangs[index].min_available;
  Gang gang{};
  gang.job = job;
  gang.first = first;
  gang.pods = pods;
  gang.min_available = min == 0 ? pods : min;
  gang.min_resources = spec.gangs[index].min_resources;
  gang.schedule_timeout = spec.schedule_timeout.value_or(Duration::max());
  return gang;
}

// The role's minimum, or 0 if the gang's minimum implies it. `spare` pods of the gang may be
// missing, so each role has at least `pods - spare` pods in any case. Example: a gang needs 5 of
// its 6 pods. A role of 3 pods then has at least 2, so its minimum has an effect only if it is 3.
int32_t own_minimum(const RoleSpec& role, int32_t spare) {
  return role.min_available > role.pods - spare ? role.min_available : 0;
}

// Sets up a job that has no pods, roles or gangs yet. Reuses the memory of the last job with this
// id.
void begin_job(Job& job, const JobSpec& spec, uint64_t serial, const Size& size) {
  job.serial = serial;
  job.spec = spec;
  job.phase = JobPhase::Pending;
  job.first_gang = {}, job.first_role = {}, job.first_pod = {};
  job.gangs = job.roles = job.pods = job.counted_pods = 0;
  job.is_elastic = false;
  job.gpus = size.gpus;
  job.demand = size.demand;
  job.priority = spec.gangs[0].roles[0].spec.priority;
}

}  // namespace

template <class T>
uint32_t JobTable::take_range(FreeRanges& free, std::vector<T>& all, int32_t length) {
  const auto found = free.find(length);
  if (found == free.end() || found->second.empty()) {
    const auto first = static_cast<uint32_t>(all.size());
    all.resize(all.size() + static_cast<size_t>(length));
    return first;
  }
  const uint32_t first = found->second.back();
  found->second.pop_back();
  return first;
}

JobId JobTable::take_id() {
  ++live_jobs_;
  if (free_jobs_.empty()) {
    jobs_.emplace_back();
    is_live_.push_back(true);
    return {static_cast<uint32_t>(jobs_.size() - 1)};
  }
  const JobId id{free_jobs_.back()};
  free_jobs_.pop_back();
  is_live_[id.index] = true;
  return id;
}

JobId JobTable::add_counted(const JobSpec& spec) {
  const Size size = size_of(spec);
  const JobId id = take_id();
  begin_job(jobs_[id.index], spec, next_serial_++, size);
  jobs_[id.index].counted_pods = size.pods;
  return id;
}

JobId JobTable::add(const JobSpec& spec) {
  const Size size = size_of(spec);
  const JobId id = take_id();
  Job& job = jobs_[id.index];
  begin_job(job, spec, next_serial_++, size);
  job.roles = size.roles;
  job.first_role = {take_range(free_roles_, roles_, job.roles)};
  job.first_pod = {take_range(free_pods_, pods_, size.pods)};
  if (spec.kind != JobKind::Pods) {
    job.gangs = static_cast<int32_t>(spec.gangs.size());
    job.first_gang = {take_range(free_gangs_, gangs_, job.gangs)};
  }
  RoleId role_id = job.first_role, shared_creator;
  for (uint32_t g = 0; g < spec.gangs.size(); ++g) {
    const GangId gang_id = job.gangs > 0 ? GangId{job.first_gang.index + g} : GangId{};
    const PodId gang_first{job.first_pod.index + static_cast<uint32_t>(job.pods)};
    const int32_t before = job.pods;
    const RoleId gang_first_role = role_id;
    for (uint32_t r = 0; r < spec.gangs[g].roles.size(); ++r, ++role_id.index) {
      const RoleSpec& role = spec.gangs[g].roles[r];
      if (!role.controller && !shared_creator.is_valid()) shared_creator = role_id;
      roles_[role_id.index] = {.job = id,
                               .first = {job.first_pod.index + static_cast<uint32_t>(job.pods)},
                               .pods = role.pods,
                               .gang = g,
                               .role = r,
                               .creator = role.controller ? role_id : shared_creator};
      add_pods(id, role, role_id, gang_id);
    }
    if (!gang_id.is_valid()) continue;
    Gang& gang = gangs_[gang_id.index];
    gang = make_gang(spec, g, id, gang_first, job.pods - before);
    job.is_elastic |= gang.min_available < gang.pods;
    gang.first_role = gang_first_role;
    gang.roles = static_cast<int32_t>(spec.gangs[g].roles.size());
    for (RoleId r = gang_first_role; r < role_id; ++r.index) {
      Role& role = roles_[r.index];
      role.min_available =
          own_minimum(spec.gangs[g].roles[role.role], gang.pods - gang.min_available);
      gang.has_role_minimums |= role.min_available > 0;
    }
  }
  return id;
}

void JobTable::add_pods(JobId id, const RoleSpec& role, RoleId role_id, GangId gang) {
  Job& job = jobs_[id.index];
  const SpecId spec = specs_.intern(role.spec);
  for (int32_t i = 0; i < role.pods; ++i) {
    Pod& pod = pods_[job.first_pod.index + static_cast<uint32_t>(job.pods)];
    const uint64_t generation = pod.generation + 1;
    pod = Pod{};
    pod.job = id;
    pod.gang = gang;
    pod.role = role_id;
    pod.spec = spec;
    pod.rank = job.pods++;
    pod.generation = generation;
  }
}

bool JobTable::has_quorum(JobId id) const {
  const Job& job = jobs_[id.index];
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    const Gang& gang = gangs_[job.first_gang.index + g];
    if (gang.bound < gang.min_available) return false;
    const auto bound = [this](RoleId role) { return roles_[role.index].bound; };
    if (role_pods_missing(gang, bound) > 0) return false;
  }
  return true;
}

JobTable::Members JobTable::taking_part(JobId id) const {
  Members members;
  for_each_pod(jobs_[id.index].first_pod, jobs_[id.index].pods, [&](PodId pod) {
    if (!pods_[pod.index].takes_part) return;
    ++members.pods;
    members.gpus += spec(pod).gpus;
  });
  return members;
}

void JobTable::remove(JobId id) {
  ORRERY_CHECK(is_live_[id.index], "a job ends exactly once");
  is_live_[id.index] = false;
  --live_jobs_;
}

void JobTable::recycle(JobId id) {
  ORRERY_CHECK(!is_live_[id.index], "only ids of a job that is over may be reused");
  const Job& job = jobs_[id.index];
  if (job.pods > 0) free_pods_[job.pods].push_back(job.first_pod.index);
  if (job.roles > 0) free_roles_[job.roles].push_back(job.first_role.index);
  if (job.gangs > 0) free_gangs_[job.gangs].push_back(job.first_gang.index);
  free_jobs_.push_back(id.index);
}

}  // namespace orrery
