#include "models/scheduling/feasibility/too_large.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/core/check.hpp"

namespace orrery {
namespace {

struct PodsOfKind {  // pods of one spec in one gang
  int64_t pods = 0;
  int64_t of_roles = 0;  // pods that roles need for their own minimums
  void add(const Role& role) {
    pods += role.pods;
    of_roles += role.min_available;
  }
};

std::string amounts(int64_t gpus, int64_t cpu_milli, int64_t memory) {
  return std::to_string(gpus) + " GPU, " + std::to_string(cpu_milli) + "m CPU, " +
         std::to_string(memory >> 20) + " MiB";
}

}  // namespace

TooLargeJobs::TooLargeJobs(const ClusterState& cluster, const JobTable& jobs)
    : cluster_{cluster}, jobs_{jobs}, empty_{cluster, jobs.specs(), true} {}

int64_t TooLargeJobs::slots(SpecId spec, int64_t pods) {
  if (spec.index >= slots_.size()) slots_.resize(spec.index + size_t{1});
  Slots& known = slots_[spec.index];
  if (known.found < pods && !known.are_all) {
    known.found = empty_.slots_up_to(spec, pods);
    known.are_all = known.found < pods;
  }
  return known.found;
}

void TooLargeJobs::job_arrived(JobId id) {
  const Job& job = jobs_.job(id);
  const auto is_too_large = [&](SpecId spec, int64_t pods) {
    const int64_t room = slots(spec, pods);
    if (room >= pods) return false;
    ORRERY_MARK("scheduling.job_too_large");
    if (jobs_found_++ == 0) first_ = describe(job, spec, pods, room);
    return true;
  };
  if (job.gangs == 0) {
    SpecId last;
    bool is_found = false;
    JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
      const SpecId spec = std::exchange(last, jobs_.pod(pod).spec);
      is_found = is_found || (spec != last && is_too_large(last, 1));
    });
    return;
  }
  for (uint32_t g = 0; g < static_cast<uint32_t>(job.gangs); ++g) {
    const Gang& gang = jobs_.gang({job.first_gang.index + g});
    std::map<SpecId, PodsOfKind> pods;
    for (uint32_t r = 0; r < static_cast<uint32_t>(gang.roles); ++r) {
      const Role& role = jobs_.role({gang.first_role.index + r});
      pods[jobs_.pod(role.first).spec].add(role);
    }
    for (const auto& [spec, kind] : pods) {
      // At least this many pods of the kind are needed to reach the gang's min_available, even if
      // all pods of other kinds have nodes.
      const int64_t of_gang = kind.pods - (gang.pods - gang.min_available);
      const int64_t needed = std::max(of_gang, kind.of_roles);
      if (needed > 0 && is_too_large(spec, needed)) return;
    }
  }
}

std::string TooLargeJobs::describe(const Job& job, SpecId id, int64_t pods, int64_t room) const {
  int64_t gpus = 0, cpu = 0, memory = 0;
  for (uint32_t n = 0; n < cluster_.nodes(); ++n) {
    gpus = std::max(gpus, cluster_.allocatable({n}, Resource::Gpu) / kMilli);
    cpu = std::max(cpu, cluster_.allocatable({n}, Resource::Cpu));
    memory = std::max(memory, cluster_.allocatable({n}, Resource::Memory));
  }
  const PodSpec& spec = jobs_.specs()[id];
  const Resources& asked = jobs_.specs().request(id).resources;
  return "job '" + job.spec.name + "' (" + std::to_string(job.serial) +
         ") can never start: it needs " + std::to_string(pods) + " pods of " +
         amounts(spec.gpus, asked[Resource::Cpu], asked[Resource::Memory]) + " each, and " +
         std::to_string(room) + " fit on the empty cluster, where the most that a node has is " +
         amounts(gpus, cpu, memory);
}

}  // namespace orrery
