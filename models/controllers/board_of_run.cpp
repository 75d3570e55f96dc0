#include "models/controllers/board_of_run.hpp"

namespace orrery {

// Pod::job keeps the id of a job that is over, and a new job may reuse this id. So the pod must
// also be one of the pods of the job that has the id now.
bool Board::is_live(PodId id) const {
  if (id.index >= parts_.jobs.pods_bound()) return false;
  const JobId owner = parts_.jobs.pod(id).job;
  if (!is_live(owner)) return false;
  const Job& job = parts_.jobs.job(owner);
  return id >= job.first_pod && id.index - job.first_pod.index < static_cast<uint32_t>(job.pods);
}

JobView Board::job(JobId id) const {
  const Job& job = parts_.jobs.job(id);
  const JobSpec& spec = job.spec;
  JobView view{.id = id,
               .serial = job.serial,
               .name = spec.name,
               .user = spec.user,
               .team = spec.team,
               .phase = job.phase,
               .owner = spec.service ? WorkloadKind::ReplicaSet : spec.controller,
               .is_gang = job.gangs > 0,
               .is_service = spec.service != nullptr,
               .is_suspended = executor_.is_suspended(id),
               .has_checkpoints = ActionExecutor::saves_when_suspended(spec),
               .priority = job.priority,
               .gpus = job.gpus,
               .first_pod = job.first_pod,
               .pods = job.pods,
               .submitted = spec.submitted};
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    const PodState state = parts_.jobs.pod(pod).state;
    if (state == PodState::Bound || state == PodState::Running) ++view.pods_bound;
  });
  return view;
}

std::vector<JobId> Board::jobs() const {
  std::vector<JobId> jobs;
  parts_.jobs.for_each_job([&](JobId id) { jobs.push_back(id); });
  return jobs;
}

bool Board::is_held(JobId id) const {
  const Job& job = parts_.jobs.job(id);
  bool has_pods = false;
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    has_pods = has_pods || parts_.jobs.pod(pod).state != PodState::Absent;
  });
  return job.phase == JobPhase::Pending && !has_pods && !executor_.is_suspended(id);
}

// Omits pods with a reserved node, such as pods that wait in Permit.
std::vector<ControlBoard::Unplaced> Board::unplaced() const {
  std::vector<Unplaced> pods;
  for (const auto& [unit, since] : news_.unplaced().sorted()) {
    bool is_waiting = false;
    parts_.scheduler.for_each_unbound(unit, [&](PodId pod, bool has_node) {
      is_waiting = true;
      if (!has_node) pods.push_back({pod, since});
    });
    if (!is_waiting) news_.unplaced().forget(unit);
  }
  return pods;
}

bool Board::is_ready(NodeId node) const {
  return parts_.lifecycle != nullptr ? parts_.lifecycle->is_ready(node)
                                     : parts_.cluster.up().contains(node);
}

uint32_t Board::nodes_not_ready() const {
  return parts_.lifecycle != nullptr ? parts_.lifecycle->not_ready() : parts_.presence.nodes_down();
}

}  // namespace orrery
