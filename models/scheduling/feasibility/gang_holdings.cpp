#include "models/scheduling/feasibility/gang_holdings.hpp"

#include <algorithm>
#include <tuple>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

void add_need(std::vector<PodNeed>& needs, SpecId spec, int64_t pods) {
  const auto same = std::ranges::find(needs, spec, &PodNeed::spec);
  if (same == needs.end()) {
    needs.push_back({spec, pods});
  } else {
    same->pods += pods;
  }
}

}  // namespace

bool GangHoldings::knows(JobId id) const {
  return id.index < job_holdings_.size() && job(id).serial == jobs_.job(id).serial;
}

void GangHoldings::begin(JobId id) {
  const Job& job = jobs_.job(id);
  if (id.index >= job_holdings_.size()) job_holdings_.resize(jobs_.jobs_bound());
  JobHolding& holding = job_holdings_[id.index];
  ORRERY_CHECK(holding.pods == 0, "a job gives up all its pods before its id is used again");
  holding = {.serial = job.serial, .is_alike = true};
  if (gangs_.size() < jobs_.gangs_bound()) gangs_.resize(jobs_.gangs_bound());
  if (in_roles_.size() < jobs_.roles_bound()) in_roles_.resize(jobs_.roles_bound());
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    holding.is_alike &= !jobs_.gang({job.first_gang.index + g}).has_role_minimums;
  }
  const SpecId first = jobs_.pod(job.first_pod).spec;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    holding.is_alike = holding.is_alike && jobs_.pod(pod).spec == first;
  });
}

void GangHoldings::assign(PodId id, NodeId node) {
  const Pod& pod = jobs_.pod(id);
  if (id.index >= pods_.size()) pods_.resize(jobs_.pods_bound());
  ORRERY_CHECK(!pods_[id.index].node.is_valid(), "a pod is assigned to one node at a time");
  pods_[id.index] = {.node = node, .spec = pod.spec, .job = pod.job, .gang = pod.gang};
  JobHolding& job = job_holdings_[pod.job.index];
  GangHolding& gang = gangs_[pod.gang.index];
  ++gang.assigned;
  ++in_roles_[pod.role.index];
  gang.gpu_milli += jobs_.request(id).resources[Resource::Gpu];
  ++job.pods;
}

void GangHoldings::unassign(PodId id) {
  PodHolding& pod = pods_[id.index];
  JobHolding& job = job_holdings_[pod.job.index];
  GangHolding& gang = gangs_[pod.gang.index];
  --gang.assigned;
  --in_roles_[jobs_.pod(id).role.index];
  gang.gpu_milli -= jobs_.request(id).resources[Resource::Gpu];
  --job.pods;
  pod.node = {};
}

bool GangHoldings::is_partial(JobId id) const {
  const JobHolding& holding = job(id);
  const Job& job = jobs_.job(id);
  if (!jobs_.is_live(id) || job.serial != holding.serial || holding.pods == 0) return false;
  if (job.phase != JobPhase::Pending) return false;
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    const GangId gang{job.first_gang.index + g};
    if (gangs_[gang.index].assigned < needed(gang)) return true;
  }
  return false;
}

int32_t GangHoldings::role_pods_missing(const Gang& gang) const {
  return jobs_.role_pods_missing(gang, [this](RoleId role) { return in_roles_[role.index]; });
}

// min_available counts any pods of the gang; the minimum of a role counts only pods of this role.
int32_t GangHoldings::needed(GangId id) const {
  const Gang& gang = jobs_.gang(id);
  const int32_t of_roles = role_pods_missing(gang);
  const int32_t with_roles = of_roles > 0 ? gangs_[id.index].assigned + of_roles : 0;
  return std::max(gang.min_available, with_roles);
}

std::vector<PodNeed> GangHoldings::missing(JobId id) const {
  std::vector<PodNeed> needs;
  const Job& job = jobs_.job(id);
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    const GangId gang_id{job.first_gang.index + g};
    const Gang& gang = jobs_.gang(gang_id);
    const int32_t pods = needed(gang_id) - gangs_[gang_id.index].assigned;
    if (pods <= 0) continue;
    if (job_holdings_[id.index].is_alike) {
      add_need(needs, jobs_.pod(gang.first).spec, pods);
    } else {
      add_unlike(gang, pods, needs);
    }
  }
  return needs;
}

void GangHoldings::add_unlike(const Gang& gang, int32_t pods, std::vector<PodNeed>& needs) const {
  std::vector<SpecId> specs;
  for (uint32_t r = 0; r < static_cast<uint32_t>(gang.roles); ++r) {
    const RoleId id{gang.first_role.index + r};
    const Role& role = jobs_.role(id);
    const int32_t held = in_roles_[id.index], of_role = std::max(role.min_available - held, 0);
    const SpecId spec = jobs_.pod(role.first).spec;
    if (of_role > 0) add_need(needs, spec, of_role);
    pods -= of_role;
    specs.insert(specs.end(), static_cast<size_t>(role.pods - held - of_role), spec);
  }
  std::ranges::sort(specs, {}, [this](SpecId spec) {
    const Resources& r = jobs_.specs().request(spec).resources;
    return std::tuple{r[Resource::Gpu], r[Resource::Cpu], r[Resource::Memory], spec.index};
  });
  for (size_t i = 0; i < static_cast<size_t>(pods); ++i) add_need(needs, specs[i], 1);
}

}  // namespace orrery
