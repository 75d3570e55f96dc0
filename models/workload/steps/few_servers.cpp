#include "models/workload/steps/few_servers.hpp"

#include <algorithm>

#include "models/workload/training/training_step_params.hpp"
#include "sim/core/check.hpp"

namespace orrery {

int32_t FewServers::nodes_of(const Job& job) const {
  std::vector<NodeId> nodes;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId id) {
    const Pod& pod = jobs_.pod(id);
    if (pod.state == PodState::Running && pod.grant.gpus != 0) nodes.push_back(pod.node);
  });
  std::ranges::sort(nodes);
  return static_cast<int32_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
}

void FewServers::connect(JobNews& jobs) {
  jobs.phase_changed.connect(
      [this](JobId job, JobPhase, JobPhase after) { phase_changed(job, after); });
}

void FewServers::phase_changed(JobId id, JobPhase after) {
  const Job& job = jobs_.job(id);
  if (after != JobPhase::Running || !job.spec.step) return;
  if (id.index >= counted_.size()) counted_.resize(id.index + size_t{1});
  if (counted_[id.index] == job.serial + 1) return;
  int32_t nodes = 0;
  for (const ExchangeParams& exchange : job.spec.step->exchanges) {
    const bool is_alone = group_ranks(exchange.among, job.spec.step->parallel, job.gpus) < 2;
    if (!exchange.servers || is_alone) continue;
    if (nodes == 0) nodes = nodes_of(job);
    if (nodes == 0) return;
    const int32_t there = nodes == 1 ? 0 : exchange.servers->count_on(nodes);
    if (there == exchange.servers->count) continue;
    ORRERY_MARK("workload.few_servers");
    counted_[id.index] = job.serial + 1;
    if (found_++ > 0) return;
    first_ = "job '" + job.spec.name + "' (" + std::to_string(job.serial) + ") has " +
             std::to_string(there) + " of the " + std::to_string(exchange.servers->count) +
             " parameter servers that training.step asks for: it runs on " + std::to_string(nodes) +
             (nodes == 1 ? " node" : " nodes");
    return;
  }
}

std::optional<std::string> FewServers::note() const {
  if (found_ == 0) return std::nullopt;
  if (found_ == 1) return first_;
  return first_ + "; " + std::to_string(found_) + " jobs in all have too few of them";
}

}  // namespace orrery
