#include "models/workload/lifecycle/pods/pod_lives.hpp"

#include <utility>

#include "sim/core/check.hpp"

namespace orrery {

PodLives::PodLives(Sim sim, ClusterState& cluster, JobTable& jobs,
                   const JobControllerParams& params, JobAccounts& accounts, PodNews& news)
    : engine_{sim.engine},
      cluster_{cluster},
      jobs_{jobs},
      accounts_{accounts},
      news_{news},
      creation_{sim.engine, jobs, params},
      starts_{sim, jobs, params.pod_start},
      on_nodes_{cluster.nodes()} {
  creation_.appeared.connect([this](PodId pod) {
    JobAccount& account = accounts_.of(jobs_.pod(pod).job);
    if (!account.first_created) account.first_created = engine_.now();
    ++accounts_.counters().pods_created;
  });
  // A replacement may be created before the deletion of the ended pod is stored. The two pods have
  // the same PodId, so the scheduler must observe the end before it observes the replacement.
  creation_.created.connect([this](std::span<const PodId> pods) {
    for (const PodId pod : pods) {
      if (ends_[pod].node.is_valid()) observe_end(pod);
    }
    news_.pods_created.emit(pods);
  });
  // An ordered StatefulSet creates its next pod when the previous pod is ready.
  starts_.start_known.connect([this](PodId id) {
    const Pod& pod = jobs_.pod(id);
    if (jobs_.controller(id) != WorkloadKind::OrderedStatefulSet) return;
    engine_.at(pod.started, Label{"jobs.pod_ready"}, [this, id, generation = pod.generation] {
      if (jobs_.pod(id).generation == generation) creation_.create_wanted(id);
    });
  });
}

void PodLives::use(PodApi& api) {
  api_ = &api;
  creation_.use(api);
  // A hook of one stage suffices, because PodApi::start() simulates all stages.
  starts_.use(StartStage::Images, [this](PodId pod, Duration, PodStarts::Ready ready) {
    api_->start(pod, jobs_.pod(pod).node, std::move(ready));
  });
}

void PodLives::admitted(JobId id) {
  if (id.index >= counts_.size()) {
    counts_.resize(jobs_.jobs_bound());
    unobserved_of_job_.resize(jobs_.jobs_bound());
  }
  if (jobs_.pods_bound() > 0) on_nodes_.grow(jobs_.pods_bound());
  if (jobs_.pods_bound() > ends_.size()) ends_.resize(jobs_.pods_bound());
  counts_[id] = {};
  creation_.admitted(id);
  starts_.admitted(id);
}

void PodLives::bound(PodId id) {
  Pod& pod = jobs_.pod(id);
  ORRERY_CHECK(pod.state == PodState::Pending, "only a pending pod is bound");
  ORRERY_CHECK(pod.node.is_valid() && cluster_.up().contains(pod.node),
               "pods go to nodes that are up");
  pod.state = PodState::Bound;
  pod.bound = engine_.now();
  accounts_.bound(id);
  on_nodes_.add(pod.node, id);
  ++counts_[pod.job].bound;
  if (pod.gang.is_valid()) {
    ++jobs_.gang(pod.gang).bound;
    ++jobs_.role(pod.role).bound;
  }
}

void PodLives::runs(PodId id) {
  Pod& pod = jobs_.pod(id);
  accounts_.book_held(id, engine_.now());
  pod.state = PodState::Running;
  ++counts_[pod.job].running;
}

void PodLives::stops(PodId id) {
  Pod& pod = jobs_.pod(id);
  accounts_.book_held(id, engine_.now());
  if (pod.state != PodState::Running) return;
  pod.state = PodState::Bound;
  --counts_[pod.job].running;
}

int32_t PodLives::exit_code_of(PodEnd why) {
  switch (why) {
    case PodEnd::Completed:
      return 0;
    case PodEnd::NodeFailed:
    case PodEnd::RunEnded:
    case PodEnd::RankDied:
    case PodEnd::Exited:
      return kNoExitCode;
    case PodEnd::GangStopped:
    case PodEnd::JobFailed:
    case PodEnd::ScaledDown:
    case PodEnd::Preempted:
    case PodEnd::CleanedUp:
    case PodEnd::Evicted:
      return kTerminated;
  }
  return kNoExitCode;
}

void PodLives::remove(PodId id, PodEnd why, const Ending& ending) {
  Pod& pod = jobs_.pod(id);
  if (pod.state == PodState::Absent || pod.state == PodState::Done) return;
  accounts_.book_held(id, engine_.now());
  leaving.emit(id, why);
  const bool had_node = pod.state != PodState::Pending;
  const NodeId node = had_node ? pod.node : NodeId{};
  // The scheduler observes a dead node at once, so the end of a pod there needs no report.
  const bool is_news = had_node && api_ != nullptr && cluster_.up().contains(node);
  const PodApi::Observed observed = is_news ? report_end(id) : PodApi::Observed{};
  if (had_node) {
    if (!is_news) cluster_.give_back(node, jobs_.request(id), pod.grant);
    on_nodes_.remove(node, id);
    accounts_.leaves(id);
    --counts_[pod.job].bound;
    if (pod.state == PodState::Running) --counts_[pod.job].running;
  }
  if (pod.gang.is_valid()) {
    --jobs_.gang(pod.gang).created;
    --jobs_.role(pod.role).created;
    if (had_node) --jobs_.gang(pod.gang).bound;
    if (had_node) --jobs_.role(pod.role).bound;
  }
  if (why == PodEnd::Completed) {
    ++counts_[pod.job].done;
  } else {
    creation_.gone(id);
  }
  accounts_.write_pod_row(id, why, ending, engine_.now());
  news_.pod_removed.emit(id);
  if (had_node && !is_news) news_.end_observed.emit(id);
  pod.state = why == PodEnd::Completed ? PodState::Done : PodState::Absent;
  pod.node = {};
  pod.grant = {};
  pod.takes_part = pod.is_terminating = false;
  if (api_ != nullptr) api_->removed(id, node, observed);
}

PodApi::Observed PodLives::report_end(PodId id) {
  const Pod& pod = jobs_.pod(id);
  ends_[id] = {.node = pod.node, .grant = pod.grant, .number = ++last_end_};
  ++unobserved_.pods;
  unobserved_.gpu_milli += jobs_.request(id).resources[Resource::Gpu];
  ++unobserved_of_job_[pod.job];
  return [this, id, number = last_end_] {
    if (ends_[id].number == number && ends_[id].node.is_valid()) observe_end(id);
  };
}

void PodLives::observe_end(PodId id) {
  const End end = std::exchange(ends_[id], {});
  const ClusterState::Request& request = jobs_.request(id);
  const JobId job = jobs_.pod(id).job;
  cluster_.give_back(end.node, request, end.grant);
  --unobserved_.pods;
  unobserved_.gpu_milli -= request.resources[Resource::Gpu];
  news_.end_observed.emit(id);
  if (--unobserved_of_job_[job] == 0 && !jobs_.is_live(job)) jobs_.recycle(job);
}

void PodLives::job_removed(JobId id) {
  jobs_.remove(id);
  if (id.index >= unobserved_of_job_.size() || unobserved_of_job_[id] == 0) jobs_.recycle(id);
}

void PodLives::remove_all(JobId id, PodEnd why) {
  const Job& job = jobs_.job(id);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) { remove(pod, why); });
}

}  // namespace orrery
