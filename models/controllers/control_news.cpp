#include "models/controllers/control_news.hpp"

#include <algorithm>

namespace orrery {

std::vector<UnplacedUnits::Unit> UnplacedUnits::sorted() {
  tidy();
  std::vector<Unit> units;
  for (const PodId unit : listed_) units.push_back({unit, since_[unit.index]});
  return units;
}

void UnplacedUnits::tidy() {
  std::erase_if(listed_, [this](PodId unit) { return since_[unit.index] == kPlaced; });
  std::ranges::sort(listed_);
  const auto repeated = std::ranges::unique(listed_);
  listed_.erase(repeated.begin(), repeated.end());
}

void ControlNews::connect(JobNews& jobs, PodNews& pods, NodeNews& nodes) {
  jobs.job_arrived.connect(*this, &ControlNews::job_arrived);
  jobs.phase_changed.connect(*this, &ControlNews::phase_changed);
  jobs.gang_failed.connect(*this, &ControlNews::gang_failed);
  jobs.job_over.connect(*this, &ControlNews::job_over);
  pods.no_node_found.connect([this](PodId unit) { unplaced_.add(unit, engine_.now()); });
  pods.pod_removed.connect([this](PodId pod) { unplaced_.forget(pod); });
  nodes.node_down.connect(*this, &ControlNews::node_down);
  nodes.node_up.connect(*this, &ControlNews::node_up);
}

void ControlNews::job_arrived(JobId job) {
  count_lone(job, 1);
  waits(job);
}

void ControlNews::phase_changed(JobId job, JobPhase before, JobPhase after) {
  if (before == JobPhase::Pending) no_longer_waits(job);
  if (after == JobPhase::Pending) waits(job);
}

void ControlNews::waits(JobId job) {
  waiting_.push_back({job, engine_.now()});
  changed.emit();
}

// Jobs that begin to wait are appended, so the vector is sorted by time. The job that stops waiting
// is often near the end, so the search begins there.
void ControlNews::no_longer_waits(JobId job) {
  const auto from_back =
      std::ranges::find(waiting_.rbegin(), waiting_.rend(), job, &WaitingJob::job);
  if (from_back != waiting_.rend()) waiting_.erase(std::next(from_back).base());
}

void ControlNews::gang_failed(JobId id) {
  const Job& job = jobs_.job(id);
  GangFailure failure{.at = engine_.now(), .job = id, .serial = job.serial, .nodes = {}};
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) {
    const NodeId node = jobs_.pod(pod).node;
    if (node.is_valid()) failure.nodes.push_back(node);
  });
  if (!std::ranges::is_sorted(failure.nodes)) std::ranges::sort(failure.nodes);
  const auto repeated = std::ranges::unique(failure.nodes);
  failure.nodes.erase(repeated.begin(), repeated.end());
  gang_failures_.add(std::move(failure));
  changed.emit();
}

// Either all pods of a job belong to gangs, or none.
void ControlNews::count_lone(JobId id, int64_t by) {
  const Job& job = jobs_.job(id);
  if (job.gangs > 0) return;
  lone_pods_ += by * job.pods;
  if (job.pods > 1) with_siblings_ += by * job.pods;
}

void ControlNews::node_down(NodeId node, NodeReason /*why*/) {
  node_changes_.add({engine_.now(), node, false});
  changed.emit();
}

void ControlNews::node_up(NodeId node) {
  node_changes_.add({engine_.now(), node, true});
  changed.emit();
}

}  // namespace orrery
