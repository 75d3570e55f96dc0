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
  holding = {.serial = job.serial, .incomplete_gangs = job.gangs, .is_alike = true};
  const SpecId first = jobs_.pod(job.first_pod).spec;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    holding.is_alike = holding.is_alike && jobs_.pod(pod).spec == first;
  });
}

void GangHoldings::assign(PodId id, NodeId node) {
  const Pod& pod = jobs_.pod(id);
  if (id.index >= pods_.size()) pods_.resize(jobs_.pods_bound());
  if (pod.gang.index >= gangs_.size()) gangs_.resize(jobs_.gangs_bound());
  ORRERY_CHECK(!pods_[id.index].node.is_valid(), "a pod is assigned to one node at a time");
  pods_[id.index] = {.node = node, .spec = pod.spec, .job = pod.job, .gang = pod.gang};
  JobHolding& job = job_holdings_[pod.job.index];
  GangHolding& gang = gangs_[pod.gang.index];
  if (++gang.assigned == jobs_.gang(pod.gang).min_available) --job.incomplete_gangs;
  gang.gpu_milli += jobs_.request(id).resources[Resource::Gpu];
  ++job.pods;
}

void GangHoldings::unassign(PodId id) {
  PodHolding& pod = pods_[id.index];
  JobHolding& job = job_holdings_[pod.job.index];
  GangHolding& gang = gangs_[pod.gang.index];
  if (gang.assigned-- == jobs_.gang(pod.gang).min_available) ++job.incomplete_gangs;
  gang.gpu_milli -= jobs_.request(id).resources[Resource::Gpu];
  --job.pods;
  pod.node = {};
}

bool GangHoldings::is_partial(JobId id) const {
  const JobHolding& holding = job(id);
  return jobs_.is_live(id) && jobs_.job(id).serial == holding.serial && holding.pods > 0 &&
         holding.incomplete_gangs > 0 && jobs_.job(id).phase == JobPhase::Pending;
}

std::vector<PodNeed> GangHoldings::missing(JobId id) const {
  std::vector<PodNeed> needs;
  const Job& job = jobs_.job(id);
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    const GangId gang_id{job.first_gang.index + g};
    const Gang& gang = jobs_.gang(gang_id);
    const int32_t pods = gang.min_available - gangs_[gang_id.index].assigned;
    if (pods <= 0) continue;
    if (job_holdings_[id.index].is_alike) {
      add_need(needs, jobs_.pod(gang.first).spec, pods);
    } else {
      add_smallest(gang, pods, needs);
    }
  }
  return needs;
}

void GangHoldings::add_smallest(const Gang& gang, int32_t pods, std::vector<PodNeed>& needs) const {
  std::vector<SpecId> specs;
  JobTable::for_each_pod(gang.first, gang.pods, [&](PodId id) {
    if (!has_node(id)) specs.push_back(jobs_.pod(id).spec);
  });
  std::ranges::sort(specs, {}, [this](SpecId spec) {
    const Resources& r = jobs_.specs().request(spec).resources;
    return std::tuple{r[Resource::Gpu], r[Resource::Cpu], r[Resource::Memory], spec.index};
  });
  for (size_t i = 0; i < static_cast<size_t>(pods); ++i) add_need(needs, specs[i], 1);
}

}  // namespace orrery
