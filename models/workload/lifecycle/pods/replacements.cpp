#include "models/workload/lifecycle/pods/replacements.hpp"

#include <algorithm>

namespace orrery {

Replacements::Replacements(Engine& engine, JobTable& jobs, const JobControllerParams& params,
                           const JobAccounts& accounts, PodCreation& creation)
    : engine_{engine}, jobs_{jobs}, params_{params}, accounts_{accounts}, creation_{creation} {}

Duration Replacements::node_detection() const {
  return params_.failure_detection.value_or(expects_deletions_ ? Duration::max()
                                                               : kExplicitFailure);
}

// With an API and no failure_detection, a job learns of a dead node only when the node's pods are
// deleted. Until then, its ranks wait for the ranks on that node, but no longer than hang_timeout.
Duration Replacements::gang_patience() const {
  return expects_deletions_ ? std::min(node_detection(), hang_timeout()) : node_detection();
}

Duration Replacements::delay(JobId job) const {
  const Duration most = params_.restart_delay_max.value_or(params_.restart_delay);
  Duration delay = params_.restart_delay;
  for (int32_t k = 1; k < accounts_.of(job).restarts && delay < most; ++k) delay = delay * 2;
  return std::min(delay, most);
}

void Replacements::lost(const LostPod& pod) {
  if (pod.is_replaced && node_detection() < Duration::max()) {
    replace_after(node_detection() + delay(jobs_.pod(pod.life.pod).job), pod.life);
  }
  if (expects_deletions_) lost_[pod.life.pod] = pod;
}

std::optional<LostPod> Replacements::deleted(const DeadPod& life) {
  const auto found = lost_.find(life.pod);
  if (found == lost_.end() || found->second.life.generation != life.generation) return std::nullopt;
  const LostPod lost = found->second;
  lost_.erase(found);
  if (jobs_.pod(life.pod).generation != life.generation) return std::nullopt;
  return lost;
}

// One event replaces all pods whose delays end at the same instant.
void Replacements::replace_after(Duration delay, const DeadPod& life) {
  const Time when = engine_.now() + delay;
  std::vector<DeadPod>& due = due_[when];
  due.push_back(life);
  if (due.size() > 1) return;
  engine_.at(
      when, Label{"jobs.replace_pods"},
      [this, when] {
        const auto now_due = due_.extract(when);
        for (const DeadPod& ended : now_due.mapped()) replace(ended);
      },
      Phase::Control);
}

void Replacements::replace(const DeadPod& life) {
  const Pod& pod = jobs_.pod(life.pod);
  // No replacement is needed if the job is over or the pod was recreated already. In both cases the
  // pod's generation has changed. If the gang comes back as a whole, its restart recreates the pod.
  if (pod.generation != life.generation) return;
  if (comes_back_whole(jobs_.job(pod.job).phase)) return;
  creation_.want(life.pod);
  creation_.create_wanted(life.pod);
}

}  // namespace orrery
