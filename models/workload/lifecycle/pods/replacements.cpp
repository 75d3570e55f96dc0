#include "models/workload/lifecycle/pods/replacements.hpp"

#include <algorithm>

namespace orrery {

Replacements::Replacements(Engine& engine, JobTable& jobs, const JobControllerParams& params,
                           const JobAccounts& accounts, PodCreation& creation)
    : engine_{engine}, jobs_{jobs}, params_{params}, accounts_{accounts}, creation_{creation} {}

void Replacements::expect_news_of_nodes(size_t nodes) { lost_on_.resize(nodes); }

Duration Replacements::node_detection() const {
  return params_.failure_detection.value_or(hears_of_nodes() ? Duration::max() : kExplicitFailure);
}

// With news of nodes, ranks still give up on a silent peer after hang_timeout.
Duration Replacements::gang_patience() const {
  return hears_of_nodes() ? std::min(node_detection(), hang_timeout()) : node_detection();
}

Duration Replacements::delay(JobId job) const {
  const Duration most = params_.restart_delay_max.value_or(params_.restart_delay);
  Duration delay = params_.restart_delay;
  for (int32_t k = 1; k < accounts_.of(job).restarts && delay < most; ++k) delay = delay * 2;
  return std::min(delay, most);
}

void Replacements::lost(NodeId node, const LostPod& pod) {
  if (pod.is_replaced && node_detection() < Duration::max()) {
    replace_after(node_detection() + delay(jobs_.pod(pod.pod).job), pod);
  }
  if (hears_of_nodes()) lost_on_[node].push_back(pod);
}

// Pods that a later failure of the node took are not known to be lost yet.
std::vector<LostPod> Replacements::known_lost(NodeId node, Time lost_by) {
  std::vector<LostPod>& all = lost_on_[node];
  const auto later_ones =
      std::ranges::find_if(all, [&](const LostPod& pod) { return pod.at > lost_by; });
  std::vector<LostPod> lost(all.begin(), later_ones);
  all.erase(all.begin(), later_ones);
  return lost;
}

// One event serves all that are due in one instant.
void Replacements::replace_after(Duration delay, const LostPod& pod) {
  const Time when = engine_.now() + delay;
  std::vector<LostPod>& due = due_[when];
  due.push_back(pod);
  if (due.size() > 1) return;
  engine_.at(
      when, Label{"jobs.replace_pods"},
      [this, when] {
        const auto now_due = due_.extract(when);
        for (const LostPod& lost : now_due.mapped()) replace(lost);
      },
      Phase::Control);
}

void Replacements::replace(const LostPod& lost) {
  const Pod& pod = jobs_.pod(lost.pod);
  // Gone with its job, or back already because the gang was stopped meanwhile.
  if (pod.generation != lost.generation) return;
  if (comes_back_whole(jobs_.job(pod.job).phase)) return;
  creation_.want(lost.pod);
  creation_.create_wanted(lost.pod);
}

}  // namespace orrery
