#include "models/workload/job/job_table.hpp"

#include "sim/core/check.hpp"

namespace orrery {
namespace {

struct Size {
  int32_t pods = 0, gpus = 0;
  Resources demand;
};

Size size_of(const JobRequest& request) {
  ORRERY_CHECK(!request.gangs.empty(), "a job has at least one gang");
  Size size;
  for (const auto& gang : request.gangs) {
    for (const auto& role : gang.roles) {
      ORRERY_CHECK(role.pods > 0, "a role has at least one pod");
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

Gang make_gang(const JobRequest& request, size_t index, JobId job, PodId first, int32_t pods) {
  const int32_t min = request.gangs[index].min_available;
  Gang gang{};
  gang.job = job;
  gang.first = first;
  gang.pods = pods;
  gang.min_available = min == 0 ? pods : min;
  gang.min_resources = request.gangs[index].min_resources;
  gang.schedule_timeout = request.schedule_timeout.value_or(Duration::max());
  return gang;
}

// Without pods and gangs.
Job job_of(const JobRequest& request, uint64_t serial, const Size& size) {
  return {.serial = serial,
          .external_id = request.external_id,
          .name = request.name,
          .user = request.user,
          .team = request.team,
          .application = request.application,
          .kind = request.kind,
          .controller = request.controller,
          .phase = JobPhase::Pending,
          .first_gang = {},
          .first_pod = {},
          .gpus = size.gpus,
          .demand = size.demand,
          .priority = request.gangs[0].roles[0].spec.priority,
          .submitted = request.submitted,
          .work = request.work,
          .checkpoint_interval = request.checkpoint_interval,
          .checkpoint_write = request.checkpoint_write,
          .restore = request.restore,
          .init = request.init,
          .init_per_gpu = request.init_per_gpu,
          .requested = request.requested,
          .communicator = request.communicator,
          .checkpoint = request.checkpoint,
          .step = request.step,
          .dataset = request.dataset,
          .service = request.service,
          .restart_scope = request.restart_scope,
          .restarts_max = request.restarts_max};
}

}  // namespace

uint32_t JobTable::take_range(std::map<int32_t, std::vector<uint32_t>>& free, int32_t length,
                              size_t bound) {
  const auto found = free.find(length);
  if (found == free.end() || found->second.empty()) return static_cast<uint32_t>(bound);
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

JobId JobTable::add_counted(const JobRequest& request) {
  const Size size = size_of(request);
  const JobId id = take_id();
  jobs_[id.index] = job_of(request, next_serial_++, size);
  jobs_[id.index].counted_pods = size.pods;
  return id;
}

JobId JobTable::add(const JobRequest& request) {
  const Size size = size_of(request);
  const int32_t pods = size.pods;
  const JobId id = take_id();
  const bool is_gang = request.kind != JobKind::Pods;
  const auto gang_count = is_gang ? static_cast<int32_t>(request.gangs.size()) : 0;
  const uint32_t first_pod = take_range(free_pods_, pods, pods_.size());
  if (first_pod == pods_.size()) pods_.resize(pods_.size() + static_cast<size_t>(pods));
  uint32_t first_gang = UINT32_MAX;
  if (is_gang) {
    first_gang = take_range(free_gangs_, gang_count, gangs_.size());
    if (first_gang == gangs_.size()) gangs_.resize(gangs_.size() + static_cast<size_t>(gang_count));
  }
  uint32_t next_pod = first_pod;
  int32_t rank = 0;
  bool is_elastic = false;
  for (size_t g = 0; g < request.gangs.size(); ++g) {
    const GangId gang_id = is_gang ? GangId{first_gang + static_cast<uint32_t>(g)} : GangId{};
    const uint32_t gang_first = next_pod;
    for (const auto& role : request.gangs[g].roles) {
      const SpecId spec = specs_.intern(role.spec);
      for (int32_t i = 0; i < role.pods; ++i) {
        const uint64_t generation = pods_[next_pod].generation + 1;
        pods_[next_pod] = Pod{};
        pods_[next_pod].job = id;
        pods_[next_pod].gang = gang_id;
        pods_[next_pod].spec = spec;
        pods_[next_pod].rank = rank++;
        pods_[next_pod].generation = generation;
        ++next_pod;
      }
    }
    if (!is_gang) continue;
    const auto members = static_cast<int32_t>(next_pod - gang_first);
    gangs_[gang_id.index] = make_gang(request, g, id, {gang_first}, members);
    is_elastic = is_elastic || gangs_[gang_id.index].min_available < members;
  }
  Job& job = jobs_[id.index];
  job = job_of(request, next_serial_++, size);
  job.first_gang = {first_gang};
  job.gangs = gang_count;
  job.is_elastic = is_elastic;
  job.first_pod = {first_pod};
  job.pods = pods;
  return id;
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
  const Job& job = jobs_[id.index];
  if (job.pods > 0) free_pods_[job.pods].push_back(job.first_pod.index);
  if (job.gangs > 0) free_gangs_[job.gangs].push_back(job.first_gang.index);
  is_live_[id.index] = false;
  free_jobs_.push_back(id.index);
  --live_jobs_;
}

}  // namespace orrery
