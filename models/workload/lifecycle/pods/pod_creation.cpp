#include "models/workload/lifecycle/pods/pod_creation.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace orrery {

PodCreation::PodCreation(Engine& engine, JobTable& jobs, const JobControllerParams& params)
    : engine_{engine},
      jobs_{jobs},
      params_{params},
      queues_(kPodControllers, {params.concurrent_syncs, params.pods_per_sync_max}) {}

void PodCreation::admitted(JobId id) {
  if (jobs_.roles_bound() > units_.size()) units_.resize(jobs_.roles_bound());
  if (jobs_.pods_bound() > pods_.size()) pods_.resize(jobs_.pods_bound());
  const Job& job = jobs_.job(id);
  for (uint32_t r = 0; r < static_cast<uint32_t>(job.roles); ++r) {
    units_[{job.first_role.index + r}] = {};
  }
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) { pods_[pod] = {}; });
}

void PodCreation::want_all(JobId id) {
  const Job& job = jobs_.job(id);
  JobTable::for_each_pod(job.first_pod, job.pods, [&](PodId pod) { want(pod); });
  for (uint32_t r = 0; r < static_cast<uint32_t>(job.roles); ++r) {
    const RoleId role{job.first_role.index + r};
    if (jobs_.role(role).creator == role) queue(role);
  }
}

void PodCreation::want(PodId id) {
  const Pod& pod = jobs_.pod(id);
  PodToCreate& made = pods_[id];
  if (pod.state != PodState::Absent) return;
  if (made.is_wanted || made.is_on_its_way || made.is_retired) return;
  Unit& unit = units_[unit_of(id)];
  made.is_wanted = true;
  if (unit.wanted++ == 0) unit.create_from = pod.rank;
  unit.create_from = std::min(unit.create_from, pod.rank);
}

void PodCreation::create_wanted(PodId pod) { queue(unit_of(pod)); }

void PodCreation::gone(PodId pod) {
  Unit& unit = units_[unit_of(pod)];
  unit.ready_below = std::min(unit.ready_below, jobs_.pod(pod).rank);
}

bool PodCreation::has_wanted(JobId id) const {
  const Job& job = jobs_.job(id);
  for (uint32_t r = 0; r < static_cast<uint32_t>(job.roles); ++r) {
    if (units_[{job.first_role.index + r}].wanted > 0) return true;
  }
  return false;
}

bool PodCreation::is_ready(PodId id) const {
  const Pod& pod = jobs_.pod(id);
  const bool has_node = pod.state == PodState::Bound || pod.state == PodState::Running;
  if (pod.state == PodState::Done || pods_[id].is_retired) return true;
  return (has_node && pod.started <= engine_.now());
}

// How many of the wanted pods may be created now. An ordered StatefulSet may create its next pod
// once all pods before it are ready: their containers run, or they are done or retired.
int32_t PodCreation::creatable(RoleId id) {
  const Job& job = jobs_.job(jobs_.role(id).job);
  Unit& unit = units_[id];
  if (unit.wanted == 0 || jobs_.controller(id) != WorkloadKind::OrderedStatefulSet)
    return unit.wanted;
  const auto pod_at = [&](int32_t rank) {
    return PodId{job.first_pod.index + static_cast<uint32_t>(rank)};
  };
  const auto is_wanted = [&](PodId pod) { return unit_of(pod) == id && pods_[pod].is_wanted; };
  while (!is_wanted(pod_at(unit.create_from))) ++unit.create_from;
  for (; unit.ready_below < unit.create_from; ++unit.ready_below) {
    const PodId before = pod_at(unit.ready_below);
    if (unit_of(before) == id && !is_ready(before)) return 0;
  }
  return 1;
}

void PodCreation::queue(RoleId id) {
  Unit& unit = units_[id];
  if (unit.is_queued || creatable(id) == 0) return;
  unit.is_queued = true;
  const WorkloadKind kind = jobs_.controller(id);
  queues_[controller_of(kind)].add(
      {id, jobs_.job(jobs_.role(id).job).serial, kind == WorkloadKind::ParallelStatefulSet});
  if (!is_creating_) plan_round();
}

void PodCreation::plan_round() {
  is_creating_ = true;
  engine_.after(
      {}, Label{"jobs.create_pods"}, [this] { create_round(); }, Phase::Control);
}

void PodCreation::create_round() {
  const auto wanted = [this](const PodCreationQueue::Ticket& ticket) {
    const JobId job = jobs_.role(ticket.unit).job;
    if (!jobs_.is_live(job) || jobs_.job(job).serial != ticket.serial) return 0;
    const int32_t count = creatable(ticket.unit);
    if (count == 0) units_[ticket.unit].is_queued = false;
    return count;
  };
  // With an API server the responses set the pace: a worker's next batch waits for all responses to
  // its last batch.
  const Duration interval = api_ == nullptr ? params_.pod_creation_interval : Duration{};
  bool has_more = false;
  do {
    has_more = false;
    for (uint16_t c = 0; c < queues_.size(); ++c) {
      queues_[c].round(wanted, [this, c](const PodCreationQueue::Ticket& ticket, int32_t count,
                                         uint32_t worker) {
        return create_batch(ticket.unit, count, {c, static_cast<uint16_t>(worker)});
      });
      has_more = has_more || queues_[c].has_work();
    }
  } while (has_more && interval == Duration{});
  is_creating_ = has_more;
  if (!is_creating_) return;
  engine_.after(
      interval, Label{"jobs.create_pods"}, [this] { create_round(); }, Phase::Control);
}

// Returns the number of responses to wait for.
int32_t PodCreation::create_batch(RoleId id, int32_t count, Creator creator) {
  const Job& job = jobs_.job(jobs_.role(id).job);
  Unit& unit = units_[id];
  batch_.clear();
  for (; count > 0; ++unit.create_from) {
    const PodId pod{job.first_pod.index + static_cast<uint32_t>(unit.create_from)};
    if (!pods_[pod].is_wanted || unit_of(pod) != id) continue;
    pods_[pod].is_wanted = false;
    batch_.push_back(pod);
    --count;
  }
  unit.wanted -= static_cast<int32_t>(batch_.size());
  const bool is_ordered = jobs_.controller(id) == WorkloadKind::OrderedStatefulSet;
  if (unit.wanted == 0 || is_ordered) unit.is_queued = false;
  if (api_ == nullptr) {
    for (const PodId pod : batch_) appear(pod);
    created.emit(batch_);
    return 0;
  }
  // A copy: replies without delay may change the batch.
  const std::vector<PodId> pods{batch_};
  for (const PodId pod : pods) create(pod, creator);
  return static_cast<int32_t>(pods.size());
}

void PodCreation::create(PodId id, Creator creator) {
  pods_[id].is_on_its_way = true;
  const uint64_t generation = jobs_.pod(id).generation;
  api_->create(id, [this, id, generation, creator](PodApi::Creation news) {
    replied(id, generation, creator, news);
  });
}

// Answered: the worker continues once its whole batch is answered. Known: the pod becomes Pending,
// unless forget() was called for the pod meanwhile.
void PodCreation::replied(PodId id, uint64_t generation, Creator creator, PodApi::Creation news) {
  if (news == PodApi::Creation::Answered) {
    if (!queues_[creator.controller].answered(creator.worker) || is_creating_) return;
    is_creating_ = true;
    // This event runs in Phase::Model. So without API delays, all batches are created before
    // schedulers run in Phase::Control.
    engine_.after({}, Label{"jobs.create_pods"}, [this] { create_round(); });
    return;
  }
  if (jobs_.pod(id).generation != generation) return;
  pods_[id].is_on_its_way = false;
  if (news == PodApi::Creation::Refused) {  // the controller requeues the pod
    ORRERY_MARK("jobs.pod_not_created");
    want(id);
    return create_wanted(id);
  }
  appear(id);
  created.emit({&id, 1});
}

void PodCreation::appear(PodId id) {
  Pod& pod = jobs_.pod(id);
  pod.state = PodState::Pending;
  pod.created = engine_.now();
  pod.bound = pod.started = kNever;
  pod.attempts = 0;
  ++pod.generation;
  if (pod.gang.is_valid()) {
    ++jobs_.gang(pod.gang).created;
    ++jobs_.role(pod.role).created;
  }
  appeared.emit(id);
}

void PodCreation::forget(PodId id) {
  PodToCreate& pod = pods_[id];
  if (api_ != nullptr && (pod.is_wanted || pod.is_on_its_way)) api_->removed(id, {}, {});
  if (pod.is_wanted) --units_[unit_of(id)].wanted;
  pod.is_wanted = pod.is_on_its_way = false;
  ++jobs_.pod(id).generation;
}

}  // namespace orrery
